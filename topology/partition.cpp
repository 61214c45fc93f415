#include "topology/partition.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stepsim {
namespace {

/// Edges of one label seen from their targets.
class Incoming {
 public:
  explicit Incoming(const LabelledEdges& to) : first_(to.size() + 1, 0) {
    for (const std::uint32_t target : to) {
      if (target != no_node) ++first_[target + 1];
    }
    for (std::size_t node = 0; node < to.size(); ++node) first_[node + 1] += first_[node];
    from_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t node = 0; node < to.size(); ++node) {
      if (to[node] != no_node) from_[next[to[node]]++] = node;
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return {from_.data() + first_[node], from_.data() + first_[node + 1]};
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> from_;
};

/// The nodes in an order in which every class is a stretch; a class splits by moving nodes within its stretch.
class Refinement {
 public:
  explicit Refinement(const std::vector<std::uint32_t>& colours);
  void run(std::span<const LabelledEdges> edges);
  [[nodiscard]] std::vector<std::uint32_t> take_classes() { return std::move(class_of_); }

 private:
  struct Class {
    std::uint32_t first = 0;  // in nodes_
    std::uint32_t size = 0;
    bool waiting = false;       // to be a splitter
    std::uint32_t touched = 0;  // nodes with edges into the splitter
    std::uint32_t least = 0;    // of their counts
    std::uint32_t most = 0;
    std::uint32_t marked = 0;  // of them moved to the front of the stretch
  };

  void wait(std::uint32_t id);
  void count_edge(std::uint32_t node);
  void split_touched();
  [[nodiscard]] static bool splits(const Class& one) { return one.touched < one.size || one.least < one.most; }
  void mark(std::uint32_t node);
  void split(std::uint32_t id);
  void cut(std::uint32_t id, const std::vector<std::uint32_t>& ends);

  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint32_t> place_;     // per node, in nodes_
  std::vector<std::uint32_t> class_of_;  // per node
  std::vector<std::uint32_t> count_;     // per node: edges into the splitter
  std::vector<Class> classes_;
  std::vector<std::uint32_t> waiting_;
  std::vector<std::uint32_t> splitter_;  // its nodes as they were
  std::vector<std::uint32_t> touched_;   // nodes with edges into it
  std::vector<std::uint32_t> met_;       // their classes
  std::vector<std::uint32_t> ends_;      // scratch
};

Refinement::Refinement(const std::vector<std::uint32_t>& colours)
    : nodes_(colours.size()), place_(colours.size()), class_of_(colours.size()), count_(colours.size(), 0) {
  const std::uint32_t most = colours.empty() ? 0 : *std::max_element(colours.begin(), colours.end());
  std::vector<std::uint32_t> first(std::size_t{most} + 2, 0);
  for (const std::uint32_t colour : colours) ++first[colour + 1];
  std::vector<std::uint32_t> id(std::size_t{most} + 1, no_node);
  for (std::size_t colour = 0; colour <= most; ++colour) {
    if (first[colour + 1] > 0) {
      id[colour] = static_cast<std::uint32_t>(classes_.size());
      classes_.push_back({first[colour], first[colour + 1]});
    }
    first[colour + 1] += first[colour];
  }
  for (std::uint32_t node = 0; node < colours.size(); ++node) {
    place_[node] = first[colours[node]]++;
    nodes_[place_[node]] = node;
    class_of_[node] = id[colours[node]];
  }
  for (std::uint32_t c = 0; c < classes_.size(); ++c) wait(c);
}

void Refinement::wait(std::uint32_t id) {
  if (classes_[id].waiting) return;
  classes_[id].waiting = true;
  waiting_.push_back(id);
}

void Refinement::run(std::span<const LabelledEdges> edges) {
  std::vector<Incoming> incoming;
  incoming.reserve(edges.size());
  for (const LabelledEdges& to : edges) incoming.emplace_back(to);
  while (!waiting_.empty()) {
    Class& next = classes_[waiting_.back()];
    waiting_.pop_back();
    next.waiting = false;
    splitter_.assign(nodes_.begin() + next.first, nodes_.begin() + next.first + next.size);
    for (std::size_t label = 0; label < edges.size(); ++label) {
      for (const std::uint32_t node : splitter_) {
        for (const std::uint32_t from : incoming[label].of(node)) count_edge(from);
      }
      split_touched();
      for (const std::uint32_t node : splitter_) {
        if (edges[label][node] != no_node) count_edge(edges[label][node]);
      }
      split_touched();
    }
  }
}

void Refinement::count_edge(std::uint32_t node) {
  if (count_[node]++ == 0) touched_.push_back(node);
}

/// Splits every class whose nodes differ in their counts. Most do not, and are left as they stand.
void Refinement::split_touched() {
  for (const std::uint32_t node : touched_) {
    Class& own = classes_[class_of_[node]];
    const std::uint32_t count = count_[node];
    if (own.touched++ == 0) {
      met_.push_back(class_of_[node]);
      own.least = own.most = count;
    }
    own.least = std::min(own.least, count);
    own.most = std::max(own.most, count);
  }
  bool any = false;
  for (const std::uint32_t id : met_) any = any || splits(classes_[id]);
  if (any) {
    for (const std::uint32_t node : touched_) mark(node);
    for (const std::uint32_t id : met_) {
      if (splits(classes_[id])) split(id);
    }
  }
  for (const std::uint32_t id : met_) classes_[id].touched = classes_[id].marked = 0;
  for (const std::uint32_t node : touched_) count_[node] = 0;
  met_.clear();
  touched_.clear();
}

void Refinement::mark(std::uint32_t node) {
  Class& own = classes_[class_of_[node]];
  if (!splits(own)) return;
  const std::uint32_t to = own.first + own.marked++;
  const std::uint32_t other = nodes_[to];
  std::swap(nodes_[place_[node]], nodes_[to]);
  std::swap(place_[node], place_[other]);
}

/// Cuts the class where the counts of its nodes differ; nodes that are not marked have none.
void Refinement::split(std::uint32_t id) {
  const std::uint32_t first = classes_[id].first;
  const std::uint32_t marked = classes_[id].marked;
  const auto begin = nodes_.begin() + first;
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return count_[a] < count_[b]; };
  if (!std::is_sorted(begin, begin + marked, less)) {
    std::sort(begin, begin + marked, less);
    for (std::uint32_t i = first; i < first + marked; ++i) place_[nodes_[i]] = i;
  }
  ends_.clear();
  for (std::uint32_t i = first + 1; i < first + marked; ++i) {
    if (count_[nodes_[i]] != count_[nodes_[i - 1]]) ends_.push_back(i);
  }
  if (marked < classes_[id].size) ends_.push_back(first + marked);
  ends_.push_back(first + classes_[id].size);
  cut(id, ends_);
}

/// The largest part keeps the id; if the class was not waiting, it need not be a splitter.
void Refinement::cut(std::uint32_t id, const std::vector<std::uint32_t>& ends) {
  const Class whole = classes_[id];
  std::uint32_t first = whole.first;
  Class largest{first, 0};
  for (const std::uint32_t end : ends) {
    if (end - first > largest.size) largest = {first, end - first};
    first = end;
  }
  classes_[id].first = largest.first;
  classes_[id].size = largest.size;
  first = whole.first;
  for (const std::uint32_t end : ends) {
    if (first != largest.first) {
      const auto part = static_cast<std::uint32_t>(classes_.size());
      classes_.push_back({first, end - first});
      for (std::uint32_t i = first; i < end; ++i) class_of_[nodes_[i]] = part;
      wait(part);
    }
    first = end;
  }
}

/// Counts the edges of one node: by label, direction and class.
std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> profile(const Partition& partition,
                                                                       std::span<const LabelledEdges> edges,
                                                                       const std::vector<Incoming>& incoming,
                                                                       std::uint32_t node) {
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> counts;
  for (std::size_t label = 0; label < edges.size(); ++label) {
    const std::uint32_t to = edges[label][node];
    if (to != no_node) ++counts[{2 * label, partition.class_of[to]}];
    for (const std::uint32_t from : incoming[label].of(node)) ++counts[{2 * label + 1, partition.class_of[from]}];
  }
  return counts;
}

}  // namespace

