#include "collectives/double_tree.h"

namespace stepsim {

namespace {

std::uint32_t first_tree_parent(std::uint32_t nodes, std::uint32_t node) {
  if (node == 0) return no_member;
  const std::uint32_t low = node & (~node + 1);
  const std::uint32_t above = (node ^ low) | (low << 1);
  return above < nodes ? above : node ^ low;
}

// The place in the first tree that a node has in the second one, and back.
std::uint32_t place_with_two_tops(std::uint32_t nodes, std::uint32_t node) {
  return nodes % 2 == 0 ? nodes - 1 - node : (node + nodes - 1) % nodes;
}
std::uint32_t node_with_two_tops(std::uint32_t nodes, std::uint32_t place) {
  return nodes % 2 == 0 ? nodes - 1 - place : (place + 1) % nodes;
}

// The same among nodes 1 ... nodes - 1.
std::uint32_t place_below_one_top(std::uint32_t nodes, std::uint32_t node) {
  if (node == 0) return 0;
  return nodes % 2 == 1 ? nodes - node : node == 1 ? nodes - 1 : node - 1;
}
std::uint32_t node_below_one_top(std::uint32_t nodes, std::uint32_t place) {
  if (place == 0) return 0;
  return nodes % 2 == 1 ? nodes - place : place == nodes - 1 ? 1 : place + 1;
}

}  // namespace

std::uint32_t tree_parent(std::uint32_t nodes, std::uint32_t tree, TreeTops tops, std::uint32_t node) {
  if (tree == 0) return first_tree_parent(nodes, node);
  const bool one = tops == TreeTops::one;
  const std::uint32_t place = one ? place_below_one_top(nodes, node) : place_with_two_tops(nodes, node);
  const std::uint32_t above = first_tree_parent(nodes, place);
  if (above == no_member) return no_member;
  return one ? node_below_one_top(nodes, above) : node_with_two_tops(nodes, above);
}

}  // namespace stepsim
