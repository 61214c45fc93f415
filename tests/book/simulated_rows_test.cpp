// Rows that describe something that happens in time: transfers, collectives and ops, played by the clock.

#include <utility>

#include "book_rows.h"
#include "crossing.h"
#include "play.h"
#include "scenarios/formulas.h"
#include "schedules/plan.h"

namespace stepsim::book {

namespace {

using Figures = std::vector<Figure>;

void add(Answers& answers, const std::string& id, std::function<Figures(const Row&)> produce) {
  answers[id] = {Way::simulated, std::move(produce)};
}

// --- Systems ---------------------------------------------------------------------------------------------------------

/// A slice with ideal chips; wraps empty: by the rule of the generation.
Cluster slice(const std::string& generation, std::vector<int> shape, std::vector<bool> wraps, double link_latency) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.chip = ideal_chip(generation);
  spec.chip.link_latency = from_seconds(link_latency);
  spec.shape = std::move(shape);
  spec.wraps = std::move(wraps);
  return build(spec);
}

Cluster ring(const std::string& generation, int members, double link_latency = 0) {
  const bool planar = ideal_chip(generation).axes == 2;
  return planar ? slice(generation, {members, 1}, {true, false}, link_latency)
                : slice(generation, {members, 1, 1}, {true, false, false}, link_latency);
}

Cluster line(const std::string& generation, int members, double link_latency) {
  const bool planar = ideal_chip(generation).axes == 2;
  return planar ? slice(generation, {members, 1}, {false, false}, link_latency)
                : slice(generation, {members, 1, 1}, {false, false, false}, link_latency);
}

/// One mesh axis per hardware axis.
Mesh hardware_mesh(const Cluster& cluster) {
  std::vector<MeshAxis> axes;
  Placement placement;
  for (std::size_t axis = 0; axis < cluster.axes().size(); ++axis) {
    const HardwareAxis& hardware = cluster.axes()[axis];
    axes.push_back({hardware.name, hardware.extent});
    placement.digits.push_back({{static_cast<int>(axis), hardware.extent, 1}});
  }
  return Mesh(cluster, axes, placement);
}

CollectiveSpec collective(CollectiveKind kind, double bytes, RingStyle style) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.bytes = static_cast<Bytes>(bytes);
  spec.ring = style;
  return spec;
}

/// Seconds of one collective along these hardware axes.
double seconds(const Cluster& cluster, const std::vector<int>& axes, const CollectiveSpec& spec,
               LatencyModel latency_model = LatencyModel::additive) {
  return play_collectives(cluster, hardware_mesh(cluster), axes, {spec}, latency_model);
}

double gather(const Cluster& cluster, const std::vector<int>& axes, double bytes, RingStyle style) {
  return seconds(cluster, axes, collective(CollectiveKind::all_gather, bytes, style));
}

const char* const exact_factor = "an algorithm moves (N-1)/N of the array, the book's V/W counts all of it";

// --- One chip --------------------------------------------------------------------------------------------------------

Picoseconds streamed(const ChipSpec& chip, double bytes) {
  return op_time(chip, "bf16", 0, bytes);
}

void add_ops(Answers& answers) {
  add(answers, "t2_q1_load", [](const Row& r) {  // bf16: 2 bytes per parameter; the text's own HBM rate
    ChipSpec chip = ideal_chip("v4p");
    chip.memory_rate = r["W_hbm"];
    return Figures{{"", play_computes({streamed(chip, 2 * r["params"] / r["chips"])})}};
  });
  add(answers, "t2_q6_hbm", [](const Row& r) {
    return Figures{{"", play_computes({streamed(ideal_chip("v5e"), r["bytes"])})}};
  });
  add(answers, "t2_q6_flops", [](const Row& r) {
    return Figures{{"", play_computes({op_time(ideal_chip("v5e"), "bf16", r["flops"], 0)})}};
  });
  add(answers, "in_q3_load", [](const Row&) {  // int8 on 16 chips
    const auto bytes = static_cast<double>(parameters(model_of(row("in_q1_params"))).total);
    return Figures{{"", play_computes({streamed(ideal_chip("v5e"), bytes / 16)})}};
  });
  add(answers, "ai_hbm", [](const Row& r) {  // bf16 [8192, F/Y]
    return Figures{{"", play_computes({streamed(ideal_chip("v5e"), 2 * 8192 * r["F"] / r["Y"])})}};
  });
  add(answers, "ai_math", [](const Row&) {
    const Row& shape = row("ai_hbm");
    const double flop = 2 * row("ai_ici")["B"] * row("ai_ici")["D"] * shape["F"] / shape["Y"];
    return Figures{{"", play_computes({op_time(ideal_chip("v5e"), "bf16", flop, 0)})}};
  });
}

