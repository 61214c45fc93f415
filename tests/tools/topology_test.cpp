// `stepsim topology` as a user meets it: routes of a pair, links one by one, drawings, warnings and notes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "process.h"
#include "scenarios/catalog.h"
#include "tools/run_json.h"
#include "tools/run_report.h"

namespace stepsim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string small = "'" + data("small.yaml") + "'";

Json json_of(const std::string& arguments) {
  const Outcome one = stepsim("topology " + arguments + " --json -");
  EXPECT_EQ(one.code, 0) << one.err;
  return Json::parse(one.out);
}

/// A host of NVLink pairs with a PCIe switch for each: 240 GB/s in a pair, 24 GB/s over PCIe.
std::string pairs(const Folder& folder, const std::string& mesh = "{fsdp: 4}") {
  return "'" +
         folder.write("pairs.yaml",
                      "cluster:\n  kind: nvlink\n  wiring: pairs\n  devices_per_switch: [2, 2]\n  nvlinks: 12\n"
                      "  nvlink_rate: 20 GB/s\n  nvlink_latency: 1 us\n"
                      "  chip: {name: a100, flops: {bf16: 312 TFLOP/s}, memory: 80 GB, memory_rate: 2 TB/s, "
                      "pcie_rate: 24 GB/s}\n"
                      "model: book-mlp\nparallelism: {mesh: " +
                          mesh + ", batch: 64Ki tokens}\n") +
         "'";
}

TEST(Topology, ASystemByItsName) {
  const Outcome one = stepsim("topology h100-superpod --set cluster.nodes=[4]");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("4 nodes of 8 h100, rail-optimised"));
  EXPECT_EQ(json_of("h100-superpod")["chips"], 8);
  EXPECT_EQ(stepsim("topology h100-superpod --set cluster.nodse=[4]").code, 2);
}

// small.yaml: a closed 4x4, so to the antipode (2, 2) both ways round on both axes, in both orders: 8 routes of 4 links
// of 50 GB/s and 1 us. Coordinates and ids name the same chips.
TEST(Topology, EveryRouteOfAPair) {
  const Json route = json_of(small + " --route 0,0 2,2")["route"];
  EXPECT_EQ(route, json_of(small + " --route 0 10")["route"]);
  ASSERT_EQ(route["routes"].size(), 8U);
  int weights = 0;
  for (const Json& one : route["routes"]) {
    EXPECT_EQ(one["links"].size(), 4U);
    EXPECT_EQ(one["capacity_bytes_per_s"], 50'000'000'000);
    EXPECT_EQ(one["latency_ps"], 4'000'000);
    weights += one["weight"].get<int>();
  }
  EXPECT_EQ(route["routes"][0]["weights_of_all"], weights);
  const Outcome text = stepsim("topology " + small + " --route 0 10");
  EXPECT_THAT(text.out, HasSubstr("route 8 of 8, 12.5 % of the bytes: 4 links, 50.00 GB/s alone, 4.000 us latency"));
  EXPECT_THAT(text.out, Not(HasSubstr("narrowest")));  // all alike
  EXPECT_THAT(stepsim("topology " + small + " --route 3 3").out, HasSubstr("the same chip"));
}

TEST(Topology, TheNarrowestLinkOfARoute) {
  const Outcome one = stepsim("topology h100-superpod --set cluster.nodes=[4] --route 'gpu 0.0' 1,3");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, ::testing::ContainsRegex("nic up [^\n]*50\\.00 GB/s [^\n]*narrowest"));
  EXPECT_THAT(one.out, Not(::testing::ContainsRegex("pcie up [^\n]*narrowest")));
}

