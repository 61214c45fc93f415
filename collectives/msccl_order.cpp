#include "collectives/msccl_order.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "sim/input_error.h"

namespace stepsim {

namespace {

constexpr std::size_t most_problems = 20;
constexpr std::size_t longest_circle = 8;  // steps named in a message

// GPUs from and to, channel.
using Connection = std::tuple<int, int, int>;

struct Ends {
  std::size_t sender = no_step;  // blocks
  std::size_t receiver = no_step;
};

class StepOrder {
 public:
  explicit StepOrder(const MscclAlgorithm& algorithm) : algorithm_(algorithm) {
    for (std::size_t g = 0; g < algorithm.gpus.size(); ++g) {
      all_.first.emplace_back();
      all_.receiver.emplace_back(algorithm.gpus[g].blocks.size(), no_step);
      for (std::size_t b = 0; b < algorithm.gpus[g].blocks.size(); ++b) {
        all_.first.back().push_back(all_.places.size());
        for (std::size_t s = 0; s < block(g, b).steps.size(); ++s) all_.places.push_back({g, b, s});
      }
    }
    all_.sent_by.assign(all_.places.size(), no_step);
  }

  MscclOrder run() {
    connect();
    for (const auto& [connection, ends] : connections_) meet(connection, ends);
    if (!problems_.empty()) throw InputError(std::move(problems_));
    sort();
    return std::move(all_);
  }

 private:
  [[nodiscard]] const MscclBlock& block(std::size_t g, std::size_t b) const { return algorithm_.gpus[g].blocks[b]; }
  [[nodiscard]] const MscclStep& step(std::size_t number) const {
    const MscclPlace& at = all_.places[number];
    return block(at.gpu, at.block).steps[at.step];
  }

  void problem(std::size_t number, const std::string& message) {
    if (problems_.size() == most_problems) return;
    const MscclStep& at = step(number);
    problems_.push_back({{algorithm_.file, at.line, at.column}, msccl_key(all_.places[number]), message});
  }

  // Step numbers of a block that send, or receive.
  [[nodiscard]] std::vector<std::size_t> steps_that(std::size_t g, std::size_t b, bool (*what)(MscclOp)) const {
    std::vector<std::size_t> numbers;
    for (std::size_t s = 0; s < block(g, b).steps.size(); ++s) {
      if (what(block(g, b).steps[s].op)) numbers.push_back(all_.first[g][b] + s);
    }
    return numbers;
  }

  // Blocks that say they have a peer but never send, or receive, do not count.
  void connect() {
    for (std::size_t g = 0; g < algorithm_.gpus.size(); ++g) {
      for (std::size_t b = 0; b < algorithm_.gpus[g].blocks.size(); ++b) {
        const MscclBlock& one = block(g, b);
        const std::vector<std::size_t> out = steps_that(g, b, sends);
        const std::vector<std::size_t> in = steps_that(g, b, receives);
        const int self = static_cast<int>(g);
        if (!out.empty())
          claim(connections_[{self, one.to, one.channel}].sender, g, b, out.front(), "sends to", one.to);
        if (!in.empty())
          claim(connections_[{one.from, self, one.channel}].receiver, g, b, in.front(), "receives from", one.from);
      }
    }
  }

  void claim(std::size_t& end, std::size_t g, std::size_t b, std::size_t first, const std::string& what, int peer) {
    if (end == no_step) {
      end = b;
      return;
    }
    problem(first, what + " gpu " + std::to_string(peer) + " on channel " + std::to_string(block(g, b).channel) +
                       ", as thread block " + std::to_string(end) + " does (expected one per peer and channel)");
  }