/// A decode step: all weights once for a batch, and every sequence's keys and values.
double decode_step(double parameter_count, double weight_bytes, double kv_bytes, double batch, double chips) {
  const ChipSpec chip = ideal_chip("v5e");
  const Picoseconds weights =
      op_time(chip, "bf16", 2 * parameter_count * batch / chips, parameter_count * weight_bytes / chips);
  return play_computes({weights, streamed(chip, kv_bytes * batch / chips)});
}

void add_decode_steps(Answers& answers) {
  for (const auto& [id, batch] : {std::pair{"in_pq_b4", 4}, std::pair{"in_pq_b256", 256}}) {
    add(answers, id, [batch = batch](const Row&) {
      const Row& r = row("in_pq_b4");
      return Figures{{"", decode_step(r["params"], 1, r["kv"] * r["T"], batch, r["chips"])}};
    });
  }
  for (const char* id : {"in_l13_b1", "in_l13_b16", "in_l13_b240"}) {  // bf16 on 8 chips, 8k context
    add(answers, id, [](const Row& r) {
      const double kv = 8192 * kv_bytes_per_token(40, 40, 128, 2);
      return Figures{{"", decode_step(13e9, 2, kv, r["B"], 8)}};
    });
  }
  add(answers, "ai_42_step", [](const Row&) {  // int8, batch 32, 8k context, 4x2
    const double kv = 8192 * kv_bytes_per_token(80, 8, 128, 1);
    return Figures{{"", decode_step(70e9, 1, kv, 32, 8)}};
  });
}

// --- Point to point --------------------------------------------------------------------------------------------------

double across_4x4(Bytes bytes, double link_latency) {
  const Cluster cluster = slice("v5e", {4, 4}, {}, link_latency);
  std::vector<Transfer> transfers;
  add_message(cluster, 0, 15, bytes, transfers);
  return play_transfers(cluster, transfers);
}

/// Every chip but the corner sends its sixteenth to the corner, by all shortest routes.
double gather_into_corner(double bytes) {
  const Cluster cluster = slice("v5e", {4, 4}, {}, 0);
  std::vector<Transfer> transfers;
  for (ChipId chip = 1; chip < cluster.chips(); ++chip) {
    add_message(cluster, chip, 0, static_cast<Bytes>(bytes / cluster.chips()), transfers);
  }
  return play_transfers(cluster, transfers);
}

/// Each of 16 chips loads its share from its host at once. Hosts and PCIe links are there when slices are
/// joined.
double load_from_hosts(double bytes, double links) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.chip = ideal_chip("v5e");
  spec.chip.pcie_latency = Picoseconds(0);
  spec.shape = {4, 4};
  spec.slices = 2;
  const Cluster cluster = build(spec);
  std::vector<Transfer> transfers;
  for (LinkId link = 0; link < cluster.links(); ++link) {
    const GraphLink graph_link = cluster.link(link);
    if (graph_link.kind != "pcie down" || transfers.size() >= static_cast<std::size_t>(links)) continue;
    transfers.push_back({cluster.vertex(graph_link.to).chip, {link}, static_cast<Bytes>(bytes / links)});
  }
  return play_transfers(cluster, transfers);
}

