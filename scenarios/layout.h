// layout.h: the collectives of a plan laid on classes of chips and links: what the clock plays.
//
// One code for the folded cluster and for the whole one, where every chip is a class. A class sends as its lowest chip
// does, to the classes of that chip's neighbours; a group becomes the group of its members' classes.
#pragma once

#include <vector>

#include "scenarios/communication.h"

namespace stepsim {

/// Links that are alike, as one link of the folded network.
struct LinkClass {
  LinkId one = 0;           // a member, in the cluster
  std::uint32_t links = 1;  // how many there are
};

/// Completes the program with classes, communicators, plans and routes, and the network with the links that are used;
/// returns what each link of the network stands for.
std::vector<LinkClass> lay_out(const Cluster& cluster, const Communication& communication,
                               const std::vector<CollectiveRequest>& requests, const Symmetry& symmetry,
                               StepProgram& program, Network& network);

}  // namespace stepsim
