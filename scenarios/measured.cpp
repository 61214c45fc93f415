#include "scenarios/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "scenarios/catalog.h"
#include "scenarios/csv.h"
#include "scenarios/system.h"

namespace stepsim {
namespace {

/// One record by the names of its columns.
class Row {
 public:
  Row(const std::map<std::string, std::size_t>& columns, const CsvRecord& record, std::string file)
      : columns_(columns), record_(record), file_(std::move(file)) {
    if (record.fields.size() == columns.size()) return;
    fail("", fmt::format("expected {} fields as in the header line, found {}", columns.size(), record.fields.size()));
  }

  [[nodiscard]] std::string text(const std::string& name) const {
    const auto column = columns_.find(name);
    return column == columns_.end() ? "" : record_.fields[column->second];
  }

  [[nodiscard]] double number(const std::string& name) const {
    const std::string value = text(name);
    if (value.empty()) return 0;
    const char* end = value.data() + value.size();
    double number = 0;
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (rest == end && error == std::errc() && std::isfinite(number) && number >= 0) return number;
    fail(name, "expected a number of 0 or more, or nothing, found '" + value + "'");
  }

  [[nodiscard]] std::int64_t count(const std::string& name, std::int64_t most) const {
    const double value = number(name);
    if (value == std::floor(value) && value <= static_cast<double>(most)) return static_cast<std::int64_t>(value);
    fail(name, fmt::format("expected a whole number up to {}, found '{}'", most, text(name)));
  }

 private:
  [[noreturn]] void fail(const std::string& column, const std::string& what) const {
    throw InputError({Problem{{file_, record_.line, 1}, column, what}});
  }

