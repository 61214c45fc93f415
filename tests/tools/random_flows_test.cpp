// Random task graphs against a slow reference that lives here: progressive filling in rational numbers, time driven
// from event to event, nothing rounded. It shares no code with the engine. Rounding each end up to a picosecond can
// make a task late by one picosecond per task that came before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <optional>
#include <random>

#include "tools/flow_case.h"

namespace stepsim {
namespace {

using Rational = boost::multiprecision::cpp_rational;

struct Exact {
  std::optional<Rational> start, drained, end;  // in picoseconds
};

/// Max-min fair rates of the active tasks, bytes per picosecond.
std::map<std::size_t, Rational> fair_rates(const FlowCase& flow_case, std::vector<std::size_t> active) {
  std::vector<Rational> left;
  for (const FlowLink& link : flow_case.links) left.emplace_back(Rational(link.capacity, 1'000'000'000'000));
  std::map<std::size_t, Rational> rates;
  while (!active.empty()) {
    std::vector<int> count(left.size());
    for (const std::size_t task : active) {
      for (const std::uint32_t link : flow_case.tasks[task].route) ++count[link];
    }
    Rational least = -1;
    for (std::size_t link = 0; link < left.size(); ++link) {
      if (count[link] > 0 && (least < 0 || left[link] / count[link] < least)) least = left[link] / count[link];
    }
    std::vector<bool> tight(left.size());
    for (std::size_t link = 0; link < left.size(); ++link) {
      tight[link] = count[link] > 0 && left[link] / count[link] == least;
    }
    std::vector<std::size_t> rest;
    for (const std::size_t task : active) {
      const auto& route = flow_case.tasks[task].route;
      if (std::none_of(route.begin(), route.end(), [&](std::uint32_t link) { return tight[link]; })) {
        rest.push_back(task);
        continue;
      }
      rates[task] = least;
      for (const std::uint32_t link : route) left[link] -= least;
    }
    active = rest;
  }
  return rates;
}

class Reference {
 public:
  explicit Reference(const FlowCase& flow_case) : case_(flow_case), times_(flow_case.tasks.size()) {}

  std::vector<Exact> play() {
    for (;;) {
      while (start_what_can()) {
      }
      if (!advance()) return times_;
    }
  }

 private:
  std::optional<Rational> ready(const FlowTask& task) const {
    Rational at = task.at.count();
    for (const FlowDependency& dependency : task.after) {
      const Exact& other = times_[dependency.task];
      const auto& when = dependency.event == Event::drained ? other.drained : other.end;
      if (!when) return std::nullopt;
      at = std::max(at, *when);
    }
    return at;
  }

  Rational latency(const FlowTask& task) const {
    Rational sum = 0;
    for (const std::uint32_t link : task.route) sum += case_.links[link].latency.count();
    return sum;
  }

  void drain(std::size_t i, const Rational& when) {
    times_[i].drained = when;
    times_[i].end = when + latency(case_.tasks[i]);
  }

  bool start_what_can() {
    bool moved = false;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const FlowTask& task = case_.tasks[i];
      const auto at = ready(task);
      if (times_[i].start || !at || *at > now_) continue;
      moved = true;
      times_[i].start = now_;
      if (task.computes) {
        times_[i].end = now_ + task.time.count();
      } else if (task.bytes == 0 || task.route.empty()) {
        drain(i, now_);
      } else {
        left_[i] = task.bytes;
      }
    }
    return moved;
  }

  /// To the next instant at which something drains or may start; false when there is none.
  bool advance() {
    std::vector<std::size_t> active;
    for (const auto& [task, bytes] : left_) active.push_back(task);
    const auto rates = fair_rates(case_, active);
    std::optional<Rational> then;
    const auto consider = [&](const Rational& time) {
      if (time > now_ && (!then || time < *then)) then = time;
    };
    for (const auto& [task, rate] : rates) consider(now_ + left_[task] / rate);
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (times_[i].start) continue;
      if (const auto at = ready(case_.tasks[i])) consider(*at);
    }
    if (!then) return false;
    for (const auto& [task, rate] : rates) left_[task] -= rate * (*then - now_);
    now_ = *then;
    for (const std::size_t task : active) {
      if (left_[task] != 0) continue;
      left_.erase(task);
      drain(task, now_);
    }
    return true;
  }

