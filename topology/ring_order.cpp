#include "topology/ring_order.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace stepsim {

namespace {

using Order = std::vector<std::uint32_t>;

struct Cycle {
  Order order;
  std::int64_t rate = 0;  // bytes/s, each direction
};

constexpr int most_steps = 20'000;  // of one search at one rate
constexpr std::size_t most_members_by_unit = 8;
constexpr double least_gain = 1.01;  // less is not worth more rings

// Links between members, renumbered; both directions of a step together, as a ring runs both ways.
class Links {
 public:
  Links(const Cluster& cluster, const std::vector<ChipId>& members) : size_(members.size()) {
    std::map<LinkId, std::size_t> numbers;
    for (const ChipId from : members) {
      for (const ChipId to : members) {
        std::vector<std::size_t> links;
        for (const LinkId link : from == to ? std::vector<LinkId>{} : cluster.routes(from, to)[0].links) {
          const auto [entry, is_new] = numbers.emplace(link, left_.size());
          if (is_new) left_.push_back(cluster.link(link).capacity);
          links.push_back(entry->second);
        }
        ways_.push_back(std::move(links));
      }
    }
    flows_.assign(left_.size(), 0);
    for (std::uint32_t from = 0; from < size_; ++from) {
      Order& others = nearest_.emplace_back(size_);
      std::iota(others.begin(), others.end(), 0U);
      std::stable_sort(others.begin(), others.end(), [&](std::uint32_t a, std::uint32_t b) {
        return ways_[from * size_ + a].size() < ways_[from * size_ + b].size();
      });
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// All members, those first that are fewest links away, then by rank.
  [[nodiscard]] const Order& nearest(std::uint32_t from) const { return nearest_[from]; }

  /// Adds a step's flows (or with -1 takes them away); false when a link cannot give all its flows this rate.
  bool add(std::uint32_t from, std::uint32_t to, int number, std::int64_t rate) {
    bool fits = true;
    for (const auto* way : {&ways_[from * size_ + to], &ways_[to * size_ + from]}) {
      for (const std::size_t link : *way) {
        flows_[link] += number;
        fits = fits && left_[link] / std::max(flows_[link], 1) >= rate;
      }
    }
    return fits;
  }

  void add(const Order& order, int number) {
    for (std::size_t i = 0; i < order.size(); ++i) add(order[i], order[(i + 1) % order.size()], number, 0);
  }

  /// What the flows can all have. There must be some.
  [[nodiscard]] std::int64_t rate() const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t link = 0; link < left_.size(); ++link) {
      if (flows_[link] > 0) least = std::min(least, left_[link] / flows_[link]);
    }
    return least;
  }

  /// What is left between two members, bytes/s.
  [[nodiscard]] double width(std::uint32_t from, std::uint32_t to) const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const std::size_t link : ways_[from * size_ + to]) least = std::min(least, left_[link]);
    return static_cast<double>(least);
  }

  /// Takes a cycle's flows at their rate off what is left.
  void use(const Cycle& cycle) {
    add(cycle.order, 1);
    for (std::size_t link = 0; link < left_.size(); ++link) left_[link] -= flows_[link] * cycle.rate;
    add(cycle.order, -1);
  }

  /// Every rate that a cycle can have: what is left of a link over a number of flows.
  [[nodiscard]] std::vector<std::int64_t> rates() const {
    std::set<std::int64_t> rates;
    const auto most_flows = static_cast<std::int64_t>(4 * size_);  // two directions, host memory twice
    for (const std::int64_t left : std::set<std::int64_t>(left_.begin(), left_.end())) {
      for (std::int64_t flows = 1; flows <= most_flows; ++flows) rates.insert(left / flows);
    }
    rates.erase(0);
    return {rates.begin(), rates.end()};
  }

 private:
  std::size_t size_;
  std::vector<std::vector<std::size_t>> ways_;  // [from * size + to]
  std::vector<Order> nearest_;                  // per member
  std::vector<std::int64_t> left_;              // per link
  std::vector<int> flows_;                      // per link, of the cycle being made
};

// Cycles of at least some rate, nearest members first: the first, or of those within reach the one with most left along it.
class CycleSearch {
 public:
  enum class Aim { first, widest };

  CycleSearch(Links& links, std::int64_t rate, Aim aim)
      : links_(links), rate_(rate), aim_(aim), used_(links.size(), false) {}

  /// Empty when there is none.
  Order find() {
    order_ = {0};
    used_[0] = true;
    if (possible()) extend(0);
    return best_;
  }

 private:
  // Each member needs two neighbours, whoever else there is.
  bool possible() {
    for (std::uint32_t from = 0; from < links_.size(); ++from) {
      int neighbours = 0;
      for (std::uint32_t to = 0; to < links_.size(); ++to) {
        if (to != from && allows(from, to)) ++neighbours;
      }
      if (neighbours < 2) return false;
    }
    return true;
  }

  bool allows(std::uint32_t from, std::uint32_t to) {
    const bool fits = links_.add(from, to, 1, rate_);
    links_.add(from, to, -1, rate_);
    return fits;
  }

