#include "collectives/tree.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "collectives/double_tree.h"
#include "collectives/member_links.h"
#include "collectives/refusal.h"
#include "collectives/role_writer.h"

namespace stepsim {

namespace {

// Ports of a channel, numbered alike at both ends: of the transfers between a member and its parent, and each child.
constexpr std::uint32_t parent_port = 0;
constexpr std::uint32_t chain_port = 1;  // the next in the chain
constexpr std::uint32_t node_port = 2;   // and one more: heads of other nodes
constexpr std::uint32_t ports_per_channel = 4;

bool goes_up(const CollectiveSpec& spec) {
  return spec.kind != CollectiveKind::broadcast;
}
bool goes_down(const CollectiveSpec& spec) {
  return spec.kind != CollectiveKind::reduce;
}

void validate(const CollectiveSpec& spec) {
  SpecCheck(spec, "tree")
      .kinds({CollectiveKind::all_reduce, CollectiveKind::broadcast, CollectiveKind::reduce})
      .bytes()
      .chunk()
      .channels()
      .node()
      .root()
      .done();
}

std::uint32_t channels(const CollectiveSpec& spec) {
  return std::max(spec.channels, 2U);
}

// A channel's part of the array, cut in pieces: all of `bytes` but the last.
struct Pieces {
  std::uint32_t count = 0;
  Bytes bytes = 0;
  Bytes last = 0;
};

Pieces pieces_of(const CollectiveSpec& spec, std::uint32_t channel) {
  const Bytes count = channels(spec);
  const Bytes part = spec.bytes / count + (channel < spec.bytes % count ? 1 : 0);
  if (part == 0) return {};
  const Bytes least = shard_bytes(part, tree_max_pieces);
  const Bytes bytes = spec.chunk == 0 ? part : std::min(part, std::max(spec.chunk, least));
  const Bytes pieces = (part + bytes - 1) / bytes;
  return {static_cast<std::uint32_t>(pieces), bytes, part - (pieces - 1) * bytes};
}

// Who hangs below whom.
class Layout {
 public:
  explicit Layout(const CollectiveSpec& spec)
      : size_(spec.node),
        nodes_(members(spec.shape) / spec.node),
        rails_(std::max(channels(spec) / 2, 1U)),
        one_top_(spec.kind != CollectiveKind::all_reduce),
        root_(one_top_ ? spec.root : 0) {
    const TreeTops tops = one_top_ ? TreeTops::one : TreeTops::two;
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      children_[tree].assign(nodes_, {no_member, no_member});
      for (std::uint32_t node = 0; node < nodes_; ++node) {
        const std::uint32_t above = tree_parent(nodes_, tree, tops, node);
        parent_[tree].push_back(above);
        if (above == no_member) continue;
        std::array<std::uint32_t, 2>& below = children_[tree][above];
        below[below[0] == no_member ? 0 : 1] = node;
      }
    }
  }

  // The member at the other end of a channel's port, and the port's number there.
  [[nodiscard]] Port port(std::uint32_t member, std::uint32_t channel, std::uint32_t port) const {
    const Place place = place_of(member);
    const std::uint32_t link = (place.local + size_ - head(place.node, channel)) % size_;
    const std::uint32_t above = parent_[tree_of(channel)][place.node];
    if (port == chain_port) {
      if (link + 1 == size_) return {.to = no_member};
      return {.to = member_at({place.node, (place.local + 1) % size_}), .to_port = parent_port};
    }
    if (port == parent_port && link > 0)
      return {.to = member_at({place.node, (place.local + size_ - 1) % size_}), .to_port = chain_port};
    if (link > 0 || (port == parent_port && above == no_member)) return {.to = no_member};
    if (port == parent_port) {
      const std::uint32_t which = children_[tree_of(channel)][above][0] == place.node ? 0 : 1;
      return {.to = head_of(above, channel), .to_port = node_port + which};
    }
    const std::uint32_t below = children_[tree_of(channel)][place.node][port - node_port];
    if (below == no_member) return {.to = no_member};
    return {.to = head_of(below, channel), .to_port = parent_port};
  }

  // So that both channels of a head, one set of rails apart, use different trees: it sends as much in either way.
  [[nodiscard]] std::uint32_t tree_of(std::uint32_t channel) const { return (channel % rails_ + channel / rails_) % 2; }

  // Edges between a channel's top and its lowest member.
  [[nodiscard]] std::uint32_t height(std::uint32_t channel) const {
    std::uint32_t most = 0;
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      std::uint32_t edges = 0;
      for (std::uint32_t at = node; parent_[tree_of(channel)][at] != no_member; at = parent_[tree_of(channel)][at])
        ++edges;
      most = std::max(most, edges);
    }
    return most + size_ - 1;
  }

 private:
  struct Place {
    std::uint32_t node = 0;
    std::uint32_t local = 0;
  };

