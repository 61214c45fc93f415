// collective_run.h: one collective by itself on a scenario's cluster, in all groups along some mesh axes at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenarios/lone_play.h"
#include "scenarios/run.h"
#include "scenarios/send_matrix.h"

namespace stepsim {

struct CollectiveChoice {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<std::string> axes;  // mesh axes of a group; empty: all chips are one group
  std::string algorithm;  // by name; "auto": the fastest; empty: "torus" and its kin on a torus, else auto; msccl:FILE
  std::string protocol = {};  // of the system, by name; empty: the fastest, or what the file of an algorithm says
  SendMatrix sends = {};      // ragged all-to-all; no members: all alike
};

struct CollectiveResult {
  Bytes bytes = 0;            // as CollectiveRun::play was given it
  Picoseconds time;           // from the launch until the last member of the last group has left
  double algorithm_rate = 0;  // bytes / time
  double bus_rate = 0;        // times the share of the array that must pass a member's links (nccl-tests)
  double bound = 0;           // seconds: closed form on these links, a lower bound
  std::string fullest;        // kind of link that carries most of what it could
  double fullest_share = 0;   // of that
  std::uint64_t transfers = 0;
  std::string method;  // CollectiveMethod::name
  using Other = MethodTime;
  std::vector<Other> others;  // that were tried, fastest first
};

/// Plays one size after another; groups, classes and routes are worked out once per size.
class CollectiveRun {
 public:
  /// InputError on an unknown axis, algorithm or protocol, or a kind that it does not do.
  CollectiveRun(const Scenario& scenario, const CollectiveChoice& choice);

  /// bytes: what nccl-tests call the size. The array that is gathered, scattered or reduced; of an all-to-all, what one
  /// member sends, its own part included (ragged: shares are of it, sizes stay as they are). The fastest of the methods that were asked for.
  [[nodiscard]] CollectiveResult play(Bytes bytes) const;

  [[nodiscard]] std::uint32_t members() const { return methods_->members(); }
  [[nodiscard]] std::uint32_t groups() const { return cluster_->chips() / members(); }
  [[nodiscard]] std::uint32_t chips() const { return cluster_->chips(); }
  [[nodiscard]] const std::vector<CollectiveMethod>& methods() const { return methods_->all(); }
  /// "x (ring of 16), y (ring of 16)"
  [[nodiscard]] std::string shape_text() const { return methods_->shape_text(); }

 private:
  CollectiveChoice choice_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<CollectiveMethods> methods_;
};

/// What busbw is of algbw: 2 (n-1)/n for an all-reduce, (n-1)/n for gathers, scatters and all-to-all, 1 for the others.
/// Source: NVIDIA nccl-tests, PERFORMANCE.md.
double bus_factor(CollectiveKind kind, std::uint32_t members);

}  // namespace stepsim
