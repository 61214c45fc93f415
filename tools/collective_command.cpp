// collective_command.cpp: `stepsim collective`: one collective over a range of sizes, as nccl-tests print it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "scenarios/catalog.h"
#include "scenarios/collective_run.h"
#include "scenarios/units.h"
#include "tools/commands.h"
#include "tools/format.h"
#include "tools/output_file.h"
#include "tools/table.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

CollectiveKind kind_of(const std::string& op) {
  if (op == "all_gather") return CollectiveKind::all_gather;
  if (op == "reduce_scatter") return CollectiveKind::reduce_scatter;
  if (op == "all_to_all") return CollectiveKind::all_to_all;
  if (op == "send_recv") return CollectiveKind::point_to_point;
  return CollectiveKind::all_reduce;
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

std::vector<Bytes> sizes(const CollectiveArguments& arguments) {
  const Bytes begin = size("--begin", arguments.begin);
  const Bytes end = size("--end", arguments.end.empty() ? arguments.begin : arguments.end);
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

std::string report(const CollectiveArguments& arguments, const CollectiveRun& run,
                   const std::vector<CollectiveResult>& results, bool colour) {
  const std::string groups =
      run.groups() == 1 ? "one group of all" : grouped(run.groups()) + " groups at once, each of";
  std::string text =
      paint(colour, Paint::bold, arguments.op) + fmt::format("  {} {} chips on {}; algorithm {}\n\n", groups,
                                                             grouped(run.members()), run.shape_text(), run.algorithm());
  Table table({{"size"},
               {"time"},
               {"algbw GB/s"},
               {"busbw GB/s"},
               {"bound"},
               {"bound / time"},
               {"fullest link", Align::left},
               {"of what it could"}});
  for (const CollectiveResult& one : results) {
    table.row({bytes_text(static_cast<double>(one.bytes)), time_text(one.time), giga(one.algorithm_rate),
               Cell(giga(one.bus_rate), Paint::bold), seconds_text(one.bound),
               percent_text(share(one.bound, to_seconds(one.time))), one.fullest, percent_text(one.fullest_share)});
  }
  return text + table.text(colour);
}

std::string json_of(const CollectiveArguments& arguments, const CollectiveRun& run,
                    const std::vector<CollectiveResult>& results) {
  Json json{{"op", arguments.op},       {"algorithm", run.algorithm()}, {"chips", run.chips()},
            {"members", run.members()}, {"groups", run.groups()},       {"shape", run.shape_text()},
            {"rows", Json::array()}};
  for (const CollectiveResult& one : results) {
    json["rows"].push_back({{"bytes", one.bytes},
                            {"time_ps", one.time.count()},
                            {"time_s", to_seconds(one.time)},
                            {"algorithm_bytes_per_s", one.algorithm_rate},
                            {"bus_bytes_per_s", one.bus_rate},
                            {"bound_s", one.bound},
                            {"fullest_link", one.fullest},
                            {"fullest_share", one.fullest_share},
                            {"transfers", one.transfers}});
  }
  return json.dump(2) + "\n";
}

}  // namespace

std::vector<std::string> collective_ops() {
  return {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"};
}

ExitCode collective_command(const CollectiveArguments& arguments) {
  const std::vector<Bytes> all_sizes = sizes(arguments);
  const Scenario scenario = load(arguments.scenario, arguments.set, default_catalog());
  JsonOutput json(arguments.json);
  const CollectiveRun run(scenario, {kind_of(arguments.op), axes(arguments.group), arguments.algorithm});
  std::vector<CollectiveResult> results;
  for (const Bytes bytes : all_sizes) results.push_back(run.play(bytes));
  if (json.wanted()) json.write(json_of(arguments, run, results));
  if (!json.owns_stdout()) print(report(arguments, run, results, colour_on_stdout()));
  return ExitCode::ok;
}

}  // namespace stepsim
