#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"
#include "tools/commands.h"
#include "tools/fault_lines.h"
#include "tools/format.h"
#include "tools/output_file.h"
#include "tools/table.h"
#include "topology/summary.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

std::string axes_text(const std::vector<HardwareAxis>& axes) {
  std::vector<std::string> parts;
  for (const HardwareAxis& axis : axes) {
    parts.push_back(fmt::format("{} {}{}", axis.name, axis.extent, axis.wraps ? " (wraps)" : " (open)"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string faults_text(const Cluster& cluster, bool colour) {
  std::string text = "\n" + paint(colour, Paint::bold, "Faults") + "\n";
  for (const std::string& fault : fault_lines(cluster, SIZE_MAX)) text += "  " + fault + "\n";
  return text;
}

std::string topology_report(const Scenario& scenario, const Cluster& cluster, const TopologySummary& summary,
                            bool colour) {
  Table figures({{"", Align::left}, {"", Align::left}});
  const auto figure = [&](const std::string& name, const std::string& value) {
    figures.row({Cell(name, Paint::dim), Cell(value)});
  };
  figure("kind", scenario.cluster.kind + " of " + scenario.cluster.chip.name);
  figure("chips", grouped(summary.chips));
  figure("cores", grouped(summary.cores));
  figure("hosts", grouped(summary.hosts));
  figure("axes", axes_text(summary.axes));
  figure("bisection", rate_text(summary.bisection) + " one way");
  figure("diameter", fmt::format("{} {}", summary.diameter, summary.diameter == 1 ? "link" : "links"));
  Table links({{"links", Align::left}, {"number"}, {"capacity each"}, {"latency"}});
  for (const LinkKind& kind : summary.links) {
    links.row({kind.kind, grouped(kind.count), kind.down ? "down" : rate_text(static_cast<double>(kind.capacity)),
               time_text(kind.latency)});
  }
  const ClusterSpec& spec = cluster.spec();
  const bool faults = !spec.chip_faults.empty() || !spec.link_faults.empty();
  return paint(colour, Paint::bold, scenario.name) + "\n" + figures.text(colour) + "\n" + links.text(colour) +
         (faults ? faults_text(cluster, colour) : "");
}

Json detours_json(const Cluster& cluster) {
  Json list = Json::array();
  for (const Detour& detour : cluster.detours()) {
    Json through = Json::array();
    for (const ChipId chip : detour.through) through.push_back(cluster.coordinates(chip));
    list.push_back({{"from", cluster.coordinates(detour.from)},
                    {"to", cluster.coordinates(detour.to)},
                    {"port", detour.port},
                    {"through", through}});
  }
  return list;
}

std::string topology_json(const Scenario& scenario, const Cluster& cluster, const TopologySummary& summary) {
  Json json{{"name", scenario.name}, {"kind", scenario.cluster.kind}, {"chip", scenario.cluster.chip.name}};
  json["chips"] = summary.chips;
  json["cores"] = summary.cores;
  json["hosts"] = summary.hosts;
  json["axes"] = Json::array();
  for (const HardwareAxis& axis : summary.axes) {
    json["axes"].push_back({{"name", axis.name}, {"extent", axis.extent}, {"wraps", axis.wraps}});
  }
  json["links"] = Json::array();
  for (const LinkKind& kind : summary.links) {
    json["links"].push_back({{"kind", kind.kind},
                             {"number", kind.count},
                             {"capacity_bytes_per_s", kind.capacity},
                             {"latency_ps", kind.latency.count()},
                             {"down", kind.down}});
  }
  json["detours"] = detours_json(cluster);
  json["bisection_bytes_per_s"] = summary.bisection;
  json["diameter_links"] = summary.diameter;
  return json.dump(2) + "\n";
}

}  // namespace

ExitCode topology_command(const TopologyArguments& arguments) {
  const Scenario scenario = load(arguments.scenario, arguments.set, default_catalog());
  JsonOutput json(arguments.json);
  std::unique_ptr<OutputFile> dot;
  if (!arguments.dot.empty() && arguments.dot != "-") dot = std::make_unique<OutputFile>("--dot", arguments.dot);
  const bool dot_on_stdout = arguments.dot == "-";
  if (dot_on_stdout && json.owns_stdout()) throw InputError("--dot", "standard output is taken by --json -");
  const Cluster cluster = build(scenario.cluster);
  const TopologySummary summary = summarize(cluster);
  if (json.wanted()) json.write(topology_json(scenario, cluster, summary));
  if (dot != nullptr) {
    dot->stream() << to_dot(cluster);
    dot->commit();
  }
  if (dot_on_stdout) {
    print(to_dot(cluster));
  } else if (!json.owns_stdout()) {
    print(topology_report(scenario, cluster, summary, colour_on_stdout()));
  }
  return ExitCode::ok;
}

}  // namespace stepsim
