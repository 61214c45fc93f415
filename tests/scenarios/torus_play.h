// torus_play.h: one collective on a torus that has nothing else to do: when its chips leave, and what its links carried.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/collective.h"
#include "scenarios/layout.h"
#include "sim/simulation.h"

namespace stepsim::testing {

/// rate: bytes/s one way per link; latency: of a hop.
inline Cluster torus_of(std::vector<int> shape, std::vector<bool> wraps, std::int64_t rate, Picoseconds latency,
                        bool twisted = false) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.chip.name = "chip";
  spec.chip.axes = static_cast<int>(shape.size());
  spec.chip.link_rate = rate;
  spec.chip.link_latency = latency;
  spec.shape = std::move(shape);
  spec.wraps = std::move(wraps);
  spec.twisted = twisted;
  return build(spec);
}

struct PlayedOnTorus {
  std::vector<Picoseconds> ends;  // per chip
  Picoseconds end;
  Bytes carried = 0;  // over all links
  Bytes fullest = 0;  // over one
  std::uint32_t classes = 0;
};

/// In all groups of the spec's shape at once, folded or with every chip. The fold is checked against its definition.
inline PlayedOnTorus play_on_torus(const Cluster& cluster, const CollectiveSpec& spec, bool fold) {
  const Communication all = lone_pattern(Groups(cluster.axes(), spec.shape),
                                         collective_algorithms().at("algorithm", spec.algorithm).pattern(spec));
  const Traffic what = traffic(cluster, all);
  const Symmetry symmetry = fold ? Symmetry(cluster, what) : Symmetry(cluster);
  EXPECT_EQ(why_not_symmetric(cluster, what, symmetry), "");
  StepProgram program = one_collective();
  Network network;
  const std::vector<LinkClass> links = lay_out(cluster, all, {CollectiveRequest{}}, symmetry, program, network);
  const Timeline timeline = simulate(program, network, {.exact_steps = 1});
  PlayedOnTorus played;
  played.classes = timeline.classes;
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    played.ends.push_back(timeline.at(0, symmetry.class_of(chip), 0).end);
    played.end = std::max(played.end, played.ends.back());
  }
  for (LinkId link = 0; link < links.size(); ++link) {
    const Bytes bytes = timeline.links_at_end[0][link].bytes;
    played.carried += bytes * links[link].links;
    played.fullest = std::max(played.fullest, bytes);
  }
  return played;
}

}  // namespace stepsim::testing