  void meet(const Connection& connection, const Ends& ends) {
    const auto& [from, to, channel] = connection;
    const auto sender = static_cast<std::size_t>(from);
    const auto receiver = static_cast<std::size_t>(to);
    std::vector<std::size_t> out;
    std::vector<std::size_t> in;
    if (ends.sender != no_step) out = steps_that(sender, ends.sender, sends);
    if (ends.receiver != no_step) in = steps_that(receiver, ends.receiver, receives);
    const std::size_t both = std::min(out.size(), in.size());
    const std::string where = " on channel " + std::to_string(channel);
    for (std::size_t i = 0; i < both; ++i) {
      all_.sent_by[in[i]] = out[i];
      if (step(in[i]).chunks == step(out[i]).chunks) continue;
      problem(out[i], "sends " + std::to_string(step(out[i]).chunks) + " chunks, but " + msccl_key(all_.places[in[i]]) +
                          " receives " + std::to_string(step(in[i]).chunks));
    }
    if (out.size() > both)
      problem(out[both], "sends to gpu " + std::to_string(to) + where + ", where nothing receives it");
    if (in.size() > both)
      problem(in[both], "receives from gpu " + std::to_string(from) + where + ", where nothing sends it");
    if (both > 0) all_.receiver[sender][ends.sender] = ends.receiver;
  }

  // What a step waits for: the one before it, the one it names, the send it receives.
  [[nodiscard]] std::vector<std::size_t> awaited(std::size_t number) const {
    const MscclPlace& at = all_.places[number];
    const MscclStep& one = step(number);
    std::vector<std::size_t> before;
    if (at.step > 0) before.push_back(number - 1);
    if (one.block >= 0) {
      before.push_back(all_.first[at.gpu][static_cast<std::size_t>(one.block)] + static_cast<std::size_t>(one.step));
    }
    if (all_.sent_by[number] != no_step) before.push_back(all_.sent_by[number]);
    return before;
  }

  void sort() {
    std::vector<std::vector<std::size_t>> next(all_.places.size());
    std::vector<std::size_t> waiting(all_.places.size());
    for (std::size_t i = 0; i < all_.places.size(); ++i) {
      const std::vector<std::size_t> before = awaited(i);
      waiting[i] = before.size();
      for (const std::size_t b : before) next[b].push_back(i);
      if (before.empty()) all_.order.push_back(i);
    }
    for (std::size_t at = 0; at < all_.order.size(); ++at) {
      for (const std::size_t i : next[all_.order[at]]) {
        if (--waiting[i] == 0) all_.order.push_back(i);
      }
    }
    if (all_.order.size() < all_.places.size()) refuse_circle(waiting);
  }

  // From any step that never runs, back through others that never run, until one comes again.
  [[noreturn]] void refuse_circle(const std::vector<std::size_t>& waiting) {
    std::vector<std::size_t> way;
    std::vector<bool> seen(waiting.size());
    const auto first = std::find_if(waiting.begin(), waiting.end(), [](std::size_t count) { return count > 0; });
    auto at = static_cast<std::size_t>(first - waiting.begin());
    while (!seen[at]) {
      seen[at] = true;
      way.push_back(at);
      const std::vector<std::size_t> before = awaited(at);
      at = *std::find_if(before.begin(), before.end(), [&](std::size_t b) { return waiting[b] > 0; });
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), at));
    std::string circle;
    for (std::size_t i = 1; i < std::min(way.size(), longest_circle); ++i) {
      circle += msccl_key(all_.places[way[i]]) + ", which waits for ";
    }
    if (way.size() > longest_circle) circle += "others, which wait for ";
    problem(at, "can never run: it waits for " + circle + "it");
    throw InputError(std::move(problems_));
  }

  const MscclAlgorithm& algorithm_;
  MscclOrder all_;
  std::map<Connection, Ends> connections_;
  std::vector<Problem> problems_;
};

}  // namespace

MscclOrder msccl_order(const MscclAlgorithm& algorithm) {
  return StepOrder(algorithm).run();
}

std::string msccl_key(const MscclPlace& place) {
  return "gpu[" + std::to_string(place.gpu) + "].tb[" + std::to_string(place.block) + "].step[" +
         std::to_string(place.step) + "]";
}

}  // namespace stepsim
