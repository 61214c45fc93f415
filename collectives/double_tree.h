// double_tree.h: two binary trees over the same nodes, such that nobody forwards in both.
//
// The first tree alternates leaves and inner nodes: node 0 on top, and the parent of a node whose lowest set bit is b
// is (rank ^ b) | 2b, or rank ^ b where that is out of range. Odd ranks are leaves. The second tree is its mirror
// image (an even number of nodes) or itself shifted by one (odd), so that even ranks are its leaves: with half of the
// array on either tree a node sends and receives each byte about once each way, whatever the number of nodes.
// Height: about log2 of the nodes.
//
//   0---------------8             with 14 nodes; mirrored, rank r plays 13 - r
//            ______/ \______
//           4               12
//         /   \            /  \                        .
//       2       6       10     13
//      / \     / \     /  \                            .
//     1   3   5   7   9   11
//
// For a broadcast or a reduction the trees are over nodes 1, 2, ... and node 0 is on top of both.
//
// Source: Sanders, Speck, Traeff 2009, "Two-tree algorithms for full bandwidth broadcast, reduction and scan";
// NVIDIA 2019, "Massively scale your deep learning training with NCCL 2.4" (the all-reduce, with two tops).
#pragma once

#include <cstdint>

#include "sim/transfer_plan.h"

namespace stepsim {

enum class TreeTops {
  two,  // each tree has a top of its own
  one   // node 0 is on top of both
};

/// Parent of a node in tree 0 or 1; no_member: it is the top.
std::uint32_t tree_parent(std::uint32_t nodes, std::uint32_t tree, TreeTops tops, std::uint32_t node);

}  // namespace stepsim
