#include "topology/symmetry.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace stepsim {
namespace {

/// What a link's place is told apart by: its faulty links.
using Marks = std::map<std::uint32_t, std::vector<std::tuple<std::uint32_t, std::int64_t, bool>>>;

/// The chip `hops` along an axis from each chip, no_node past an open end.
LabelledEdges steps(const Cluster& cluster, int axis, int hops) {
  const HardwareAxis& own = cluster.axes()[static_cast<std::size_t>(axis)];
  std::uint32_t stride = 1;
  for (std::size_t a = static_cast<std::size_t>(axis) + 1; a < cluster.axes().size(); ++a) {
    stride *= static_cast<std::uint32_t>(cluster.axes()[a].extent);
  }
  LabelledEdges to;
  to.reserve(cluster.places());
  if (!own.twist.empty()) {
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) to.push_back(cluster.step(chip, axis, hops));
  }
  while (to.size() < cluster.chips()) {
    const auto line = static_cast<std::uint32_t>(to.size());
    for (int at = 0; at < own.extent; ++at) {
      const int there = at + hops;
      const bool round = own.wraps || own.direct;
      const bool leaves = there < 0 || there >= own.extent;
      const auto wrapped = static_cast<std::uint32_t>(((there % own.extent) + own.extent) % own.extent);
      for (std::uint32_t inner = 0; inner < stride; ++inner) {
        to.push_back(leaves && !round ? no_node : line + wrapped * stride + inner);
      }
    }
  }
  to.resize(cluster.places(), no_node);
  return to;
}

/// Places, their colours and the edges between them, for the word form.
class Words {
 public:
  Words(const Cluster& cluster, const Traffic& traffic) : cluster_(cluster), traffic_(traffic) {}
  Partition fold();

 private:
  /// One way of going on: a step along an axis of ICI, or a jump along a direct one. Where it is used.
  struct Edges {
    bool everywhere = false;
    LabelledEdges to;  // unless everywhere
  };

  void colour_places();
  void note_move(const Move& move);
  void walk(LabelledEdges& at, Edges& edges, std::pair<int, int> way, int steps_left);
  void note_each(const Move& move);
  void note_places(std::vector<LabelledEdges>& through, std::uint32_t from, const std::vector<LinkId>& route);
  void note_sends();
  void mark(ChipId chip, const std::vector<LinkId>& route);
  [[nodiscard]] std::uint32_t word(const std::vector<LinkId>& route);
  void add_way_edges();
  void add_place_edges();

  const Cluster& cluster_;
  const Traffic& traffic_;
  std::vector<std::uint32_t> colours_;
  std::vector<LabelledEdges> edges_;
  std::map<std::pair<int, int>, Edges> edges_of_;              // by axis and step
  std::map<std::vector<std::uint32_t>, std::uint32_t> words_;  // ports of a route
  bool hosts_ = false;                                         // does any route lead through hosts?
  std::vector<LabelledEdges> tree_ = cluster_.edges_between_places();
};

void Words::colour_places() {
  colours_ = traffic_.colours;
  const std::uint32_t host = colours_.empty() ? 0 : *std::max_element(colours_.begin(), colours_.end()) + 1;
  colours_.resize(cluster_.places(), host);
  Marks marks;
  for (const LinkId id : cluster_.faulty_links()) {
    const LinkOwner owner = cluster_.owner(id);
    const GraphLink link = cluster_.link(id);
    marks[owner.place].emplace_back(owner.port, link.capacity, link.down);
  }
  if (marks.empty()) return;
  std::map<Marks::mapped_type, std::uint32_t> kinds;
  std::vector<std::uint32_t> feature(colours_.size(), 0);
  for (const auto& [place, links] : marks) {
    feature[place] = kinds.try_emplace(links, static_cast<std::uint32_t>(kinds.size() + 1)).first->second;
  }
  tell_apart(colours_, feature);
}

/// The route's ports, as a number that is not 0.
std::uint32_t Words::word(const std::vector<LinkId>& route) {
  std::vector<std::uint32_t> ports;
  for (const LinkId link : route) ports.push_back(cluster_.owner(link).port);
  return words_.try_emplace(ports, static_cast<std::uint32_t>(words_.size() + 1)).first->second;
}

/// Ports of ICI count 2 x axis, and 1 more downward (Cluster::owner).
std::pair<int, int> way_of(std::uint32_t port) {
  return {static_cast<int>(port / 2), port % 2 == 0 ? 1 : -1};
}

