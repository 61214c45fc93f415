// collective_command.cpp: `stepsim collective`: one collective over a range of sizes, as nccl-tests print it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "scenarios/catalog.h"
#include "scenarios/collective_run.h"
#include "scenarios/measured.h"
#include "scenarios/send_matrix.h"
#include "scenarios/system.h"
#include "scenarios/units.h"
#include "scenarios/yaml_tree.h"
#include "tools/commands.h"
#include "tools/comparison.h"
#include "tools/format.h"
#include "tools/output_file.h"
#include "tools/table.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

/// As nccl-tests and PyTorch call them.
const std::vector<std::pair<std::string, CollectiveKind>>& ops() {
  static const std::vector<std::pair<std::string, CollectiveKind>> all{
      {"all_reduce", CollectiveKind::all_reduce},
      {"all_gather", CollectiveKind::all_gather},
      {"reduce_scatter", CollectiveKind::reduce_scatter},
      {"all_to_all", CollectiveKind::all_to_all},
      {"broadcast", CollectiveKind::broadcast},
      {"reduce", CollectiveKind::reduce},
      {"gather", CollectiveKind::gather},
      {"scatter", CollectiveKind::scatter},
      {"barrier", CollectiveKind::barrier},
      {"send_recv", CollectiveKind::point_to_point}};
  return all;
}

CollectiveKind kind_of(const std::string& op) {
  for (const auto& [name, kind] : ops()) {
    if (name == op) return kind;
  }
  throw InputError("--op", "unknown op '" + op + "'");
}

/// As nccl-tests read it, K, M and G are powers of 1024; else a size with its unit.
Bytes size(const std::string& option, const std::string& text) {
  const std::string units = "KMGT";
  const std::size_t unit = text.empty() ? std::string::npos : units.find(text.back());
  try {
    const Bytes bytes = unit == std::string::npos ? parse_bytes(text) : parse_bytes(text + "iB");
    if (bytes < 1) throw UnitError("expected a size above 0, found '" + text + "'");
    return bytes;
  } catch (const UnitError& error) {
    throw InputError(option, error.what());
  }
}

/// A matrix of sizes is played as it is: what its busiest sender sends stands for its size.
std::vector<Bytes> sizes(const CollectiveArguments& arguments, const SendMatrix& sends) {
  if (!sends.sizes.empty()) {
    for (const auto& [option, text] : {std::pair{"--begin", arguments.begin}, {"--end", arguments.end}}) {
      if (!text.empty())
        throw InputError(option, "expected none: the sizes stand in '" + arguments.sends + "' (shares would scale)");
    }
    return {sends.largest_row()};
  }
  const std::string first = arguments.begin.empty() ? "32M" : arguments.begin;
  const Bytes begin = size("--begin", first);
  const Bytes end = size("--end", arguments.end.empty() ? first : arguments.end);
  if (end < begin) throw InputError("--end", "expected at least --begin, found " + arguments.end);
  std::vector<Bytes> all;
  for (Bytes bytes = begin; bytes <= end; bytes *= arguments.factor) {
    all.push_back(bytes);
    if (bytes > end / arguments.factor) break;
  }
  return all;
}

std::vector<std::string> axes(const std::string& group) {
  std::vector<std::string> all;
  std::istringstream names(group);
  for (std::string name; std::getline(names, name, '+');) all.push_back(name);
  return all;
}

std::string giga(double bytes_per_s) {
  return significant(bytes_per_s / 1e9, 4);
}

/// Why the fastest was picked: what the others would have taken, at the smallest and the largest size.
std::string tried_text(const std::vector<CollectiveResult>& results) {
  std::vector<const CollectiveResult*> ends{&results.front()};
  if (results.size() > 1) ends.push_back(&results.back());
  std::string text;
  for (const CollectiveResult* one : ends) {
    text += (text.empty() ? "" : "\n") + bytes_text(static_cast<double>(one->bytes)) + ": " + one->method + " " +
            time_text(one->time) + ", the fastest on these links";
    std::size_t shown = 0;
    for (const CollectiveResult::Other& other : one->others) {
      if (shown++ == 4) break;
      text += "; " + other.method + " " + time_text(other.time);
    }
  }
  return text;
}