TEST(Topology, AChipThatIsNotThereIsAnErrorThatSaysWhichAre) {
  for (const char* chip : {"16", "-1", "4,0", "0,0,0", "1,", "'chip 9'", "''"}) {
    const Outcome wrong = stepsim("topology " + small + " --route 0 " + chip);
    EXPECT_EQ(wrong.code, 2) << chip;
    EXPECT_THAT(wrong.out, IsEmpty()) << chip;
    EXPECT_THAT(wrong.err, HasSubstr("--route: expected a chip from 0 to 15, or coordinates x 0 to 3,y 0 to 3"))
        << chip;
  }
  EXPECT_EQ(stepsim("topology " + small + " --route 0").code, 2);
}

TEST(Topology, LinksOneByOneUpToALimit) {
  const Outcome few = stepsim("topology " + small + " --links --most 3");
  EXPECT_THAT(few.out, HasSubstr("61 more of 64 (--most)"));  // 16 chips x 4 ways
  EXPECT_THAT(stepsim("topology " + small + " --links").out, Not(HasSubstr("more of")));
  const Json json = json_of(small + " --links --most 3");
  EXPECT_EQ(json["links_in_all"], 64);
  ASSERT_EQ(json["each_link"].size(), 3U);
  EXPECT_EQ(json["each_link"][2]["id"], 2);
  EXPECT_EQ(json["each_link"][2]["capacity_bytes_per_s"], 50'000'000'000);
  EXPECT_FALSE(json_of(small).contains("each_link"));
}

TEST(Topology, DrawsToAFileOrToStandardOutput) {
  const Folder folder;
  const Outcome file = stepsim("topology " + small + " --svg '" + folder.file("a.svg") + "'");
  EXPECT_EQ(file.code, 0) << file.err;
  EXPECT_THAT(file.out, HasSubstr("bisection"));
  const Outcome out = stepsim("topology " + small + " --svg -");
  EXPECT_EQ(out.out, text_of(folder.file("a.svg")));
  EXPECT_THAT(out.out, StartsWith("<svg "));
  EXPECT_EQ(stepsim("topology " + small + " --svg - --dot -").code, 2);
  EXPECT_EQ(stepsim("topology " + small + " --svg - --json -").code, 2);
  EXPECT_EQ(stepsim("topology " + small + " --svg /nowhere/a.svg").code, 2);
}

// Rates by hand in tests/scenarios/straddle_test.cpp.
TEST(Topology, WarnsOfAnAxisOverSlowLinksAsARunDoes) {
  const Folder folder;
  const std::string four = pairs(folder);
  const std::string sentence =
      "fsdp 4 straddles slow links: 2 of the 4 steps of a group (device 1 to device 2, device 3";
  for (const std::string command : {"topology ", "run "}) {
    const Outcome one = stepsim(command + four);
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("warning")) << command;
    EXPECT_THAT(one.out, HasSubstr("fsdp 4 straddles slow links")) << command;
    const Json warnings = Json::parse(stepsim(command + four + " --json -").out)["warnings"];
    ASSERT_EQ(warnings.size(), 1U) << command;
    EXPECT_EQ(warnings[0]["axis"], "fsdp");
    EXPECT_EQ(warnings[0]["slow_bytes_per_s"], 12e9);
    EXPECT_EQ(warnings[0]["fast_bytes_per_s"], 240e9);
    EXPECT_EQ(warnings[0]["fast_extent"], 2);
    EXPECT_THAT(warnings[0]["text"].get<std::string>(), StartsWith(sentence));
    EXPECT_THAT(warnings[0]["text"].get<std::string>(), HasSubstr("fsdp 2 would stay on the fast links"));
  }
  EXPECT_THAT(stepsim("topology " + small).out, Not(HasSubstr("warning")));
  EXPECT_THAT(json_of(small)["warnings"], IsEmpty());
}

TEST(Topology, SaysWhatKindOfHostItIs) {
  const Folder folder;
  const std::string four = pairs(folder);
  EXPECT_THAT(stepsim("run " + four).out, HasSubstr("4 a100 in NVLink pairs, 2 PCIe switches, 1 socket"));
  EXPECT_THAT(stepsim("topology " + four).out, HasSubstr("4 a100 in NVLink pairs"));
}

