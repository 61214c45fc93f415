#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scenarios/calculator.h"
#include "scenarios/catalog.h"
#include "scenarios/run.h"
#include "tools/commands.h"
#include "tools/format.h"
#include "tools/output_file.h"
#include "tools/table.h"
#include "tools/version.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;
using Results = std::vector<ExpectationResult>;

std::string title(const std::string& text, bool colour) {
  return "\n" + paint(colour, Paint::bold, text) + "\n";
}

std::string resolved_table(const Scenario& scenario, bool colour) {
  Table table({{"key", Align::left}, {"value", Align::left}, {"origin", Align::left}});
  for (const ResolvedKey& key : scenario.resolved) {
    const Paint how = key.origin == "default" ? Paint::dim : Paint::plain;
    table.row({Cell(key.key, how), Cell(key.value, how), Cell(key.origin, how)});
  }
  return table.text(colour);
}

std::string calculated_table(const Scenario& scenario, bool colour) {
  Table table({{"figure", Align::left}, {"value"}, {"law", Align::left}});
  for (const CalculatorRow& row : calculate(scenario)) table.row({row.name, row.value, Cell(row.law, Paint::dim)});
  return table.text(colour);
}

double error_of(const ExpectationResult& one) {
  return share(one.measured - one.expectation.value, one.expectation.value);
}

std::string expectations_table(const Results& results, bool colour) {
  Table table({{"quantity", Align::left},
               {"expected"},
               {"measured"},
               {"off by"},
               {"allowed"},
               {"", Align::left},
               {"source", Align::left}});
  for (const ExpectationResult& one : results) {
    const Cell met = one.met ? Cell("met", Paint::green) : Cell("NOT MET", Paint::red);
    table.row({one.expectation.quantity, fmt::format("{:.6g}", one.expectation.value),
               fmt::format("{:.6g}", one.measured), fmt::format("{:+.2f} %", 100 * error_of(one)),
               fmt::format("{:g} %", 100 * one.expectation.tolerance), met, Cell(one.expectation.source, Paint::dim)});
  }
  return table.text(colour);
}

Json expectation_json(const ExpectationResult& one) {
  return {{"quantity", one.expectation.quantity},
          {"expected", one.expectation.value},
          {"measured", one.measured},
          {"tolerance", one.expectation.tolerance},
          {"met", one.met},
          {"source", one.expectation.source}};
}

std::string check_json(const Scenario& scenario, const Results& results, bool expect) {
  Json json{{"version", version()}, {"file", scenario.file}, {"name", scenario.name}};
  json["resolved"] = Json::array();
  for (const ResolvedKey& key : scenario.resolved) {
    json["resolved"].push_back({{"key", key.key}, {"value", key.value}, {"origin", key.origin}});
  }
  json["calculated"] = Json::array();
  for (const CalculatorRow& row : calculate(scenario)) {
    json["calculated"].push_back({{"name", row.name}, {"value", row.value}, {"law", row.law}});
  }
  if (!expect) return json.dump(2) + "\n";
  json["expectations"] = Json::array();
  for (const ExpectationResult& one : results) json["expectations"].push_back(expectation_json(one));
  return json.dump(2) + "\n";
}

std::string check_report(const Scenario& scenario, const Results& results, bool expect, bool colour) {
  std::string text = paint(colour, Paint::bold, scenario.name) + "  " + paint(colour, Paint::dim, scenario.file) + "\n";
  text += title("Resolved scenario", colour) + resolved_table(scenario, colour);
  text += title("Calculated, without simulating", colour) + calculated_table(scenario, colour);
  if (!expect) return text;
  text += title("Expectations", colour);
  if (results.empty()) return text + "  none in this scenario\n";
  const auto met = std::count_if(results.begin(), results.end(), [](const auto& one) { return one.met; });
  return text + expectations_table(results, colour) + fmt::format("  {} of {} met\n", met, results.size());
}

Results expectations(const Scenario& scenario) {
  return check_expectations(scenario, run_and_show(scenario));
}

}  // namespace

ExitCode check_command(const CheckArguments& arguments) {
  const Scenario scenario = load(arguments.scenario, arguments.set, default_catalog());
  JsonOutput json(arguments.json);
  const Results results = arguments.expect ? expectations(scenario) : Results();
  if (json.wanted()) json.write(check_json(scenario, results, arguments.expect));
  if (!json.owns_stdout()) print(check_report(scenario, results, arguments.expect, colour_on_stdout()));
  const bool all_met = std::all_of(results.begin(), results.end(), [](const auto& one) { return one.met; });
  return all_met ? ExitCode::ok : ExitCode::failed;
}

}  // namespace stepsim