void add_point_to_point(Answers& answers) {
  add(answers, "t2_q6_pcie", [](const Row& r) { return Figures{{"", load_from_hosts(r["bytes"], r["links"])}}; });
  add(answers, "t2_q5_first_byte", [](const Row& r) {
    return Figures{{"", across_4x4(1, r["hop_latency"]), "des expected"}};
  });
  add(answers, "t2_q5_transfer", [](const Row& r) {
    return Figures{{"", across_4x4(static_cast<Bytes>(r["bytes"]), r["hop_latency"]), "des expected"}};
  });
  add(answers, "t2_q6_ici", [](const Row& r) {
    const char* const reason = "the corner holds its own sixteenth already";
    const double time = gather_into_corner(r["bytes"]);
    return Figures{{"", time},
                   {"ingress of the corner", time, "lower_bound", Relation::at_least, ring_factor(16), reason},
                   {"twice that", time, "lower_bound", Relation::at_most, 2, "any real schedule is within 2x"}};
  });
}

// --- Collectives of chapter 3 ----------------------------------------------------------------------------------------

void add_small_gathers(Answers& answers) {
  add(answers, "s3_pq2_ring", [](const Row& r) {
    const Cluster four = ring("v5e", 4);
    return Figures{{"whole shards", gather(four, {0}, r["bytes"], RingStyle::whole_shards), "whole_shard"},
                   {"halves", gather(four, {0}, r["bytes"], RingStyle::halves), "optimal"}};
  });
  add(answers, "s3_pq2_line", [](const Row& r) {
    return Figures{{"1 us per hop", gather(line("v5e", 4, 1e-6), {0}, r["bytes"], RingStyle::halves), "des expected"},
                   {"no latency", gather(line("v5e", 4, 0), {0}, r["bytes"], RingStyle::halves)}};
  });
  add(answers, "s3_pq2_small", [](const Row& r) {
    const CollectiveSpec spec = collective(CollectiveKind::all_gather, r["bytes"], RingStyle::halves);
    const Cluster four = line("v5e", 4, r["T_min"]);
    return Figures{{"max", seconds(four, {0}, spec, LatencyModel::max), "max_model"},
                   {"additive", seconds(four, {0}, spec, LatencyModel::additive), "additive_model"}};
  });
  add(answers, "s3_q3", [](const Row& r) {
    return Figures{{"", gather(ring("v4p", 4, r["T_min"]), {0}, 256, RingStyle::whole_shards), "des expected"}};
  });
}

/// Bytes that stream as long as the latency alone takes: where a time by size turns from flat to rising.
double latency_bound(double latency_alone, double streaming_alone, double streamed_bytes) {
  return latency_alone * streamed_bytes / streaming_alone;
}

void add_latency_bounds(Answers& answers) {
  add(answers, "s3_lat_bytes_v5e", [](const Row& r) {
    const auto hop = [](Bytes bytes, double latency) {
      const Cluster two = line("v5e", 2, latency);
      std::vector<Transfer> transfers;
      add_message(two, 0, 1, bytes, transfers);
      return play_transfers(two, transfers);
    };
    return Figures{{"", latency_bound(hop(1, r["T_min"]), hop(1 << 24, 0), 1 << 24)}};
  });
  add(answers, "in_lat_8way", [](const Row&) {  // a ring of 8: N/2 hops against V/W
    constexpr double large = 1 << 27;
    return Figures{{"ring of 8", latency_bound(gather(ring("v5e", 8, 1e-6), {0}, 8, RingStyle::whole_shards),
                                               gather(ring("v5e", 8), {0}, large, RingStyle::whole_shards), large)}};
  });
}

void add_gathers_of_4x4x4(Answers& answers) {
  const auto cube = [] { return slice("v4p", {4, 4, 4}, {}, 0); };
  add(answers, "s3_q2a", [=](const Row& r) {
    const double bytes = r["bytes"] / r["Y"];
    return Figures{{"whole shards", gather(cube(), {0}, bytes, RingStyle::whole_shards), "whole_shard"},
                   {"halves", gather(cube(), {0}, bytes, RingStyle::halves), "optimal"}};
  });
  add(answers, "s3_q2b", [=](const Row& r) {
    const double time = gather(cube(), {0, 1}, r["bytes"], RingStyle::halves);
    return Figures{{"halves", time, "lower_bound"},
                   {"halves", time, "lower_bound", Relation::at_least},
                   {"halves", time, "expected", Relation::near, ring_factor(16), exact_factor}};
  });
  add(answers, "s3_q2c", [=](const Row& r) {
    const double bytes = r["bytes"] / (r["X"] * r["Y"]);
    const auto reduce = [&](RingStyle style) {
      return seconds(cube(), {2}, collective(CollectiveKind::all_reduce, bytes, style));
    };
    return Figures{{"whole shards", reduce(RingStyle::whole_shards)}, {"halves", reduce(RingStyle::halves), "optimal"}};
  });
  add(answers, "s3_q2a_fast", [=](const Row&) {
    const double bytes = row("s3_q2a")["bytes"] / row("s3_q2a")["Y"];
    return Figures{{"halves", gather(cube(), {0, 2}, bytes, RingStyle::halves), "expected", Relation::near,
                    ring_factor(16), exact_factor}};
  });
  add(answers, "s3_q2b_fast", [=](const Row&) {
    return Figures{{"halves", gather(cube(), {0, 1, 2}, row("s3_q2b")["bytes"], RingStyle::halves)}};
  });
}