/// Notes which ports a route uses, and where.
void Words::mark(ChipId chip, const std::vector<LinkId>& route) {
  ChipId at = chip;
  for (const LinkId link : route) {
    const LinkOwner owner = cluster_.owner(link);
    const GraphLink one = cluster_.link(link);
    if (owner.place != at || one.to >= cluster_.chips()) {  // up to a host, between hosts, down from one
      hosts_ = true;
      continue;
    }
    Edges& edges = edges_of_[way_of(owner.port)];
    if (edges.to.empty()) edges.to.assign(cluster_.places(), no_node);
    edges.to[at] = one.to;
    at = one.to;
  }
}

void Words::note_move(const Move& move) {
  if (!move.by.empty()) {
    std::vector<std::uint32_t> sends(colours_.size(), 0);
    std::copy(move.by.begin(), move.by.end(), sends.begin());
    tell_apart(colours_, sends);
  }
  if (cluster_.ways_differ() || (!tree_.empty() && !move.by.empty())) {
    note_each(move);
    return;
  }
  LabelledEdges at;  // where the senders' transfers are after the legs so far
  for (ChipId chip = 0; chip < move.by.size(); ++chip) at.push_back(move.by[chip] ? chip : no_node);
  for (const Hops& leg : move.legs()) {
    const bool direct = cluster_.axes()[static_cast<std::size_t>(leg.axis)].direct;
    const int step = direct ? leg.hops : leg.hops < 0 ? -1 : 1;
    hosts_ = hosts_ || direct;
    Edges& edges = edges_of_[{leg.axis, step}];
    if (move.by.empty()) {
      edges.everywhere = true;
    } else {
      walk(at, edges, {leg.axis, step}, direct ? 1 : std::abs(leg.hops));
    }
  }
}

/// Takes all transfers some steps on, and notes the edges that they use.
void Words::walk(LabelledEdges& at, Edges& edges, std::pair<int, int> way, int steps_left) {
  const LabelledEdges next = steps(cluster_, way.first, way.second);
  if (edges.to.empty()) edges.to.assign(cluster_.places(), no_node);
  for (std::uint32_t& place : at) {
    if (place == no_node) continue;
    for (int step = 0; step < steps_left; ++step) place = edges.to[place] = next[place];
  }
}

/// In a tree of switches a word does not say which places it leads through: each is an edge by itself.
void Words::note_places(std::vector<LabelledEdges>& through, std::uint32_t from, const std::vector<LinkId>& route) {
  if (tree_.empty()) return;
  for (std::size_t hop = 0; hop < route.size(); ++hop) {
    if (through.size() <= hop) through.emplace_back(cluster_.places(), no_node);
    through[hop][from] = cluster_.owner(route[hop]).place;
  }
}

/// Round links that are down, and where flows are hashed, words differ from chip to chip.
void Words::note_each(const Move& move) {
  std::vector<std::uint32_t> feature(colours_.size(), 0);
  std::vector<LabelledEdges> through;
  LabelledEdges to(cluster_.places(), no_node);
  for (ChipId chip = 0; chip < cluster_.chips(); ++chip) {
    if (!move.by.empty() && !move.by[chip]) continue;
    const std::vector<LinkId> route = move.route(cluster_, chip);
    mark(chip, route);
    note_places(through, chip, route);
    feature[chip] = word(route);
    to[chip] = move.end(cluster_, chip);
  }
  tell_apart(colours_, feature);
  edges_.insert(edges_.end(), through.begin(), through.end());
  if (hosts_) edges_.push_back(std::move(to));  // words through hosts do not tell where they lead
}

void Words::note_sends() {
  struct Kind {
    LabelledEdges to;
    std::vector<std::uint32_t> feature;  // words
    std::vector<LabelledEdges> through;
  };
  std::map<std::uint32_t, Kind> kinds;
  for (const Send& send : traffic_.sends) {
    auto& [to, feature, through] = kinds[send.kind];
    if (to.empty()) {
      to.assign(cluster_.places(), no_node);
      feature.assign(cluster_.places(), 0);
    }
    const std::vector<LinkId> route = cluster_.routes(send.from, send.to).at(send.route).links;
    mark(send.from, route);
    note_places(through, send.from, route);
    to[send.from] = send.to;
    feature[send.from] = word(route);
  }
  for (auto& [number, kind] : kinds) {
    tell_apart(colours_, kind.feature);
    edges_.push_back(std::move(kind.to));
    edges_.insert(edges_.end(), kind.through.begin(), kind.through.end());
  }
}

