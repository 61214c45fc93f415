// measured.h: tables of measured collectives, and what the systems of the catalog say to them.
//
// Columns by name, as published tables are collected: id, hw, topology, n_ranks, n_nodes, collective, algo_proto,
// size_bytes, time_us, algbw_GBps, busbw_GBps; others are kept out of the way. A row names its hardware in words; the
// catalog's systems list such words as aliases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/collective_run.h"

namespace stepsim {

struct MeasuredRow {
  std::string id;
  std::string hardware;
  std::string topology;
  std::string collective;
  std::string algorithm;  // in words: "Ring", "NVLS", "no SHARP", empty
  int ranks = 0;          // 0: not given
  int nodes = 0;
  Bytes bytes = 0;                // 0: not given
  std::optional<double> seconds;  // measured, or from a bandwidth and the size
  double bus_rate = 0;            // bytes/s, 0: not given
};

/// RFC 4180 with a header line. InputError naming the line for what is no table of this kind.
std::vector<MeasuredRow> read_measured(const std::string& text, const std::string& file);

struct Comparison {
  MeasuredRow row;
  std::string system;
  std::string skipped;  // the reason; empty: played
  double measured = 0;  // seconds
  double predicted = 0;
  double error = 0;  // predicted / measured - 1
  std::string method;
};

/// What a measured size is taken for when a table only says "large": bus bandwidth is flat there.
inline constexpr Bytes large_message = Bytes{8} << 30;

/// Plays every row that a system of the catalog has an alias for. only: a system, or empty for all of them.
std::vector<Comparison> compare_with_measured(const std::vector<MeasuredRow>& rows, const std::string& catalog,
                                              const std::string& only = "");

struct ComparisonSummary {
  std::size_t rows = 0;
  std::size_t run = 0;
  double mean = 0;  // of absolute errors
  double median = 0;
  double worst = 0;
};
ComparisonSummary summarize(const std::vector<Comparison>& rows);

}  // namespace stepsim