  // Can the end of the order still come to all that are left, one by one, by steps that the links would bear?
  bool all_in_reach() {
    std::vector<bool> reached = used_;
    std::vector<std::uint32_t> open = {order_.back()};
    while (!open.empty()) {
      const std::uint32_t from = open.back();
      open.pop_back();
      for (std::uint32_t to = 1; to < links_.size(); ++to) {
        if (reached[to] || !allows(from, to)) continue;
        reached[to] = true;
        open.push_back(to);
      }
    }
    return std::find(reached.begin(), reached.end(), false) == reached.end();
  }

  [[nodiscard]] bool over() const { return steps_ > most_steps || (aim_ == Aim::first && !best_.empty()); }

  void extend(double width) {
    if (++steps_ > most_steps) return;
    const std::uint32_t from = order_.back();
    if (order_.size() == used_.size()) return close(width);
    if (!all_in_reach()) return;
    for (const std::uint32_t to : links_.nearest(from)) {
      if (used_[to] || over()) continue;
      if (links_.add(from, to, 1, rate_)) {
        used_[to] = true;
        order_.push_back(to);
        extend(width + links_.width(from, to));
        order_.pop_back();
        used_[to] = false;
      }
      links_.add(from, to, -1, rate_);
    }
  }

  void close(double width) {
    const std::uint32_t last = order_.back();
    if (links_.add(last, 0, 1, rate_) && (best_.empty() || width + links_.width(last, 0) > best_width_)) {
      best_ = order_;
      best_width_ = width + links_.width(last, 0);
    }
    links_.add(last, 0, -1, rate_);
  }

  Links& links_;
  std::int64_t rate_;
  Aim aim_;
  Order order_;
  Order best_;
  double best_width_ = 0;
  std::vector<bool> used_;
  int steps_ = 0;
};

// The greatest rate for which there is a cycle, by halving: what exists at one rate exists at all lower ones.
Cycle best_cycle(Links& links) {
  const std::vector<std::int64_t> rates = links.rates();
  Cycle best;
  std::size_t low = 0;
  std::size_t high = rates.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    Order order = CycleSearch(links, rates[middle], CycleSearch::Aim::first).find();
    if (order.empty()) {
      high = middle;
    } else {
      best.order = std::move(order);
      low = middle + 1;
    }
  }
  if (best.order.empty()) return best;
  links.add(best.order, 1);
  best.rate = links.rate();
  links.add(best.order, -1);
  return best;
}

struct Plan {
  std::vector<Order> orders;
  std::int64_t unit = 0;  // of each ring

  [[nodiscard]] double sum() const { return static_cast<double>(unit) * static_cast<double>(orders.size()); }
};

// Cycle after cycle, each at the greatest rate there is.
std::vector<Cycle> cycles_by_rate(Links links) {
  std::vector<Cycle> cycles;
  while (cycles.size() < most_rings) {
    Cycle next = best_cycle(links);
    if (next.order.empty() || next.rate < 1) break;
    links.use(next);
    cycles.push_back(std::move(next));
  }
  return cycles;
}

Plan repeated(const std::vector<Cycle>& cycles, std::int64_t unit) {
  Plan plan{{}, unit};
  for (const Cycle& cycle : cycles) {
    const std::int64_t rings = std::min(cycle.rate / unit, static_cast<std::int64_t>(most_rings) + 1);
    plan.orders.insert(plan.orders.end(), static_cast<std::size_t>(rings), cycle.order);
  }
  return plan;
}

// Cycle after cycle, each at this rate along what has most left.
Plan plan_by_unit(Links links, std::int64_t unit) {
  Plan plan{{}, unit};
  while (plan.orders.size() < most_rings) {
    Order next = CycleSearch(links, unit, CycleSearch::Aim::widest).find();
    if (next.empty()) break;
    links.use({next, unit});
    plan.orders.push_back(std::move(next));
  }
  return plan;
}

Plan best_plan(const Links& links, const std::vector<Cycle>& cycles) {
  std::set<std::int64_t, std::greater<>> units;
  for (const Cycle& cycle : cycles) {
    for (std::int64_t rings = 1; rings <= static_cast<std::int64_t>(most_rings); ++rings) {
      units.insert(cycle.rate / rings);
    }
  }
  units.erase(0);
  Plan best;
  const auto offer = [&](Plan plan) {
    if (plan.orders.size() <= most_rings && plan.sum() > best.sum() * least_gain) best = std::move(plan);
  };
  for (const std::int64_t unit : units) offer(repeated(cycles, unit));
  if (links.size() > most_members_by_unit) return best;
  for (std::int64_t part = 2; part <= 4; ++part) {
    offer(plan_by_unit(links, std::max<std::int64_t>(1, cycles[0].rate / part)));
  }
  return best;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> ring_orders(const Cluster& cluster, const std::vector<ChipId>& members) {
  Order given(members.size());
  std::iota(given.begin(), given.end(), 0U);
  if (members.size() < 3 || members.size() > most_members_to_order) return {given};
  const Links links(cluster, members);
  const std::vector<Cycle> cycles = cycles_by_rate(links);
  return cycles.empty() ? std::vector<Order>{given} : best_plan(links, cycles).orders;
}

}  // namespace stepsim