/// What everyone uses is, seen from the other end, what everyone uses backwards: one of the two will do.
void Words::add_way_edges() {
  for (auto& [way, edges] : edges_of_) {
    const auto back = edges_of_.find({way.first, -way.second});
    if (!edges.everywhere) {
      edges_.push_back(std::move(edges.to));
    } else if (way.second > 0 || back == edges_of_.end() || !back->second.everywhere) {
      edges_.push_back(steps(cluster_, way.first, way.second));
    }
  }
}

void Words::add_place_edges() {
  edges_.insert(edges_.end(), tree_.begin(), tree_.end());
  if (!hosts_ || !tree_.empty()) return;
  LabelledEdges to(cluster_.places(), no_node);
  for (ChipId chip = 0; chip < cluster_.chips(); ++chip) to[chip] = cluster_.chips() + cluster_.host_of(chip);
  edges_.push_back(std::move(to));
}

Partition Words::fold() {
  colour_places();
  for (const Move& move : traffic_.moves) note_move(move);
  note_sends();
  add_way_edges();
  add_place_edges();
  return refine(colours_, edges_);
}

/// Calls f(kind, from, to, route) for every template. Kinds of moves count first.
template <class F>
void for_each_template(const Cluster& cluster, const Traffic& traffic, F f) {
  const auto moves = static_cast<std::uint32_t>(traffic.moves.size());
  for (std::uint32_t kind = 0; kind < moves; ++kind) {
    const Move& move = traffic.moves[kind];
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
      if (!move.by.empty() && !move.by[chip]) continue;
      f(kind, chip, move.end(cluster, chip), move.route(cluster, chip));
    }
  }
  for (const Send& send : traffic.sends) {
    f(moves + send.kind, send.from, send.to, cluster.routes(send.from, send.to).at(send.route).links);
  }
}

/// Chips, templates and links as nodes, for the listed form.
class Listing {
 public:
  Listing(const Cluster& cluster, const Traffic& traffic) : chips_(cluster.chips()) {
    for_each_template(cluster, traffic,
                      [&](std::uint32_t kind, ChipId from, ChipId to, const std::vector<LinkId>& route) {
                        templates_.push_back({kind, from, to, route});
                        longest_ = std::max(longest_, route.size());
                      });
    colour(cluster, traffic);
    connect(cluster);
  }

  [[nodiscard]] Partition fold() const { return refine(colours_, edges_); }
  [[nodiscard]] std::uint32_t first_link() const { return chips_ + static_cast<std::uint32_t>(templates_.size()); }

 private:
  struct Template {
    std::uint32_t kind = 0;
    ChipId from = 0;
    ChipId to = 0;
    std::vector<LinkId> route;
  };

  void colour(const Cluster& cluster, const Traffic& traffic) {
    std::map<std::tuple<int, std::uint64_t, std::int64_t>, std::uint32_t> known;
    const auto add = [&](int what, std::uint64_t a, std::int64_t b) {
      colours_.push_back(known.try_emplace({what, a, b}, static_cast<std::uint32_t>(known.size())).first->second);
    };
    for (const std::uint32_t one : traffic.colours) add(0, one, 0);
    for (const Template& one : templates_) add(1, one.kind, static_cast<std::int64_t>(one.route.size()));
    for (LinkId id = 0; id < cluster.links(); ++id) {
      const GraphLink link = cluster.link(id);
      add(2, static_cast<std::uint64_t>(link.capacity), link.latency.count());
    }
  }

  void connect(const Cluster& cluster) {
    const std::size_t nodes = first_link() + cluster.links();
    edges_.assign(2 + longest_, LabelledEdges(nodes, no_node));
    for (std::size_t t = 0; t < templates_.size(); ++t) {
      const std::size_t node = chips_ + t;
      edges_[0][node] = templates_[t].from;
      edges_[1][node] = templates_[t].to;
      for (std::size_t hop = 0; hop < templates_[t].route.size(); ++hop) {
        edges_[2 + hop][node] = first_link() + templates_[t].route[hop];
      }
    }
  }

  std::uint32_t chips_;
  std::vector<Template> templates_;
  std::size_t longest_ = 0;
  std::vector<std::uint32_t> colours_;
  std::vector<LabelledEdges> edges_;
};

}  // namespace

std::vector<Hops> Move::legs() const {
  std::vector<Hops> all{{axis, hops}};
  all.insert(all.end(), then.begin(), then.end());
  return all;
}

ChipId Move::end(const Cluster& cluster, ChipId from) const {
  for (const Hops& leg : legs()) from = cluster.step(from, leg.axis, leg.hops);
  return from;
}

