// Rows of chapter 12 about networks: a node's switch, the leaves and the spine of an H100 SuperPOD, played by the clock.
//
// The book counts by levels: a collective takes as long as its slowest level alone. Played on one level it takes exactly
// that; over several it is run in 64 pieces that pass the levels one behind the other, and the first and the last piece
// find the other levels idle. Figures that differ by such a known factor name it.

#include <utility>

#include "book_rows.h"
#include "play.h"
#include "scenarios/catalog.h"
#include "scenarios/collective_run.h"
#include "scenarios/formulas.h"
#include "scenarios/system.h"
#include "schedules/plan.h"

namespace stepsim::book {

namespace {

using Figures = std::vector<Figure>;
using Overrides = std::vector<std::string>;

constexpr double nvlink = 450e9;  // of a GPU into its node's switch, one way
constexpr double nic = 50e9;      // of a GPU into its rail
constexpr double pieces = 64;     // most that an algorithm cuts an array into
constexpr double large = 0x1p34;  // bytes

void add(Answers& answers, const std::string& id, std::function<Figures(const Row&)> produce) {
  answers[id] = {Way::simulated, std::move(produce)};
}

Scenario superpod(const Overrides& overrides) {
  return load_system("h100-superpod", overrides, default_catalog());
}

/// Seconds of a collective in all groups along these axes at once ("node", "device"; empty: all GPUs are one group).
double seconds(const Overrides& overrides, CollectiveKind kind, const std::string& algorithm, double bytes,
               const std::vector<std::string>& axes = {}) {
  const Scenario scenario = superpod(overrides);
  return to_seconds(CollectiveRun(scenario, {kind, axes, algorithm}).play(static_cast<Bytes>(bytes)).time);
}

double gather(const Overrides& overrides, const std::string& algorithm, double bytes,
              const std::vector<std::string>& axes = {}) {
  return seconds(overrides, CollectiveKind::all_gather, algorithm, bytes, axes);
}

// --- Bandwidths: as many bytes as there are senders, at once ---------------------------------------------------------

/// Bytes/s in all, while each pair sends as many bytes.
double rate_of(const Cluster& cluster, const std::vector<std::pair<ChipId, ChipId>>& pairs) {
  constexpr Bytes each = 450'000'000;
  std::vector<Transfer> transfers;
  for (const auto& [from, to] : pairs) add_message(cluster, from, to, each, transfers);
  return static_cast<double>(each) * static_cast<double>(pairs.size()) / play_transfers(cluster, transfers);
}

/// GPU i of the first `senders` to GPU i + distance (round the end).
std::vector<std::pair<ChipId, ChipId>> shifted(const Cluster& cluster, ChipId senders, ChipId distance) {
  std::vector<std::pair<ChipId, ChipId>> pairs;
  for (ChipId from = 0; from < senders; ++from) pairs.emplace_back(from, (from + distance) % cluster.chips());
  return pairs;
}

void add_bandwidths(Answers& answers) {
  add(answers, "g_q1_node_bw", [](const Row&) {
    const Cluster node = build(superpod({}).cluster);
    return Figures{{"everyone to the next", rate_of(node, shifted(node, 8, 1))}};
  });
  add(answers, "g_q2_bisect", [](const Row&) {
    const Cluster node = build(superpod({}).cluster);
    std::vector<std::pair<ChipId, ChipId>> pairs;
    for (ChipId low = 0; low < 4; ++low) {
      for (ChipId high = 4; high < 8; ++high) pairs.insert(pairs.end(), {{low, high}, {high, low}});
    }
    return Figures{{"each half to the other, all pairs", rate_of(node, pairs)}};
  });
  add(answers, "g_su_bw", [](const Row&) {
    const Cluster pod = build(superpod({"cluster.nodes=[4, 32]"}).cluster);
    return Figures{{"one unit to the next", rate_of(pod, shifted(pod, 256, 256))}};
  });
  add(answers, "g_spine_bw", [](const Row&) {
    const Cluster pod = build(superpod({"cluster.nodes=[4, 32]"}).cluster);
    return Figures{{"every unit to the next", rate_of(pod, shifted(pod, 1024, 256))}};
  });
  add(answers, "g_gb200_node", [](const Row&) {  // 72 GPUs, as many NICs of 400 Gb/s: 18 trays of 4
    const Cluster racks = build(superpod({"cluster.gpus=72", "cluster.nics=72", "cluster.nodes=[2]"}).cluster);
    return Figures{{"one rack to the next", rate_of(racks, shifted(racks, 72, 72))}};
  });
}

// --- Inside a node ---------------------------------------------------------------------------------------------------

/// What the first pull and the last multicast of 64 pieces find idle: a member's link is alone with 7 of its 8 flows
/// for one piece at either end. 64 pieces of V/8/64 take (7 + 63 x 8 + 1) on a link up, and then 6 more on a link down.
constexpr double in_pieces_on_8 = (8 * pieces + 6) / (8 * pieces);

void add_inside_a_node(Answers& answers) {
  for (const char* id : {"g_q3_ag", "g_pq1_ag"}) {
    add(answers, id, [](const Row& r) {
      return Figures{{"ring", gather({}, "ring", r["bytes"])},
                     {"ring, exactly", gather({}, "ring", r["bytes"]), "des expected"},
                     {"one-shot", gather({}, "one-shot", r["bytes"]), "des expected"}};
    });
  }
  add(answers, "g_a2a_node", [](const Row& r) {
    const double buffer = large / 8;  // V / N: what one GPU has for all
    const double time = seconds({}, CollectiveKind::all_to_all, "pairwise", buffer);
    const double coefficient = time * nvlink / large;
    return Figures{{"", coefficient},
                   {"printed 1/N", coefficient, "printed", Relation::near, ring_factor(r["N"]),
                    "a GPU keeps its own part: (N-1)/N^2"}};
  });
  add(answers, "g_ag_bw_node", [](const Row&) { return Figures{{"", large / gather({}, "ring", large)}}; });
  add(answers, "g_sharp", [](const Row&) {
    const auto time = [](const std::string& algorithm) {
      return seconds({}, CollectiveKind::all_reduce, algorithm, large);
    };
    const double ratio = time("in-network") / time("ring");
    return Figures{{"never faster than V/w", ratio, "expected", Relation::at_least},
                   {"in 64 pieces", ratio, "expected", Relation::near, in_pieces_on_8,
                    "the first sum and the last copy have the links to themselves"}};
  });
}

// --- Leaves and spine ------------------------------------------------------------------------------------------------

/// V/T of levels that 64 pieces pass one behind the other: the slowest carries all of them, each other one more.
double pipelined(double slowest, double other) {
  return pieces / (pieces + slowest / other);
}

void add_levels(Answers& answers) {
  // Along one axis every GPU gathers what its rail has to gather, all rails at once: V is the sum over them.
  add(answers, "g_ag_bw_leaf", [](const Row& r) {
    const double of_rail = large / 8;
    const double whole = large / gather({"cluster.nodes=[32]"}, "hierarchical", large);
    return Figures{{"8 rails", 8 * of_rail / gather({"cluster.nodes=[32]"}, "ring", of_rail, {"node"})},
                   {"and the nodes' switches", whole, "expected", Relation::at_most},
                   {"and the nodes' switches, in 64 pieces", whole, "expected", Relation::near,
                    pipelined(r.expected, row("g_ag_bw_node").expected), "the last piece still passes the nodes"}};
  });
  add(answers, "g_ag_bw_spine", [](const Row&) {
    const double of_one = large / 256;
    return Figures{
        {"256 GPUs of each unit", 256 * of_one / gather({"cluster.nodes=[4, 32]"}, "ring", of_one, {"unit"})}};
  });
  add(answers, "g_q4_5_2node", [](const Row& r) {
    const double of_rail = large / 8;
    const double rails = 8 * of_rail / gather({"cluster.nodes=[2]"}, "ring", of_rail, {"node"});
    const double whole = large / gather({"cluster.nodes=[2]"}, "hierarchical", large);
    return Figures{{"the rails alone are no bottleneck", rails, "expected", Relation::near, 16 * nic / r.expected,
                    "2 x 400 GB/s: half of the array is there already"},
                   {"both levels", whole, "expected", Relation::at_most},
                   {"both levels, in 64 pieces", whole, "expected", Relation::near, pipelined(r.expected, 16 * nic),
                    "the first piece still passes the leaf"}};
  });
}

// --- Thresholds ------------------------------------------------------------------------------------------------------

constexpr double d_model = 8192;
constexpr double d_ff = 32768;

/// Tokens per GPU at which the backward of a matrix [D, F] takes as long as the all-reduce of its gradient: 4 D F FLOP
/// per token against 2 D F bytes.
double tokens_to_hide(double peak, double all_reduce_of_matrix) {
  constexpr double tokens = 4096;
  ChipSpec chip = ideal_chip("v5p");
  chip.flops["bf16"] = peak;
  const double matmuls = play_computes(
      {op_time(chip, "bf16", 2 * tokens * d_model * d_ff, 0), op_time(chip, "bf16", 2 * tokens * d_model * d_ff, 0)});
  return tokens * all_reduce_of_matrix / matmuls;
}

/// Of the gradient of the matrix.
double reduce(const Overrides& overrides, const std::string& algorithm) {
  return seconds(overrides, CollectiveKind::all_reduce, algorithm, 2 * d_model * d_ff);
}

/// Members of a ring send (N-1)/N of the array twice, where the book counts 2 V/W.
void add_thresholds(Answers& answers) {
  const char* const reason = "(N-1)/N: what a member has need not come in; the book counts 2 V/W";
  add(answers, "g_dp_node", [=](const Row& r) {
    return Figures{
        {"ring of 8", tokens_to_hide(r["C"], reduce({}, "ring")), "expected", Relation::near, ring_factor(8), reason}};
  });
  add(answers, "g_dp_ib", [=](const Row& r) {
    return Figures{{"rings over 16 nodes", tokens_to_hide(r["C"], reduce({"cluster.nodes=[16]"}, "ring")), "expected",
                    Relation::near, ring_factor(128), reason}};
  });
  add(answers, "g_dp_2node", [](const Row&) {
    const double peak = row("g_dp_ib")["C"];
    const double of_rail = 2 * d_model * d_ff / 8;
    const double rails = seconds({"cluster.nodes=[2]"}, CollectiveKind::all_reduce, "ring", of_rail, {"node"});
    const double both = tokens_to_hide(peak, reduce({"cluster.nodes=[2]"}, "hierarchical"));
    return Figures{{"8 rails", tokens_to_hide(peak, rails)},
                   {"with the nodes' switches, which are slower", both, "expected", Relation::at_least,
                    row("g_dp_node").expected * ring_factor(8) / row("g_dp_2node").expected,
                    "the node's level binds (quiz 4, question 5)"}};
  });
  // Along two and three nodes, Y = 16 and 24: 2 B D bytes of activations gathered and scattered by the rails against two
  // matmuls of 2 B D F / Y. Per GPU, math x Y is the same and comms x Y is linear, (Y - 8) V/W: the crossing lies between.
  add(answers, "g_tp_2node", [](const Row& r) {
    constexpr double tokens = 1 << 20;
    ChipSpec chip = ideal_chip("v5p");
    chip.flops["bf16"] = row("g_dp_ib")["C"];
    const auto margin = [&](int nodes) {  // comms less math, times Y
      const double ways = 8.0 * nodes;
      const Overrides size{"cluster.nodes=[" + std::to_string(nodes) + "]"};
      const double of_rail = 2 * tokens * d_model / 8;
      const Picoseconds matmul = op_time(chip, "bf16", 2 * tokens * d_model * r["F"] / ways, 0);
      return ways * (gather(size, "ring", of_rail, {"node"}) +
                     seconds(size, CollectiveKind::reduce_scatter, "ring", of_rail, {"node"}) -
                     play_computes({matmul, matmul}));
    };
    const double two = margin(2);
    const double three = margin(3);
    if (two > 0 || three < 0) throw std::logic_error("the crossing is not between two and three nodes");
    return Figures{{"", 16 - 8 * two / (three - two)}};
  });
  add(answers, "g_b200_tp", [=](const Row& r) {
    return Figures{{"ring of 8", tokens_to_hide(r["C"], reduce({"cluster.switch_rate=900 GB/s"}, "ring")), "expected",
                    Relation::near, ring_factor(8), reason}};
  });
  add(answers, "g_b200_dp", [=](const Row&) {
    const double time = reduce({"cluster.switch_rate=900 GB/s", "cluster.nodes=[16]"}, "ring");
    return Figures{{"rings over 16 nodes", tokens_to_hide(row("g_b200_tp")["C"], time), "expected", Relation::near,
                    ring_factor(128), reason}};
  });
}

}  // namespace

void add_gpu_networks(Answers& answers) {
  add_bandwidths(answers);
  add_inside_a_node(answers);
  add_levels(answers);
  add_thresholds(answers);
}

}  // namespace stepsim::book