  // Nodes and local ranks are counted from the root's.
  [[nodiscard]] Place place_of(std::uint32_t member) const {
    return {(member / size_ + nodes_ - root_ / size_) % nodes_, (member % size_ + size_ - root_ % size_) % size_};
  }
  [[nodiscard]] std::uint32_t member_at(Place place) const {
    return (place.node + root_ / size_) % nodes_ * size_ + (place.local + root_ % size_) % size_;
  }
  [[nodiscard]] std::uint32_t head(std::uint32_t node, std::uint32_t channel) const {
    return one_top_ && node == 0 ? 0 : channel * std::max(size_ / rails_, 1U) % size_;
  }
  [[nodiscard]] std::uint32_t head_of(std::uint32_t node, std::uint32_t channel) const {
    return member_at({node, head(node, channel)});
  }

  std::uint32_t size_;
  std::uint32_t nodes_;
  std::uint32_t rails_;
  bool one_top_;
  std::uint32_t root_;
  std::array<std::vector<std::uint32_t>, 2> parent_;                     // [tree][node]
  std::array<std::vector<std::array<std::uint32_t, 2>>, 2> children_{};  // [tree][node]
};

// A lane of all pieces through one port, each as soon as it came in through all `sources`.
void pass_on(RoleWriter& role, std::uint32_t port, const std::vector<std::uint32_t>& sources, const Pieces& pieces) {
  const std::uint32_t like_first = pieces.last == pieces.bytes ? pieces.count : pieces.count - 1;
  std::vector<Need> each;
  std::vector<Need> last;
  for (const std::uint32_t source : sources) {
    each.push_back({source, 1, 1});
    last.push_back({source, static_cast<std::int32_t>(pieces.count), 0});
  }
  role.lane();
  role.run(port, like_first, pieces.bytes, each);
  role.run(port, pieces.count - like_first, pieces.last, last);
}

void add_channel(RoleWriter& role, const CollectiveSpec& spec, const Layout& layout, std::uint32_t member,
                 std::uint32_t channel) {
  const Pieces pieces = pieces_of(spec, channel);
  if (pieces.count == 0) return;
  const std::uint32_t first = channel * ports_per_channel;
  const bool is_top = layout.port(member, channel, parent_port).to == no_member;
  std::vector<std::uint32_t> below;
  for (std::uint32_t port = chain_port; port < ports_per_channel; ++port) {
    if (layout.port(member, channel, port).to != no_member) below.push_back(first + port);
  }
  if (goes_up(spec) && !is_top) pass_on(role, first + parent_port, below, pieces);
  if (!goes_down(spec)) return;
  std::vector<std::uint32_t> sources;
  if (!is_top) sources = {first + parent_port};
  if (is_top && goes_up(spec)) sources = below;
  for (const std::uint32_t port : below) pass_on(role, port, sources, pieces);
}

Bytes sent(const Role& role) {
  Bytes sum = 0;
  for (const Run& run : role.runs) sum += run.count * run.bytes;
  return sum;
}

}  // namespace

TransferPattern tree_pattern(const CollectiveSpec& spec) {
  validate(spec);
  TransferPattern pattern;
  pattern.members = members(spec.shape);
  pattern.ports = channels(spec) * ports_per_channel;
  const auto layout = std::make_shared<const Layout>(spec);
  RoleTable table;
  for (std::uint32_t member = 0; member < pattern.members; ++member) {
    RoleWriter role;
    for (std::uint32_t channel = 0; channel < channels(spec); ++channel) {
      add_channel(role, spec, *layout, member, channel);
    }
    table.add(role.role());
  }
  pattern.roles = table.roles();
  pattern.role_of = [role_of = table.role_of()](std::uint32_t member) { return role_of[member]; };
  pattern.port = [layout](std::uint32_t member, std::uint32_t port) {
    Port there = layout->port(member, port / ports_per_channel, port % ports_per_channel);
    there.to_port += port / ports_per_channel * ports_per_channel;
    return there;
  };
  return pattern;
}

double tree_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  validate(spec);
  if (members(spec.shape) < 2) return 0;
  const LinkCost link = best_link(rates);
  const Layout layout(spec);
  double bound = 0;
  for (std::uint32_t channel = 0; channel < channels(spec); ++channel) {
    const Pieces pieces = pieces_of(spec, channel);
    if (pieces.count == 0) continue;
    const double ahead = static_cast<double>((pieces.count - 1) * pieces.bytes) / link.rate;
    const std::uint32_t edges = layout.height(channel) * (goes_up(spec) && goes_down(spec) ? 2 : 1);
    bound = std::max(bound, ahead + edges * link.transfer(pieces.last));
  }
  for (const Role& role : tree_pattern(spec).roles) {
    bound = std::max(bound, static_cast<double>(sent(role)) / member_rate(spec, rates));
  }
  return bound;
}

}  // namespace stepsim