/// Every member sends a chunk to every other at once; what goes to the antipode goes both ways round.
double all_to_all(const Cluster& cluster, Bytes array) {
  const auto members = static_cast<Bytes>(cluster.chips());
  std::vector<Transfer> transfers;
  for (ChipId from = 0; from < cluster.chips(); ++from) {
    for (ChipId to = 0; to < cluster.chips(); ++to) {
      if (from != to) add_message(cluster, from, to, array / (members * members), transfers);
    }
  }
  return play_transfers(cluster, transfers);
}

void add_other_collectives(Answers& answers) {
  add(answers, "s3_a2a_ring", [](const Row&) {
    const Cluster sixteen = ring("v5p", 16);
    constexpr Bytes array = 1 << 24;
    return Figures{{"", all_to_all(sixteen, array) / gather(sixteen, {0}, array, RingStyle::whole_shards)}};
  });
  add(answers, "ai_ici", [](const Row& r) {
    return Figures{{"whole shards, closed ring as the book has it",
                    gather(ring("v5e", 8), {0}, 2 * r["B"] * r["D"], RingStyle::whole_shards)}};
  });
}

// --- Derived rows of chapter 5 ---------------------------------------------------------------------------------------

/// The two matmuls of a layer's forward on one chip.
double forward_math(double tokens, double d_model, double d_ff) {
  const ChipSpec chip = ideal_chip("v5p");
  const double bytes = 2 * (tokens * d_model + d_model * d_ff + tokens * d_ff);
  const Picoseconds matmul = op_time(chip, "bf16", 2 * tokens * d_model * d_ff, bytes);
  return play_computes({matmul, matmul});
}

/// A gather before and a reduce-scatter after the layer's matmuls.
std::vector<CollectiveSpec> gather_and_scatter(double bytes, RingStyle style) {
  return {collective(CollectiveKind::all_gather, bytes, style),
          collective(CollectiveKind::reduce_scatter, bytes, style)};
}

void add_4x4x4_layer(Answers& answers) {
  add(answers, "der_444_math", [](const Row& r) {  // X = 16, Y = 4
    return Figures{{"", forward_math(r["B"] / 16, r["D"], r["F"] / 4)}};
  });
  add(answers, "der_444_fsdp", [](const Row& r) {
    const double weights = 2 * row("der_444_math")["D"] * row("der_444_math")["F"] / r["Y"];
    const CollectiveSpec one = collective(CollectiveKind::all_gather, weights, RingStyle::halves);
    const Cluster cube = slice("v5p", {4, 4, 4}, {}, 0);
    const double time = play_collectives(cube, hardware_mesh(cube), {0, 1}, {one, one});
    return Figures{{"halves", time, "lower_bound", Relation::at_least}, {"halves", time}};
  });
  add(answers, "der_444_tp", [](const Row& r) {
    const double activations = 2 * row("der_444_math")["B"] / r["X"] * row("der_444_math")["D"];
    const Cluster cube = slice("v5p", {4, 4, 4}, {}, 0);
    const auto time = [&](RingStyle style) {
      return play_collectives(cube, hardware_mesh(cube), {2}, gather_and_scatter(activations, style));
    };
    return Figures{{"whole shards", time(RingStyle::whole_shards), "whole_shard"},
                   {"halves", time(RingStyle::halves), "optimal"}};
  });
}

