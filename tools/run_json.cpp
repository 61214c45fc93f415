#include "tools/run_json.h"

#include <nlohmann/json.hpp>

#include "scenarios/class_report.h"
#include "schedules/stages.h"
#include "tools/format.h"
#include "tools/path_summary.h"
#include "tools/version.h"
#include "tools/warnings.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

void put_time(Json& json, const std::string& name, Picoseconds time) {
  json[name + "_ps"] = time.count();
  json[name + "_s"] = to_seconds(time);
}

template <class List, class Convert>
Json list(const List& items, Convert convert) {
  Json json = Json::array();
  for (const auto& item : items) json.push_back(convert(item));
  return json;
}

Json scenario_json(const Scenario& scenario) {
  return {{"file", scenario.file},
          {"name", scenario.name},
          {"description", scenario.description},
          {"resolved", list(scenario.resolved, [](const ResolvedKey& key) {
             return Json{{"key", key.key}, {"value", key.value}, {"origin", key.origin}};
           })}};
}

Json cluster_json(const Cluster& cluster) {
  return {{"kind", cluster.spec().kind},
          {"chip", cluster.spec().chip.name},
          {"cores", cluster.cores()},
          {"hosts", cluster.hosts()},
          {"axes", list(cluster.axes(), [](const HardwareAxis& axis) {
             return Json{{"name", axis.name}, {"extent", axis.extent}, {"wraps", axis.wraps}};
           })}};
}

Json mesh_json(const Mesh& mesh) {
  Json json = Json::array();
  for (std::size_t i = 0; i < mesh.axes().size(); ++i) {
    json.push_back({{"axis", mesh.axes()[i].name},
                    {"extent", mesh.axes()[i].extent},
                    {"placed_on", mesh.describe(static_cast<int>(i))}});
  }
  return json;
}

Json placement_json(const RankedPlacement& ranked) {
  return {{"axes", ranked.text}, {"predicted_exposed_s", ranked.exposed}, {"predicted_total_s", ranked.total}};
}

Json breakdown_json(const ClassBreakdown& one) {
  return {{"class", one.who}, {"chips", one.chips}, {"parts", list(one.parts, [](const BreakdownPart& part) {
                                                       Json json{{"name", part.name}};
                                                       put_time(json, "time", part.time);
                                                       return json;
                                                     })}};
}

Json method_json(const MethodUse& use) {
  return {{"array_bytes", use.array},
          {"count", use.count},
          {"method", use.pick.method},
          {"tried", list(use.pick.tried, [](const MethodTime& one) {
             Json json{{"method", one.method}};
             put_time(json, "time", one.time);
             return json;
           })}};
}

Json collective_json(const CollectiveReport& use) {
  Json json{{"axis", use.axis}, {"kind", use.kind}, {"count", use.count}};
  put_time(json, "issued", use.issued);
  put_time(json, "hidden", use.hidden);
  put_time(json, "exposed", use.exposed);
  put_time(json, "communicating", use.communicating);
  put_time(json, "overlapped", use.overlapped);
  json["overlap"] = share(use.overlapped, use.communicating);
  json["array_bytes"] = use.array;
  json["sent_bytes"] = use.sent;
  json["achieved_bytes_per_s"] = use.achieved;
  json["limit_bytes_per_s"] = use.limit;
  put_time(json, "slack", use.slack);
  json["required_bytes_per_s"] = use.required;
  json["methods"] = list(use.methods, method_json);
  return json;
}

Json link_json(const LinkClassUse& use) {
  return {{"kind", use.kind},
          {"links", use.links},
          {"capacity_bytes_per_s", use.capacity},
          {"bytes", use.bytes},
          {"busy", use.busy},
          {"busiest", use.busiest},
          {"fullest", use.fullest},
          {"peak_flows", use.peak_flows}};
}

Json stretch_json(const PathStretch& stretch, Picoseconds origin) {
  Json json{{"name", stretch.name}, {"class", stretch.who}};
  put_time(json, "start", stretch.start - origin);
  put_time(json, "time", stretch.end - stretch.start);
  put_time(json, "contention", stretch.contention);
  json["pieces"] = stretch.pieces;
  json["first_op"] = stretch.first;
  json["last_op"] = stretch.last;
  return json;
}

