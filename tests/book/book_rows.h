// book_rows.h: the rows of book_answers.yaml, and how each of them is answered by this project.
//
// A row is answered by figures: numbers produced by the simulator (what takes time) or by the calculator and
// the counts of schedules/ (everything else). Each figure is held against the row's `expected` or one of its
// `des` values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "schedules/model.h"
#include "topology/chip.h"

namespace stepsim::book {

struct Row {
  std::string id;
  int chapter = 0;
  std::string kind;
  std::string question;
  std::string hardware;                  // "v5p", may be empty
  std::map<std::string, double> inputs;  // the numeric ones
  std::map<std::string, double> des;     // event-level targets
  double expected = 0;                   // recomputed
  double printed = 0;                    // in the book
  double tolerance = 0;                  // relative

  /// The input of that name; std::out_of_range names the row.
  [[nodiscard]] double operator[](const std::string& input) const;
};

/// All rows of the file, in its order; read once.
const std::vector<Row>& rows();
const Row& row(const std::string& id);

/// The catalog's chip for the book's name of a generation ("v4p", "v5p", "v5e", "v6e"), and the same without
/// launch overhead, padding and imperfect efficiencies: what the book counts with.
ChipSpec catalog_chip(const std::string& generation);
ChipSpec ideal_chip(const std::string& generation);
double bf16_peak(const std::string& generation);
double hbm_rate(const std::string& generation);
/// C / W with W both directions of an axis.
double alpha(const std::string& generation);

/// The gated transformer of a row with inputs L, D, F, V and, unless every query head of 128 has its own
/// keys, N, K, H.
ModelSpec model_of(const Row& row);

/// near: within the tolerance of the target; at_least / at_most: the target is a bound.
enum class Relation { near, at_least, at_most };

struct Figure {
  std::string label;  // "whole shards", may be empty
  double value = 0;
  std::string target = "expected";  // or "printed", or a key of des
  Relation relation = Relation::near;
  double factor = 1;        // of the target, where the exact law differs from the book's by a known factor
  std::string reason = "";  // why, when factor is not 1
};

enum class Way { simulated, calculated };

struct Answer {
  Way way = Way::calculated;
  std::function<std::vector<Figure>(const Row&)> produce;
};

using Answers = std::map<std::string, Answer>;
void add_calculated(Answers& answers);
void add_simulated(Answers& answers);
void add_gpu_networks(Answers& answers);
/// Rows that are not answered, with the reason.
std::map<std::string, std::string> left_out();

}  // namespace stepsim::book
