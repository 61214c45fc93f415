#include "tools/compare_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/format.h"
#include "tools/run_report.h"
#include "tools/table.h"

namespace stepsim {

namespace {

constexpr std::size_t text_width = 98;

bool any(const CompareResult& result, bool (*has)(const ComparedRow&)) {
  return std::any_of(result.rows.begin(), result.rows.end(), has);
}
bool has_pipeline(const ComparedRow& row) {
  return row.pipeline.has_value();
}
bool has_limit(const ComparedRow& row) {
  return row.memory_limit.has_value();
}
bool has_more_runs(const ComparedRow& row) {
  return row.played > 1;
}

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

std::string gib(Bytes bytes) {
  return significant(static_cast<double>(bytes) / 0x1p30, 4);
}

Cell name_cell(const ComparedRow& row) {
  return {row.name, row.best ? Paint::green : Paint::plain};
}

/// A table whose rows start with what was run.
class RowTable {
 public:
  RowTable(const CompareSubject& subject, const CompareResult& result, std::vector<Column> columns)
      : limits_(any(result, has_limit)), table_(titles(subject, limits_, std::move(columns))) {}

  void row(const ComparedRow& row, std::vector<Cell> cells) {
    std::vector<Cell> all{name_cell(row), std::to_string(row.microbatches), std::to_string(row.stages_per_rank)};
    if (limits_) all.emplace_back(row.memory_limit ? fmt::format("{:g}", *row.memory_limit) : "");
    all.insert(all.end(), cells.begin(), cells.end());
    table_.row(std::move(all));
  }
  [[nodiscard]] std::string text(bool colour) const { return table_.text(colour); }

 private:
  static std::vector<Column> titles(const CompareSubject& subject, bool limits, std::vector<Column> columns) {
    std::vector<Column> all{{subject.scenario == nullptr ? "scenario" : "schedule", Align::left}, {"m"}, {"v"}};
    if (limits) all.push_back({"limit"});
    all.insert(all.end(), columns.begin(), columns.end());
    return all;
  }