  const std::map<std::string, std::size_t>& columns_;
  const CsvRecord& record_;
  std::string file_;
};

CollectiveKind kind_named(const std::string& name, bool& known) {
  static const std::map<std::string, CollectiveKind> kinds{{"all_reduce", CollectiveKind::all_reduce},
                                                           {"all_gather", CollectiveKind::all_gather},
                                                           {"reduce_scatter", CollectiveKind::reduce_scatter},
                                                           {"all_to_all", CollectiveKind::all_to_all},
                                                           {"alltoall", CollectiveKind::all_to_all},
                                                           {"broadcast", CollectiveKind::broadcast},
                                                           {"reduce", CollectiveKind::reduce},
                                                           {"gather", CollectiveKind::gather},
                                                           {"scatter", CollectiveKind::scatter},
                                                           {"send_recv", CollectiveKind::point_to_point},
                                                           {"sendrecv", CollectiveKind::point_to_point}};
  const auto found = kinds.find(name);
  known = found != kinds.end();
  return known ? found->second : CollectiveKind::all_reduce;
}

MeasuredRow measured_row(const Row& row) {
  MeasuredRow one;
  one.id = row.text("id");
  one.hardware = row.text("hw");
  one.topology = row.text("topology");
  one.collective = row.text("collective");
  one.algorithm = row.text("algo_proto");
  one.ranks = static_cast<int>(row.count("n_ranks", INT32_MAX));
  one.nodes = static_cast<int>(row.count("n_nodes", INT32_MAX));
  one.bytes = row.count("size_bytes", Bytes{1} << 60);
  one.bus_rate = row.number("busbw_GBps") * 1e9;
  const double algorithm_rate = row.number("algbw_GBps") * 1e9;
  const double microseconds = row.number("time_us");
  if (microseconds > 0) {
    one.seconds = microseconds * 1e-6;
  } else if (algorithm_rate > 0 && one.bytes > 0) {
    one.seconds = static_cast<double>(one.bytes) / algorithm_rate;
  }
  return one;
}

/// A system and what its alias changes for a row.
struct Found {
  std::string system;
  Alias alias;
  int gpus = 0;  // of a node, where the system has nodes
};

/// All aliases of the catalog; a system that does not load is reported when it is asked for, not here.
std::vector<Found> all_aliases(const std::string& catalog, const std::string& only) {
  std::vector<Found> all;
  for (const std::string& name : catalog_names(catalog, "systems")) {
    if (!only.empty() && name != only) continue;
    const Scenario entry = system_entry(name, catalog);
    const int gpus = entry.cluster.kind == "nodes" ? entry.cluster.nodes.gpus : 0;
    for (const Alias& alias : entry.aliases) all.push_back({name, alias, gpus});
  }
  return all;
}

/// The alias that says most: with the topology as well ("hw / topology") before the hardware alone, for this collective
/// before any.
const Found* find(const std::vector<Found>& all, const MeasuredRow& row) {
  const Found* best = nullptr;
  int most = 0;
  for (const Found& one : all) {
    const bool whole = one.alias.name == row.hardware + " / " + row.topology;
    if (!whole && one.alias.name != row.hardware) continue;
    if (!one.alias.op.empty() && one.alias.op != row.collective) continue;
    const int says = (whole ? 3 : 1) + (one.alias.op.empty() ? 0 : 1);
    if (says > most) best = &one;
    most = std::max(most, says);
  }
  return best;
}

/// nodes and GPUs as the row has them.
std::vector<std::string> overrides(const Found& found, const MeasuredRow& row) {
  std::vector<std::string> set = found.alias.set;
  if (found.gpus < 1) return set;
  int nodes = row.nodes;
  if (nodes == 0 && row.ranks > found.gpus) nodes = row.ranks / found.gpus;
  if (nodes > 32) {
    set.push_back(fmt::format("cluster.nodes=[{}, 32]", nodes / 32));
  } else if (nodes > 0) {
    set.push_back(fmt::format("cluster.nodes=[{}]", nodes));
  }
  if (nodes <= 1 && row.ranks > 0 && row.ranks < found.gpus) set.push_back(fmt::format("cluster.gpus={}", row.ranks));
  return set;
}

std::string algorithm_named(const std::string& words, std::string& skipped) {
  if (words.empty()) return "auto";
  if (words.starts_with("Ring") || words == "no SHARP") return "ring";
  if (words.find("NVLS") != std::string::npos) return "in-network";
  if (words.starts_with("Tree")) return "tree";
  skipped = "no algorithm is meant by '" + words + "'";
  return "auto";
}

void play(Comparison& one, const Found& found, const std::string& catalog) {
  bool known = false;
  CollectiveChoice choice;
  choice.kind = kind_named(one.row.collective, known);
  if (!known) {
    one.skipped = "'" + one.row.collective + "' is no collective";
    return;
  }
  choice.algorithm = algorithm_named(one.row.algorithm, one.skipped);
  if (!found.alias.algorithm.empty()) choice.algorithm = found.alias.algorithm;
  if (!one.skipped.empty()) return;
  if (!found.alias.group.empty()) choice.axes = {found.alias.group};
  const Bytes bytes = one.row.bytes > 0 ? one.row.bytes : large_message;
  const Scenario scenario = load_system(found.system, overrides(found, one.row), catalog);
  const CollectiveRun run(scenario, choice);
  const double factor = bus_factor(choice.kind, run.members());
  if (one.row.seconds) {
    one.measured = *one.row.seconds;
  } else if (one.row.bus_rate > 0) {
    one.measured = static_cast<double>(bytes) * factor / one.row.bus_rate;
  } else {
    one.skipped = "neither a time nor a bandwidth is given";
    return;
  }
  if (one.row.ranks > 0 && static_cast<std::uint32_t>(one.row.ranks) != run.members()) {
    one.skipped = fmt::format("{} ranks are measured, the system has groups of {}", one.row.ranks, run.members());
    return;
  }
  const CollectiveResult result = run.play(bytes);
  one.predicted = to_seconds(result.time);
  one.error = one.predicted / one.measured - 1;
  one.method = result.method;
}

}  // namespace

std::vector<MeasuredRow> read_measured(const std::string& text, const std::string& file) {
  const std::vector<CsvRecord> records = read_csv(text, file);
  if (records.empty()) throw InputError({Problem{{file, 1, 1}, "", "the file is empty: expected a header line"}});
  const SourcePlace place{file, records[0].line, 1};
  std::map<std::string, std::size_t> columns;
  for (const std::string& name : records[0].fields) {
    if (!columns.emplace(name, columns.size()).second)
      throw InputError({Problem{place, name, "two columns have this name"}});
  }
  for (const std::string name : {"id", "hw", "collective"}) {
    if (columns.contains(name)) continue;
    throw InputError({Problem{place, name,
                              "missing column: expected id, hw, topology, n_ranks, n_nodes, collective, "
                              "algo_proto, size_bytes, time_us, algbw_GBps, busbw_GBps"}});
  }
  std::vector<MeasuredRow> rows;
  for (std::size_t i = 1; i < records.size(); ++i) rows.push_back(measured_row(Row(columns, records[i], file)));
  return rows;
}

std::vector<Comparison> compare_with_measured(const std::vector<MeasuredRow>& rows, const std::string& catalog,
                                              const std::string& only) {
  const std::vector<Found> aliases = all_aliases(catalog, only);
  std::vector<Comparison> all;
  for (const MeasuredRow& row : rows) {
    Comparison one;
    one.row = row;
    const Found* found = find(aliases, row);
    if (found == nullptr && !only.empty()) continue;
    if (found == nullptr) {
      one.skipped = "no system of the catalog is called '" + row.hardware + "'";
    } else {
      one.system = found->system;
      try {
        play(one, *found, catalog);
      } catch (const InputError& error) {
        one.skipped = error.problems().front().message;
      }
    }
    all.push_back(one);
  }
  return all;
}

ComparisonSummary summarize(const std::vector<Comparison>& rows) {
  ComparisonSummary summary;
  summary.rows = rows.size();
  std::vector<double> errors;
  for (const Comparison& one : rows) {
    if (one.skipped.empty()) errors.push_back(std::abs(one.error));
  }
  summary.run = errors.size();
  if (errors.empty()) return summary;
  std::sort(errors.begin(), errors.end());
  for (const double error : errors) summary.mean += error / static_cast<double>(errors.size());
  const std::size_t half = errors.size() / 2;
  summary.median = errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
  summary.worst = errors.back();
  return summary;
}

}  // namespace stepsim