/// Two slices; each chip reduces its share of a layer's gradients with its twin in the other slice.
double two_pods(double share_bytes) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.chip = ideal_chip("v5p");
  spec.chip.pcie_latency = Picoseconds(0);
  spec.chip.dcn_latency = Picoseconds(0);
  spec.shape = {2, 2, 1};
  spec.slices = 2;
  const Cluster cluster = build(spec);
  for (std::size_t axis = 0; axis < cluster.axes().size(); ++axis) {
    if (cluster.axes()[axis].name != "dcn") continue;
    return seconds(cluster, {static_cast<int>(axis)},
                   collective(CollectiveKind::all_reduce, share_bytes, RingStyle::halves));
  }
  throw std::logic_error("two slices have no axis 'dcn'");
}

void add_gradient_reduces(Answers& answers) {
  add(answers, "der_dcn_layer", [](const Row& r) {
    const double share = 4 * r["D"] * r["F"] / r["M"];
    return Figures{{"two pods", two_pods(share), "two_pods"},
                   {"two pods", two_pods(share), "expected", Relation::near, ring_factor(2), "(P-1)/P for P pods"}};
  });
  add(answers, "der_dp_ring16_layer", [](const Row& r) {
    const auto reduce = [&](RingStyle style) {
      return seconds(ring("v5p", 16), {0}, collective(CollectiveKind::all_reduce, 4 * r["D"] * r["F"], style));
    };
    return Figures{{"whole shards", reduce(RingStyle::whole_shards)},
                   {"halves", reduce(RingStyle::halves), "lower_bound", Relation::at_least},
                   {"halves", reduce(RingStyle::halves)}};
  });
}

/// A mesh axis on the first part of a 16-ring: the segments are open, and two or four of them share the ring.
Mesh segments(const Cluster& sixteen, int members) {
  const Placement placement{{{{0, 16 / members, members}}, {{0, members, 1}}}};
  return Mesh(sixteen, {{"outer", 16 / members}, {"tensor", members}}, placement);
}

void add_segments(Answers& answers) {
  add(answers, "der_512x8_segment", [](const Row& r) {
    constexpr double tokens_per_group = 4096;  // B/X; it cancels
    const Cluster sixteen = ring("v5p", 16);
    const double comms = play_collectives(sixteen, segments(sixteen, 8), {1},
                                          gather_and_scatter(2 * tokens_per_group * 8192, RingStyle::halves));
    return Figures{{"", comms / forward_math(tokens_per_group, 8192, 32768 / r["Y"]), "des expected"}};
  });
  add(answers, "der_4seg", [](const Row&) {
    constexpr double bytes = 1 << 26;
    const Cluster sixteen = ring("v5p", 16);
    const CollectiveSpec spec = collective(CollectiveKind::all_gather, bytes, RingStyle::halves);
    const double open = play_collectives(sixteen, segments(sixteen, 4), {1}, {spec});
    return Figures{{"", open / gather(ring("v5p", 4), {0}, bytes, RingStyle::whole_shards)}};
  });
}

// --- Figures of chapter 5: whole steps of the MLP stack on 4x4x4 -----------------------------------------------------

void add_cube_figures(Answers& answers) {
  add(answers, "fig_444_fsdp_cross", [](const Row&) {
    return Figures{{"halves", crossing(fully_sharded("  shape: [4, 4, 4]\n", 64, "halves"))}};
  });
  add(answers, "fig_444_tp_ratio", [](const Row& r) {  // compute / communication grows with F; 64 ways divide 29952
    const Sides sides = tensor_parallel("  shape: [4, 4, 4]\n", static_cast<int>(r["N"]), "halves");
    const LayerTimes added = added_layer(sides, {"model.d_ff=29952"});
    return Figures{{"halves", added.compute / added.comms * r["F"] / 29952}};
  });
}

}  // namespace

void add_simulated(Answers& answers) {
  add_ops(answers);
  add_decode_steps(answers);
  add_point_to_point(answers);
  add_small_gathers(answers);
  add_latency_bounds(answers);
  add_gathers_of_4x4x4(answers);
  add_other_collectives(answers);
  add_4x4x4_layer(answers);
  add_gradient_reduces(answers);
  add_segments(answers);
  add_cube_figures(answers);
}

}  // namespace stepsim::book