std::string report(const CollectiveArguments& arguments, const CollectiveRun& run,
                   const std::vector<CollectiveResult>& results, bool colour) {
  const std::string groups =
      run.groups() == 1 ? "one group of all" : grouped(run.groups()) + " groups at once, each of";
  std::string text = paint(colour, Paint::bold, arguments.op) +
                     fmt::format("  {} {} chips on {}\n\n", groups, grouped(run.members()), run.shape_text());
  Table table({{"size"},
               {"time"},
               {"algbw GB/s"},
               {"busbw GB/s"},
               {"bound"},
               {"bound / time"},
               {"fullest link", Align::left},
               {"of what it could"},
               {"algorithm", Align::left}});
  for (const CollectiveResult& one : results) {
    table.row({bytes_text(static_cast<double>(one.bytes)), time_text(one.time), giga(one.algorithm_rate),
               Cell(giga(one.bus_rate), Paint::bold), seconds_text(one.bound),
               percent_text(share(one.bound, to_seconds(one.time))), one.fullest, percent_text(one.fullest_share),
               one.method});
  }
  text += table.text(colour);
  if (run.methods().size() > 1) text += "\n" + paint(colour, Paint::dim, tried_text(results)) + "\n";
  return text;
}

std::string json_of(const CollectiveArguments& arguments, const CollectiveRun& run,
                    const std::vector<CollectiveResult>& results) {
  Json json{{"op", arguments.op},     {"chips", run.chips()},      {"members", run.members()},
            {"groups", run.groups()}, {"shape", run.shape_text()}, {"rows", Json::array()}};
  for (const CollectiveResult& one : results) {
    Json others = Json::array();
    for (const CollectiveResult::Other& other : one.others) {
      others.push_back({{"algorithm", other.method}, {"time_ps", other.time.count()}});
    }
    json["rows"].push_back({{"bytes", one.bytes},
                            {"algorithm", one.method},
                            {"time_ps", one.time.count()},
                            {"time_s", to_seconds(one.time)},
                            {"algorithm_bytes_per_s", one.algorithm_rate},
                            {"bus_bytes_per_s", one.bus_rate},
                            {"bound_s", one.bound},
                            {"fullest_link", one.fullest},
                            {"fullest_share", one.fullest_share},
                            {"transfers", one.transfers},
                            {"others", others}});
  }
  return json.dump(2) + "\n";
}

}  // namespace

std::vector<std::string> collective_ops() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : ops()) names.push_back(name);
  return names;
}

/// The system's rows of a measured table.
ExitCode compare(const CollectiveArguments& arguments, const std::string& catalog) {
  if (!is_system(arguments.scenario, catalog)) {
    throw InputError("--compare", "expected a system of the catalog, which measured tables know by its aliases");
  }
  const std::vector<MeasuredRow> measured = read_measured(read_text(arguments.compare), arguments.compare);
  JsonOutput json(arguments.json);
  const std::vector<Comparison> rows = compare_with_measured(measured, catalog, arguments.scenario);
  if (json.wanted()) json.write(comparison_json(rows));
  if (!json.owns_stdout()) print(comparison_report(rows, colour_on_stdout()));
  return ExitCode::ok;
}

ExitCode collective_command(const CollectiveArguments& arguments) {
  if (!arguments.compare.empty()) return compare(arguments, default_catalog());
  SendMatrix sends;
  if (!arguments.sends.empty()) {
    sends = read_send_matrix(read_bytes(arguments.sends, "a CSV file", std::size_t{256} << 20), arguments.sends);
  }
  const std::vector<Bytes> all_sizes = sizes(arguments, sends);
  const std::string catalog = default_catalog();
  const Scenario scenario = is_system(arguments.scenario, catalog)
                                ? load_system(arguments.scenario, arguments.set, catalog)
                                : load(arguments.scenario, arguments.set, catalog);
  JsonOutput json(arguments.json);
  const CollectiveRun run(
      scenario, {kind_of(arguments.op), axes(arguments.group), arguments.algorithm, arguments.protocol, sends});
  std::vector<CollectiveResult> results;
  for (const Bytes bytes : all_sizes) results.push_back(run.play(bytes));
  if (json.wanted()) json.write(json_of(arguments, run, results));
  if (!json.owns_stdout()) print(report(arguments, run, results, colour_on_stdout()));
  return ExitCode::ok;
}

}  // namespace stepsim
