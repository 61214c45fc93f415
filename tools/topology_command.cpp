#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "scenarios/catalog.h"
#include "scenarios/export_nccl.h"
#include "scenarios/export_smi.h"
#include "scenarios/host_tree.h"
#include "scenarios/placement.h"
#include "scenarios/scenario.h"
#include "scenarios/straddle.h"
#include "scenarios/system.h"
#include "tools/commands.h"
#include "tools/fault_lines.h"
#include "tools/format.h"
#include "tools/output_file.h"
#include "tools/run_report.h"
#include "tools/table.h"
#include "tools/topology_parts.h"
#include "tools/warnings.h"
#include "topology/summary.h"
#include "topology/svg.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

std::string axes_text(const std::vector<HardwareAxis>& axes) {
  std::vector<std::string> parts;
  for (const HardwareAxis& axis : axes) {
    parts.push_back(fmt::format("{} {}{}", axis.name, axis.extent,
                                axis.direct  ? ""
                                : axis.wraps ? " (wraps)"
                                             : " (open)"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string faults_text(const Cluster& cluster, bool colour) {
  std::string text = "\n" + paint(colour, Paint::bold, "Faults") + "\n";
  for (const std::string& fault : fault_lines(cluster, SIZE_MAX)) text += "  " + fault + "\n";
  return text;
}

/// What is asked for beside the figures.
struct Wanted {
  bool links = false;
  std::size_t most = 0;
  bool route = false;
  ChipId from = 0;
  ChipId to = 0;
};

struct Subject {
  const Scenario& scenario;
  const Cluster& cluster;
  TopologySummary summary;
  std::vector<Straddle> straddles;
  Wanted wanted;
};

std::string figures_text(const Subject& subject, bool colour) {
  const TopologySummary& summary = subject.summary;
  Table figures({{"", Align::left}, {"", Align::left}});
  const auto figure = [&](const std::string& name, const std::string& value) {
    figures.row({Cell(name, Paint::dim), Cell(value)});
  };
  figure("cluster", cluster_kind_text(subject.cluster));
  figure("chips", grouped(summary.chips));
  figure("cores", grouped(summary.cores));
  figure("hosts", grouped(summary.hosts));
  figure("axes", axes_text(summary.axes));
  figure("bisection", rate_text(summary.bisection) + " one way");
  figure("diameter", fmt::format("{} {}", summary.diameter, summary.diameter == 1 ? "link" : "links"));
  return figures.text(colour);
}

std::string kinds_text(const TopologySummary& summary, bool colour) {
  Table links({{"links", Align::left}, {"number"}, {"capacity each"}, {"latency"}});
  for (const LinkKind& kind : summary.links) {
    links.row({kind.kind, grouped(kind.count), kind.down ? "down" : rate_text(static_cast<double>(kind.capacity)),
               time_text(kind.latency)});
  }
  return links.text(colour);
}

/// Notes of an importer and warnings, broken to the width of the page.
std::string remarks_text(const Subject& subject, bool colour) {
  std::string text;
  const auto remark = [&](const std::string& label, Paint how, const std::string& what) {
    text += "  " + paint(colour, how, label) + "  " + wrapped(what, 98 - label.size() - 4, label.size() + 4) + "\n";
  };
  for (const std::string& note : subject.cluster.spec().graph.notes) remark("note", Paint::dim, note);
  for (const Straddle& one : subject.straddles) {
    remark("warning", Paint::yellow, straddle_text(one, subject.cluster));
  }
  return text.empty() ? "" : "\n" + text;
}

std::string topology_report(const Subject& subject, bool colour) {
  const ClusterSpec& spec = subject.cluster.spec();
  std::string text = paint(colour, Paint::bold, subject.scenario.name) + "\n" + figures_text(subject, colour) + "\n" +
                     kinds_text(subject.summary, colour);
  if (!spec.chip_faults.empty() || !spec.link_faults.empty()) text += faults_text(subject.cluster, colour);
  text += remarks_text(subject, colour);
  const Wanted& wanted = subject.wanted;
  if (wanted.route) text += routes_text(subject.cluster, wanted.from, wanted.to, colour);
  if (wanted.links) text += links_text(subject.cluster, wanted.most, colour);
  return text;
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

std::string topology_json(const Subject& subject) {
  const ClusterSpec& spec = subject.scenario.cluster;
  const TopologySummary& summary = subject.summary;
  Json json{{"name", subject.scenario.name}, {"kind", spec.kind}, {"chip", spec.chip.name}};
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
  json["detours"] = detours_json(subject.cluster);
  json["bisection_bytes_per_s"] = summary.bisection;
  json["diameter_links"] = summary.diameter;
  json["notes"] = subject.cluster.spec().graph.notes;
  json["warnings"] = Json::parse(warnings_json(subject.straddles, subject.cluster));
  const Wanted& wanted = subject.wanted;
  if (wanted.route) json["route"] = Json::parse(routes_json(subject.cluster, wanted.from, wanted.to));
  if (wanted.links) {
    json["links_in_all"] = subject.cluster.links();
    json["each_link"] = Json::parse(links_json(subject.cluster, wanted.most));
  }
  return json.dump(2) + "\n";
}

/// Where a drawing or another tool's file goes: nowhere, to a file, or to standard output.
class Drawing {
 public:
  Drawing(const std::string& option, const std::string& target) : on_stdout_(target == "-") {
    if (!target.empty() && !on_stdout_) file_ = std::make_unique<OutputFile>(option, target);
  }

  [[nodiscard]] bool owns_stdout() const { return on_stdout_; }
  [[nodiscard]] bool wanted() const { return on_stdout_ || file_ != nullptr; }
  void write(const std::string& text) {
    if (on_stdout_) print(text);
    if (file_ == nullptr) return;
    file_->stream() << text;
    file_->commit();
  }

 private:
  bool on_stdout_;
  std::unique_ptr<OutputFile> file_;
};

/// What its format cannot say goes to standard error.
void write(Drawing& target, const ExportedHost& host) {
  for (const std::string& lost : host.lost) spdlog::warn("{}", lost);
  target.write(host.text);
}

/// One at most may have standard output; true when none has.
bool check_stdout(const std::vector<std::pair<std::string, bool>>& owners) {
  std::string owner;
  for (const auto& [option, owns] : owners) {
    if (!owns) continue;
    if (!owner.empty()) throw InputError(option, "standard output is taken by " + owner + " -");
    owner = option;
  }
  return owner.empty();
}

Wanted wanted_of(const TopologyArguments& arguments, const Cluster& cluster) {
  Wanted wanted{arguments.links, arguments.most, !arguments.route.empty(), 0, 0};
  if (!wanted.route) return wanted;
  wanted.from = chip_called(cluster, "--route", arguments.route.at(0));
  wanted.to = chip_called(cluster, "--route", arguments.route.at(1));
  return wanted;
}

}  // namespace

ExitCode topology_command(const TopologyArguments& arguments) {
  const std::string catalog = default_catalog();
  const Scenario scenario = is_system(arguments.scenario, catalog)
                                ? load_system(arguments.scenario, arguments.set, catalog)
                                : load(arguments.scenario, arguments.set, catalog);
  JsonOutput json(arguments.json);
  Drawing dot("--dot", arguments.dot);
  Drawing svg("--svg", arguments.svg);
  Drawing nccl("--nccl-xml", arguments.nccl_xml);
  Drawing smi("--smi", arguments.smi);
  const bool shown = check_stdout({{"--json", json.owns_stdout()},
                                   {"--dot", dot.owns_stdout()},
                                   {"--svg", svg.owns_stdout()},
                                   {"--nccl-xml", nccl.owns_stdout()},
                                   {"--smi", smi.owns_stdout()}});
  const Cluster cluster = build(scenario.cluster);
  const Wanted wanted = wanted_of(arguments, cluster);
  const Subject subject{scenario, cluster, summarize(cluster), straddles(scenario, cluster, mesh_of(scenario, cluster)),
                        wanted};
  if (json.wanted()) json.write(topology_json(subject));
  if (dot.wanted()) dot.write(to_dot(cluster));
  if (svg.wanted()) svg.write(to_svg(cluster, scenario.name, cluster_kind_text(cluster)));
  if (nccl.wanted()) write(nccl, export_nccl_topology(described_host(cluster, "--nccl-xml")));
  if (smi.wanted()) write(smi, export_nvidia_smi(described_host(cluster, "--smi")));
  if (shown) print(topology_report(subject, colour_on_stdout()));
  return ExitCode::ok;
}

}  // namespace stepsim