  bool limits_;
  Table table_;
};

/// Step time, and where a pipeline stands still.
std::string time_table(const CompareSubject& subject, const CompareResult& result, const TimeUnit& unit, bool colour) {
  const bool pipelines = any(result, has_pipeline);
  std::vector<Column> columns{{"step " + unit.name}};
  if (pipelines) {
    for (const char* title : {"wall %", "rank %", "warm-up", "steady", "drain"}) columns.push_back({title});
    columns.push_back({"sends " + unit.name});
  }
  columns.push_back({"MFU %"});
  RowTable table(subject, result, columns);
  for (const ComparedRow& row : result.rows) {
    if (!row.fits()) continue;
    std::vector<Cell> cells{Cell(in_unit(row.step_time, unit, 3), Paint::bold)};
    if (row.pipeline) {
      const PipelineFigures& one = *row.pipeline;
      for (const double share : {one.wall_bubble, one.rank_bubble, one.warm_up, one.steady, one.drain}) {
        cells.emplace_back(percent(share));
      }
      cells.emplace_back(in_unit(one.exposed_sends, unit, 3));
    } else if (pipelines) {
      cells.resize(cells.size() + 6);
    }
    cells.emplace_back(percent(row.mfu));
    table.row(row, cells);
  }
  return table.text(colour);
}

/// What it costs in memory, and which rows are worth theirs.
std::string memory_table(const CompareSubject& subject, const CompareResult& result, bool colour) {
  const bool pipelines = any(result, has_pipeline);
  const bool more_runs = any(result, has_more_runs);
  std::vector<Column> columns{{"tok/s/chip"}, {"act. GiB"}};
  if (pipelines) columns.push_back({"in mb"});
  columns.push_back({"peak GiB"});
  if (pipelines) columns.push_back({"copies"});
  if (more_runs) columns.push_back({"runs"});
  columns.push_back({"fastest within", Align::left});
  RowTable table(subject, result, columns);
  for (const ComparedRow& row : result.rows) {
    if (!row.fits()) continue;
    std::vector<Cell> cells{significant(row.tokens_per_s_per_chip, 4), gib(row.activations)};
    if (pipelines) cells.emplace_back(row.pipeline ? significant(row.pipeline->activation_microbatches, 3) : "");
    cells.emplace_back(gib(row.peak));
    if (pipelines) cells.emplace_back(row.pipeline ? std::to_string(row.pipeline->copies) : "");
    if (more_runs) cells.emplace_back(std::to_string(row.played));
    if (row.fastest_within) {
      cells.emplace_back(gib(row.peak) + " GiB" + (row.best ? ", best" : ""), row.best ? Paint::green : Paint::cyan);
    }
    table.row(row, cells);
  }
  return table.text(colour);
}

std::string too_large(const CompareSubject& subject, const CompareResult& result, const TimeUnit& unit, bool colour) {
  if (!any(result, [](const ComparedRow& row) { return row.ran() && !row.fits(); })) return "";
  RowTable table(subject, result, {{"step " + unit.name}, {"peak GiB"}, {"of GiB"}, {"most of it", Align::left}});
  for (const ComparedRow& row : result.rows) {
    if (!row.ran() || row.fits()) continue;
    table.row(row, {in_unit(row.step_time, unit, 3), Cell(gib(row.peak), Paint::red), gib(row.budget), row.dominates});
  }
  return "\n" + paint(colour, Paint::bold, "does not fit memory") + "\n" + table.text(colour);
}

std::string not_run(const CompareSubject& subject, const CompareResult& result, bool colour) {
  if (!any(result, [](const ComparedRow& row) { return !row.ran(); })) return "";
  RowTable table(subject, result, {{"why", Align::left}});
  for (const ComparedRow& row : result.rows) {
    if (!row.ran()) table.row(row, {fmt::format("{}", fmt::join(row.reasons, "; "))});
  }
  return "\n" + paint(colour, Paint::bold, "not run") + "\n" + table.text(colour);
}

std::string mesh_text(const Strategy& strategy) {
  std::string text;
  for (const MeshAxis& axis : strategy.mesh)
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name, axis.extent);
  return text;
}

std::string above(const CompareSubject& subject, const CompareResult& result, bool colour) {
  if (subject.scenario == nullptr) return "";
  const Scenario& scenario = *subject.scenario;
  std::string text = paint(colour, Paint::bold, scenario.name) + "\n";
  text += fmt::format("  {} chips: {}; {}\n", grouped(result.ground.cluster->chips()),
                      cluster_kind_text(*result.ground.cluster), mesh_text(scenario.strategy));
  if (subject.fair) {
    text += "  of each schedule the fastest of its microbatches, stages a rank and limits for planners\n";
    text += "  " +
            wrapped(fmt::format("held equal: {}", fmt::join(held_equal(scenario, result), "; ")), text_width - 2, 2) +
            "\n";
  }
  return text + "\n";
}

}  // namespace

std::vector<std::string> held_equal(const Scenario& scenario, const CompareResult& result) {
  return {fmt::format("{} chips and their mesh", grouped(result.ground.cluster->chips())),
          fmt::format("{} layers of {}", scenario.model.layers, scenario.model.name),
          fmt::format("{} tokens a step", grouped(scenario.strategy.batch_tokens)),
          fmt::format("at most {} GiB of memory a chip", result.rows.empty() ? "0" : gib(result.rows.front().budget))};
}

std::string compare_report(const CompareSubject& subject, const CompareResult& result, bool colour) {
  Picoseconds longest;
  for (const ComparedRow& row : result.rows) longest = std::max(longest, row.step_time);
  const TimeUnit unit = time_unit(longest);
  std::string text = above(subject, result, colour);
  if (any(result, [](const ComparedRow& row) { return row.fits(); })) {
    text += time_table(subject, result, unit, colour) + "\n" + memory_table(subject, result, colour);
  }
  text += too_large(subject, result, unit, colour) + not_run(subject, result, colour);
  if (any(result, has_pipeline)) {
    text += "\n" +
            paint(colour, Paint::dim,
                  wrapped("wall: 1 - compute / step, mean over chips; rank: the zero-bubble papers', (cost - work) "
                          "/ cost of the longest rank; warm-up, steady, drain: waiting for the pipeline, shares "
                          "of the step in %; sends: exposed, mean over chips; act.: activations of the "
                          "fullest rank; in mb: the most by the order, in microbatches.",
                          text_width, 0)) +
            "\n";
  }
  for (const std::string& note : result.notes) text += paint(colour, Paint::dim, wrapped(note, text_width, 2)) + "\n";
  return text;
}

}  // namespace stepsim
