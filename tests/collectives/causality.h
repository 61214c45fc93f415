// causality.h: plays a plan by counting only, and follows whose data a member may rest on.
//
// Time does not exist here: a transfer goes as soon as its needs are met. It is taken to carry exactly what those
// needs name: the sender's own data and what the needed deliveries carried. So a member whose data is missing at the
// end shows a dependency the plan forgot; a plan that cannot finish shows one that can never be met.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/transfer_plan.h"

namespace stepsim {

struct Causality {
  bool finished = true;
  std::uint32_t depth = 0;                  // longest chain of deliveries
  std::vector<std::vector<bool>> rests_on;  // [member][whose]
  bool last_sends_rest_on_all = true;       // does the last transfer of every lane that sends?
  std::vector<Bytes> sent;                  // per member
  std::vector<Bytes> received;              // per member
};

class CausalityPlayer {
 public:
  explicit CausalityPlayer(const TransferPlan& plan) : plan_(plan), inbox_(plan.port.size()), lanes_(plan.members) {
    result_.sent.assign(plan.members, 0);
    result_.received.assign(plan.members, 0);
    for (std::uint32_t m = 0; m < plan.members; ++m) lanes_[m].resize(role(m).lanes.size());
  }

  Causality play() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::uint32_t m = 0; m < plan_.members; ++m) {
        for (std::uint32_t lane = 0; lane < lanes_[m].size(); ++lane) {
          while (send_next(m, lane)) moved = true;
        }
      }
    }
    collect();
    return result_;
  }

 private:
  struct Message {
    std::vector<bool> rests_on;
    std::uint32_t depth = 0;
  };
  struct LanePlace {
    std::uint32_t run = 0;
    std::uint32_t sent = 0;
  };

  const Role& role(std::uint32_t m) const { return plan_.roles[plan_.role_of[m]]; }
  std::vector<Message>& inbox(std::uint32_t m, std::uint32_t port) { return inbox_[m * plan_.ports + port]; }

  static void merge(Message& into, const Message& from) {
    for (std::size_t i = 0; i < into.rests_on.size(); ++i) into.rests_on[i] = into.rests_on[i] || from.rests_on[i];
    into.depth = std::max(into.depth, from.depth);
  }

  static void deliver(std::vector<Message>& inbox, Message message) {
    if (!inbox.empty()) merge(message, inbox.back());
    inbox.push_back(std::move(message));
  }

  Message own(std::uint32_t m) const {
    Message message{std::vector<bool>(plan_.members, false), 0};
    message.rests_on[m] = true;
    return message;
  }

  bool send_next(std::uint32_t m, std::uint32_t lane) {
    LanePlace& place = lanes_[m][lane];
    if (place.run == role(m).lanes[lane].runs) return false;
    const Run& run = role(m).runs[role(m).lanes[lane].first_run + place.run];
    Message message = own(m);
    for (std::uint32_t n = 0; n < run.needs; ++n) {
      const Need& need = role(m).needs[run.first_need + n];
      const auto least = static_cast<std::size_t>(need.base + need.stride * static_cast<std::int32_t>(place.sent));
      if (inbox(m, need.port).size() < least) return false;
      if (least > 0) merge(message, inbox(m, need.port)[least - 1]);
    }
    ++message.depth;
    const bool rests_on_all =
        std::find(message.rests_on.begin(), message.rests_on.end(), false) == message.rests_on.end();
    const Port& port = plan_.port[m * plan_.ports + run.port];
    result_.depth = std::max(result_.depth, message.depth);
    result_.sent[m] += run.bytes;
    result_.received[port.to] += run.bytes;
    deliver(inbox(port.to, port.to_port), std::move(message));
    if (++place.sent == run.count) place = {place.run + 1, 0};
    if (place.run == role(m).lanes[lane].runs) result_.last_sends_rest_on_all &= rests_on_all;
    return true;
  }

  void collect() {
    for (std::uint32_t m = 0; m < plan_.members; ++m) {
      Message all = own(m);
      for (std::uint32_t p = 0; p < plan_.ports; ++p) {
        if (!inbox(m, p).empty()) merge(all, inbox(m, p).back());
      }
      result_.rests_on.push_back(all.rests_on);
      for (std::uint32_t lane = 0; lane < lanes_[m].size(); ++lane) {
        result_.finished = result_.finished && lanes_[m][lane].run == role(m).lanes[lane].runs;
      }
    }
  }

  const TransferPlan& plan_;
  std::vector<std::vector<Message>> inbox_;  // [member * ports + port], each with all before it
  std::vector<std::vector<LanePlace>> lanes_;
  Causality result_;
};

}  // namespace stepsim
