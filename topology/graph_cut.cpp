#include "topology/graph_cut.h"

#include <algorithm>
#include <bit>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <limits>
#include <map>

#include "topology/graph_routes.h"

namespace stepsim {

namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, std::int64_t,
                    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

// Vertex v is two nodes, where transfers come in (2 v) and go out (2 v + 1); then the source and the sink.
class FlowNetwork {
 public:
  FlowNetwork(const std::vector<Vertex>& vertices, const std::vector<GraphLink>& links)
      : graph_(2 * vertices.size() + 2), source_(2 * vertices.size()), sink_(source_ + 1) {
    std::map<std::pair<VertexId, VertexId>, std::int64_t> rates;
    std::vector<std::int64_t> passes;
    for (const GraphLink& link : links) {
      if (link.from != link.to) rates[{link.from, link.to}] += link.capacity;
      total_ += link.capacity;
    }
    passes.assign(vertices.size(), total_);  // more than can come is as good as no bound
    for (const GraphLink& link : links) {
      if (link.from != link.to) continue;
      passes[link.from] = std::min(passes[link.from], link.capacity / crossings(vertices[link.from].kind));
    }
    for (const auto& [ends, rate] : rates) add(2 * ends.first + 1, 2 * ends.second, rate);
    // A chip is an end: nothing need pass one to get from half to half.
    for (VertexId id = 0; id < vertices.size(); ++id) {
      if (vertices[id].kind == VertexKind::chip) passes[id] = 0;
    }
    for (VertexId id = 0; id < vertices.size(); ++id) {
      add(2 * id, 2 * id + 1, passes[id]);
      from_source_.push_back(add(source_, 2 * id + 1, 0));
      to_sink_.push_back(add(2 * id, sink_, 0));
    }
    memories_.resize(vertices.size());
    for (VertexId id = 0; id < vertices.size(); ++id) memories_[id] = vertices[id].kind == VertexKind::host_memory;
  }

  // The greatest flow from some vertices to others.
  std::int64_t flow(const std::vector<bool>& from, const std::vector<bool>& to) {
    const auto capacity = boost::get(boost::edge_capacity, graph_);
    for (std::size_t id = 0; id < from.size(); ++id) {
      boost::put(capacity, from_source_[id], from[id] ? total_ : 0);
      boost::put(capacity, to_sink_[id], to[id] ? total_ : 0);
    }
    return boost::push_relabel_max_flow(graph_, source_, sink_);
  }

  [[nodiscard]] const std::vector<bool>& memories() const { return memories_; }

 private:
  Traits::edge_descriptor add(std::size_t from, std::size_t to, std::int64_t capacity) {
    const auto forward = boost::add_edge(from, to, graph_).first;
    const auto backward = boost::add_edge(to, from, graph_).first;
    boost::put(boost::edge_capacity, graph_, forward, capacity);
    boost::put(boost::edge_capacity, graph_, backward, 0);
    boost::put(boost::edge_reverse, graph_, forward, backward);
    boost::put(boost::edge_reverse, graph_, backward, forward);
    return forward;
  }

  FlowGraph graph_;
  std::size_t source_;
  std::size_t sink_;
  std::int64_t total_ = 0;
  std::vector<Traits::edge_descriptor> from_source_;
  std::vector<Traits::edge_descriptor> to_sink_;
  std::vector<bool> memories_;
};

std::vector<GraphLink> links_off_host(const std::vector<Vertex>& vertices, std::vector<GraphLink> links) {
  std::erase_if(links, [&](const GraphLink& link) {
    return is_on_host(vertices[link.from].kind) || is_on_host(vertices[link.to].kind);
  });
  return links;
}

class Bisection {
 public:
  Bisection(const std::vector<Vertex>& vertices, const std::vector<GraphLink>& links, bool staged)
      : all_(vertices, links), direct_(vertices, links_off_host(vertices, links)), staged_(staged) {
    for (const Vertex& vertex : vertices) chips_ += vertex.kind == VertexKind::chip;
    vertices_ = vertices.size();
    for (const GraphLink& link : links) {
      if (vertices[link.from].kind == VertexKind::host_memory && link.from == link.to) memory_ += link.capacity / 2;
    }
    std::map<std::pair<VertexId, VertexId>, std::int64_t> ways;
    for (const GraphLink& link : links) ways[{link.from, link.to}] += link.capacity;
    for (const auto& [ends, rate] : ways) {
      const auto back = ways.find({ends.second, ends.first});
      alike_both_ways_ = alike_both_ways_ && back != ways.end() && back->second == rate;
    }
  }

  double least() {
    if (chips_ < 2) return 0;
    if (chips_ > most_chips_to_split) {
      try_split([&](std::uint32_t chip) { return chip < chips_ / 2; });
      return static_cast<double>(least_);
    }
    for (std::uint32_t half = 0; half < (1U << chips_); ++half) {
      if (static_cast<std::uint32_t>(std::popcount(half)) != chips_ / 2) continue;
      if (chips_ % 2 == 0 && (half & 1U) == 0) continue;  // the other half has been or will be tried
      try_split([&](std::uint32_t chip) { return (half >> chip & 1U) != 0; });
    }
    return static_cast<double>(least_);
  }

 private:
  template <class InHalf>
  void try_split(InHalf in_half) {
    std::vector<bool> one(vertices_, false);
    std::vector<bool> other(vertices_, false);
    for (std::uint32_t chip = 0; chip < chips_; ++chip) (in_half(chip) ? one : other)[chip] = true;
    least_ = std::min(least_, rate(one, other));
    if (!alike_both_ways_) least_ = std::min(least_, rate(other, one));
  }

  std::int64_t rate(const std::vector<bool>& from, const std::vector<bool>& to) {
    const std::int64_t flow = all_.flow(from, to);
    if (!staged_) return flow;
    const std::int64_t written = all_.flow(from, all_.memories());
    const std::int64_t read = all_.flow(all_.memories(), to);
    return std::min(flow, direct_.flow(from, to) + std::min({memory_, written, read}));
  }

  FlowNetwork all_;
  FlowNetwork direct_;
  bool staged_;
  std::uint32_t chips_ = 0;
  std::size_t vertices_ = 0;
  std::int64_t memory_ = 0;  // what the memories carry, each byte written and read
  bool alike_both_ways_ = true;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

double graph_bisection(const std::vector<Vertex>& vertices, const std::vector<GraphLink>& links, bool staged) {
  return Bisection(vertices, links, staged).least();
}

}  // namespace stepsim