/// Keys as in a row of `stepsim compare`.
Json pipeline_json(const Scenario& scenario, const RunResult& result) {
  const PipelineFigures& figures = *result.pipeline;
  const PipelineOrder& order = result.assembly.plan.order;
  Json json{{"schedule", scenario.strategy.pipeline.schedule},
            {"ranks", order.ranks.size()},
            {"stages", order.stages},
            {"stage_layers", layers_of_stages(scenario.model, scenario.strategy, order.stages)},
            {"microbatches", order.units / order.segments},
            {"segments", order.segments},
            {"weight_copies", figures.copies},
            {"bubble_wall", figures.wall_bubble},
            {"bubble_rank", figures.rank_bubble},
            {"bubble_warmup", figures.warm_up},
            {"bubble_steady", figures.steady},
            {"bubble_drain", figures.drain},
            {"activation_microbatches", figures.activation_microbatches}};
  put_time(json, "exposed_sends", figures.exposed_sends);
  return json;
}

Json memory_json(const MemoryReport& memory) {
  return {{"capacity_bytes", memory.capacity},
          {"fits", memory.fits},
          {"parts", list(memory.parts, [](const auto& part) {
             return Json{{"name", part.first}, {"bytes", part.second}};
           })}};
}

void put_headline(Json& json, const RunResult& result) {
  put_time(json, "step_time", result.step_time);
  json["tokens_per_s"] = result.tokens_per_s;
  json["tokens_per_s_per_chip"] = result.tokens_per_s_per_chip;
  json["model_flops_per_s_per_chip"] = result.model_flops_per_s_per_chip;
  json["mfu"] = result.mfu;
  json["flop_formula"] = result.flop_formula;
  json["peak_memory_bytes"] = result.memory.peak;
}

void put_accounts(Json& json, const Scenario& scenario, const RunResult& result) {
  json["bottleneck"] = result.bottleneck;
  json["memory"] = memory_json(result.memory);
  if (result.pipeline) json["pipeline"] = pipeline_json(scenario, result);
  json["breakdown"] = list(result.breakdown, breakdown_json);
  json["collectives"] = list(result.collectives, collective_json);
  json["links"] = list(result.links, link_json);
  const Picoseconds origin = result.timeline.window_start();
  json["critical_path"] = list(path_stretches(result.assembly.plan.program, result.critical_path),
                               [&](const PathStretch& stretch) { return stretch_json(stretch, origin); });
}

}  // namespace

std::string run_json(const Scenario& scenario, const RunResult& result) {
  Json json;
  json["version"] = version();
  json["scenario"] = scenario_json(scenario);
  json["cluster"] = cluster_json(*result.assembly.cluster);
  json["mesh"] = mesh_json(*result.assembly.mesh);
  const Cluster& cluster = *result.assembly.cluster;
  json["notes"] = cluster.spec().graph.notes;
  json["warnings"] = Json::parse(warnings_json(straddles(scenario, cluster, *result.assembly.mesh), cluster));
  json["placement"] = scenario.placement.empty() ? "automatic" : "given";
  json["placements"] = list(result.assembly.placements, placement_json);
  json["parameters"] = parameters(scenario.model).total;
  json["chips"] = result.assembly.cluster->chips();
  json["classes"] = result.timeline.classes;
  json["folding"] = {{"on", result.assembly.folded},
                     {"links", result.assembly.links.size()},
                     {"differ_by", why_classes_differ(result.assembly)}};
  if (result.step_time_without_faults) put_time(json, "step_time_without_faults", *result.step_time_without_faults);
  put_headline(json, result);
  put_accounts(json, scenario, result);
  json["steps_played"] = result.timeline.steps;
  json["periodic"] = result.timeline.periodic;
  json["counters"] = {{"events", result.timeline.counters.events},
                      {"transfers", result.timeline.counters.transfers},
                      {"rate_solves", result.timeline.counters.rate_solves}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stepsim