void tell_apart(std::vector<std::uint32_t>& colours, const std::vector<std::uint32_t>& feature) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    colours[i] = known.try_emplace({colours[i], feature[i]}, static_cast<std::uint32_t>(known.size())).first->second;
  }
}

Partition by_colour(const std::vector<std::uint32_t>& colours) {
  Partition partition;
  std::vector<std::uint32_t> number;  // per colour
  partition.class_of.reserve(colours.size());
  for (std::uint32_t node = 0; node < colours.size(); ++node) {
    if (colours[node] >= number.size()) number.resize(std::size_t{colours[node]} + 1, no_node);
    std::uint32_t& id = number[colours[node]];
    if (id == no_node) {
      id = partition.classes();
      partition.first.push_back(node);
      partition.size.push_back(0);
    }
    ++partition.size[id];
    partition.class_of.push_back(id);
  }
  return partition;
}

Partition refine(const std::vector<std::uint32_t>& colours, std::span<const LabelledEdges> edges) {
  Refinement refinement(by_colour(colours).class_of);
  refinement.run(edges);
  return by_colour(refinement.take_classes());
}

std::string why_not_equitable(const Partition& partition, const std::vector<std::uint32_t>& colours,
                              std::span<const LabelledEdges> edges) {
  std::vector<Incoming> incoming(edges.begin(), edges.end());
  for (std::uint32_t node = 0; node < colours.size(); ++node) {
    const std::uint32_t first = partition.first[partition.class_of[node]];
    if (colours[node] == colours[first] &&
        profile(partition, edges, incoming, node) == profile(partition, edges, incoming, first)) {
      continue;
    }
    return "nodes " + std::to_string(first) + " and " + std::to_string(node) + " are of one class and differ";
  }
  return "";
}

}  // namespace stepsim