// A bridge that is down: the pair meets over PCIe, found anew, with no detour to tell of.
TEST(Topology, LinksOfAListedGraphThatAreDown) {
  const Folder folder;
  const Outcome one = stepsim("topology " + pairs(folder) +
                              " --set 'faults={cables: [{at: [0], port: device 1, down: true}]}' --route 0 1");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("nvlink from device 0 to device 1 is down: transfers take other routes"));
  EXPECT_THAT(one.out, HasSubstr("2 links, 24.00 GB/s alone"));
}

// What importers assume goes along with the graph; a run tells it.
TEST(Topology, NotesOfAnImporterAreShown) {
  const Folder folder;
  const std::string file =
      folder.write("listed.yaml",
                   "cluster:\n  kind: links\n  vertices: {chip: [a, b]}\n  links: [{from: a, to: b, rate: 24 GB/s}]\n"
                   "  chip: {name: gpu, flops: {bf16: 312 TFLOP/s}, memory: 80 GB, memory_rate: 2 TB/s}\n"
                   "model: book-mlp\nparallelism: {mesh: {fsdp: 2}, batch: 64Ki tokens}\n");
  Scenario scenario = load(file, {}, default_catalog());
  scenario.cluster.graph.notes = {"system: latencies are not in the file, 0 assumed"};
  const RunResult result = run(scenario);
  EXPECT_THAT(run_report(scenario, result, false),
              HasSubstr("note       system: latencies are not in the file, 0 assumed"));
  EXPECT_EQ(Json::parse(run_json(scenario, result))["notes"], Json(scenario.cluster.graph.notes));
  EXPECT_THAT(run_report(scenario, result, false), HasSubstr("listed graph of 2 gpu, 0 other vertices, 1 cable"));
}

// dgx-1v: 8 V100 in a hybrid cube mesh, 2 and 2 under a switch, two sockets.
TEST(Topology, WritesAHostForOtherTools) {
  const Outcome xml = stepsim("topology dgx-1v --nccl-xml -");
  EXPECT_EQ(xml.code, 0) << xml.err;
  EXPECT_THAT(xml.out, StartsWith("<system version=\"1\">"));
  EXPECT_THAT(xml.out, HasSubstr("<nvlink target="));
  const Outcome matrix = stepsim("topology dgx-1v --smi -");
  EXPECT_EQ(matrix.code, 0) << matrix.err;
  EXPECT_THAT(matrix.out, StartsWith("\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tCPU Affinity"));
  EXPECT_THAT(matrix.err, HasSubstr("rates and latencies: left out"));
  const Folder folder;
  const Outcome file = stepsim("topology dgx-1v --nccl-xml '" + folder.file("node.xml") + "'");
  EXPECT_THAT(file.out, HasSubstr("8 v100 in a hybrid cube mesh"));
  EXPECT_EQ(text_of(folder.file("node.xml")), xml.out);
  folder.write("node.yaml",
               "cluster: {kind: nccl_topology, file: node.xml, chip: v100}\nmodel: book-mlp\n"
               "parallelism: {mesh: {fsdp: 8}, batch: 64Ki tokens}\n");
  const Json back = json_of("'" + folder.file("node.yaml") + "'");
  for (const char* figure : {"chips", "bisection_bytes_per_s", "diameter_links"}) {
    EXPECT_EQ(back[figure], json_of("dgx-1v")[figure]) << figure;
  }
  EXPECT_EQ(stepsim("topology dgx-1v --nccl-xml - --smi -").code, 2);
  const Outcome torus = stepsim("topology tpu-v5e --set cluster.shape=[4,4] --smi -");
  EXPECT_EQ(torus.code, 2);
  EXPECT_THAT(torus.err, HasSubstr("--smi: expected a single host of GPUs"));
}

}  // namespace
}  // namespace stepsim