  const FlowCase& case_;
  std::vector<Exact> times_;
  std::map<std::size_t, Rational> left_;
  Rational now_ = 0;
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  /// lowest..highest; not std::uniform_int_distribution, whose numbers differ between libraries.
  std::int64_t roll(std::int64_t lowest, std::int64_t highest) {
    return lowest + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(highest - lowest + 1));
  }

 private:
  std::mt19937_64 bits_;
};

FlowTask random_task(Dice& dice, const FlowCase& flow_case) {
  FlowTask task;
  const auto before = static_cast<std::int64_t>(flow_case.tasks.size());
  task.id = "t" + std::to_string(before);
  for (std::int64_t k = std::min<std::int64_t>(before, dice.roll(0, 2)); k > 0; --k) {
    const auto other = static_cast<std::uint32_t>(dice.roll(0, before - 1));
    const bool drained = !flow_case.tasks[other].computes && dice.roll(0, 1) == 0;
    task.after.push_back({other, drained ? Event::drained : Event::end});
  }
  if (dice.roll(0, 3) == 0) task.at = Picoseconds(dice.roll(0, 3'000'000));
  task.computes = dice.roll(0, 4) == 0;
  if (task.computes) {
    task.time = Picoseconds(dice.roll(0, 9) * dice.roll(1, 999'999));
    return task;
  }
  task.bytes = dice.roll(0, 3) == 0 ? dice.roll(0, 3) : dice.roll(0, 100'000);
  for (std::int64_t k = dice.roll(0, 3); k > 0; --k) {  // a link may come twice
    task.route.push_back(
        static_cast<std::uint32_t>(dice.roll(0, static_cast<std::int64_t>(flow_case.links.size()) - 1)));
  }
  return task;
}

FlowCase random_case(std::uint64_t seed) {
  Dice dice(seed);
  FlowCase flow_case;
  for (std::int64_t k = dice.roll(1, 6); k > 0; --k) {
    const std::int64_t latency = dice.roll(0, 1) * dice.roll(1, 2'000'000);
    flow_case.links.push_back({"l" + std::to_string(k), dice.roll(100'000'000, 50'000'000'000), Picoseconds(latency)});
  }
  for (std::int64_t k = dice.roll(2, 16); k > 0; --k) flow_case.tasks.push_back(random_task(dice, flow_case));
  return flow_case;
}

void expect_near(const std::optional<Rational>& expected, Picoseconds measured, std::size_t tolerance,
                 const std::string& what) {
  ASSERT_TRUE(expected.has_value()) << what;
  const Rational off = Rational(measured.count()) - *expected;
  EXPECT_LE(abs(off), tolerance) << what << " off by " << off.convert_to<double>() << " ps";
}

TEST(RandomFlows, MatchTheReference) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const FlowCase flow_case = random_case(seed);
    const std::vector<Exact> expected = Reference(flow_case).play();
    const std::vector<TaskTimes> measured = play(flow_case);
    const std::size_t tolerance = flow_case.tasks.size();
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const std::string id = flow_case.tasks[i].id;
      expect_near(expected[i].start, measured[i].start, tolerance, id + " start");
      expect_near(expected[i].end, measured[i].end, tolerance, id + " end");
      if (!flow_case.tasks[i].computes) {
        expect_near(expected[i].drained, measured[i].drained, tolerance, id + " drained");
      }
    }
    if (HasFailure()) return;  // one seed is enough to look at
  }
}

TEST(RandomFlows, TwiceTheCapacityHalvesWhatHasNoLatency) {
  // Metamorphic: with latencies, computations and start times all zero, every time is half as long, to the rounding.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    FlowCase slow = random_case(seed);
    for (FlowLink& link : slow.links) link.latency = Picoseconds(0);
    for (FlowTask& task : slow.tasks) task.at = task.time = Picoseconds(0);
    FlowCase fast = slow;
    for (FlowLink& link : fast.links) link.capacity *= 2;
    const auto long_times = play(slow);
    const auto short_times = play(fast);
    for (std::size_t i = 0; i < slow.tasks.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(long_times[i].end.count()), 2.0 * static_cast<double>(short_times[i].end.count()),
                  3.0 * static_cast<double>(slow.tasks.size()))
          << "seed " << seed << " " << slow.tasks[i].id;
    }
  }
}

}  // namespace
}  // namespace stepsim
