// classes_command.cpp: `stepsim classes`: which chips are played for which, and why they are not all alike.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scenarios/catalog.h"
#include "scenarios/class_report.h"
#include "tools/commands.h"
#include "tools/format.h"
#include "tools/output_file.h"
#include "tools/run_report.h"
#include "tools/table.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

std::string classes_report(const Assembly& assembly, std::size_t most, bool colour) {
  Table table({{"class"}, {"chips"}, {"one of them", Align::left}, {"nearest"}, {"told from it by", Align::left}});
  for (const ClassDescription& one : describe_classes(assembly, 0, most)) {
    table.row({std::to_string(one.who), grouped(static_cast<std::int64_t>(one.chips)),
               place_text(assembly.cluster->coordinates(one.member)), std::to_string(one.nearest), one.told_apart_by});
  }
  std::string text = "  " + wrapped(folding_text(assembly), 96, 2) + "\n\n" + table.text(colour);
  const std::size_t classes = assembly.symmetry->classes();
  if (classes > most)
    text +=
        fmt::format("  {} more classes (--most N, or --json)\n", grouped(static_cast<std::int64_t>(classes - most)));
  return text;
}

std::string classes_json(const Assembly& assembly) {
  Json json;
  json["chips"] = assembly.cluster->chips();
  json["links"] = assembly.links.size();
  json["differ_by"] = why_classes_differ(assembly);
  json["classes"] = Json::array();
  for (const ClassDescription& one : describe_classes(assembly, 0, SIZE_MAX)) {
    Json traits = Json::object();
    for (const auto& [name, value] : one.traits) traits[name] = value;
    json["classes"].push_back({{"class", one.who},
                               {"chips", one.chips},
                               {"member", assembly.cluster->coordinates(one.member)},
                               {"traits", traits},
                               {"nearest", one.nearest},
                               {"told_apart_by", one.told_apart_by}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

ExitCode classes_command(const ClassesArguments& arguments) {
  const Scenario scenario = load(arguments.scenario, arguments.set, default_catalog());
  JsonOutput json(arguments.json);
  const Assembly assembly = assemble(scenario);
  if (json.wanted()) json.write(classes_json(assembly));
  if (!json.owns_stdout()) {
    const bool colour = colour_on_stdout();
    print(paint(colour, Paint::bold, scenario.name) + "\n" + classes_report(assembly, arguments.most, colour));
  }
  return ExitCode::ok;
}

}  // namespace stepsim