std::vector<LinkId> Move::route(const Cluster& cluster, ChipId from) const {
  const auto direct = [&](const Hops& leg) { return cluster.axes()[static_cast<std::size_t>(leg.axis)].direct; };
  const std::vector<Hops> all = legs();
  if (all.size() > 1 && std::all_of(all.begin(), all.end(), direct)) {
    return cluster.routes(from, end(cluster, from)).front().links;
  }
  std::vector<LinkId> links;
  for (const Hops& leg : all) {
    cluster.along(from, leg.axis, leg.hops, links);
    from = cluster.step(from, leg.axis, leg.hops);
  }
  return links;
}

Symmetry::Symmetry(const Cluster& cluster) : cluster_(&cluster), first_(cluster.chips()), size_(cluster.chips(), 1) {
  std::iota(first_.begin(), first_.end(), 0U);
}

Symmetry::Symmetry(const Cluster& cluster, const Traffic& traffic) : cluster_(&cluster) {
  if (cluster.routes_are_words()) {
    form_ = Form::words;
    nodes_ = Words(cluster, traffic).fold();
  } else {
    form_ = Form::listed;
    const Listing listing(cluster, traffic);
    first_link_ = listing.first_link();
    nodes_ = listing.fold();
  }
  take_chips(nodes_);
}

/// Chips are the lowest nodes and no other node has their colours, so their classes count first.
void Symmetry::take_chips(const Partition& partition) {
  class_of_.assign(partition.class_of.begin(), partition.class_of.begin() + cluster_->chips());
  for (std::uint32_t one = 0; one < partition.classes() && partition.first[one] < cluster_->chips(); ++one) {
    first_.push_back(partition.first[one]);
    size_.push_back(partition.size[one]);
  }
}

Symmetry::LinkClass Symmetry::link_class(LinkId link) const {
  if (form_ == Form::identity) return {link, 1};
  if (form_ == Form::listed) {
    const std::uint32_t one = nodes_.class_of[first_link_ + link];
    return {one, nodes_.size[one]};
  }
  const LinkOwner owner = cluster_->owner(link);
  const std::uint32_t place = nodes_.class_of[owner.place];
  return {(static_cast<std::uint64_t>(place) << 32) | owner.port, nodes_.size[place]};
}

std::string why_not_symmetric(const Cluster& cluster, const Traffic& traffic, const Symmetry& symmetry) {
  using FlowClass = std::pair<std::uint32_t, std::uint32_t>;  // kind, class of the sender
  struct Like {
    std::uint64_t flows = 0;
    std::uint32_t receiver = 0;
    std::vector<std::uint64_t> route;  // keys
  };
  std::map<FlowClass, Like> classes;
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> links;  // key: capacity, latency
  std::map<std::pair<FlowClass, LinkId>, std::uint64_t> crossings;
  std::map<std::pair<FlowClass, std::uint64_t>, std::uint64_t> all_crossings;
  std::string wrong;
  const auto fail = [&](ChipId chip, const std::string& what) {
    if (wrong.empty()) wrong = "chip " + std::to_string(chip) + ": " + what;
  };
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    const ChipId first = symmetry.first(symmetry.class_of(chip));
    if (traffic.colours[chip] != traffic.colours[first]) fail(chip, "another colour than others of its class");
  }
  for_each_template(cluster, traffic,
                    [&](std::uint32_t kind, ChipId from, ChipId to, const std::vector<LinkId>& route) {
                      const FlowClass flow{kind, symmetry.class_of(from)};
                      Like own{0, symmetry.class_of(to), {}};
                      for (const LinkId link : route) {
                        const std::uint64_t key = symmetry.link_class(link).key;
                        const GraphLink one = cluster.link(link);
                        const std::pair figures{one.capacity, one.latency.count()};
                        own.route.push_back(key);
                        if (links.try_emplace(key, figures).first->second != figures)
                          fail(from, "sends over unlike links");
                        ++crossings[{flow, link}];
                        ++all_crossings[{flow, key}];
                      }
                      Like& like = classes.try_emplace(flow, own).first->second;
                      ++like.flows;
                      if (like.receiver != own.receiver) fail(from, "sends to another class than others of its class");
                      if (like.route != own.route) fail(from, "sends over other links than others of its class");
                    });
  for (const auto& [flow, like] : classes) {
    if (like.flows != symmetry.size(flow.second)) fail(symmetry.first(flow.second), "others of its class do not send");
  }
  for (const auto& [where, count] : crossings) {
    const Symmetry::LinkClass link = symmetry.link_class(where.second);
    if (count * link.links == all_crossings[{where.first, link.key}]) continue;
    fail(symmetry.first(where.first.second), "its class crosses link " + std::to_string(where.second) +
                                                 " more or less often than others of the link's class");
  }
  return wrong;
}

}  // namespace stepsim
