#include "sim/simulation.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/event_queue.h"
#include "sim/events.h"
#include "sim/flows.h"
#include "sim/int128.h"
#include "sim/memory_meter.h"
#include "sim/open_collectives.h"
#include "sim/prefetch.h"
#include "sim/recorder.h"
#include "sim/step_state.h"

namespace stepsim {
namespace {

constexpr std::uint64_t events_between_reports = 1'000'000;
// From so many events at one instant on, it pays to fetch their state ahead; that of fewer is in the cache already.
constexpr std::size_t many = 2048;

/// Plays one program: rounds of ends, releases and starts until an instant is done, then the next instant.
class Clock {
 public:
  Clock(const StepProgram& program, const Network& network, const RunOptions& options)
      : program_(program),
        network_(network),
        options_(options),
        flows_(network, queue_, kind(EventKind::flow_end)),
        collectives_(program, network, queue_, flows_),
        state_(program, options.exact_steps > 0 ? options.exact_steps : UINT32_MAX),
        memory_(program, options.record_memory),
        recorder_(program),
        random_(options.shuffle_seed) {}

  Timeline run();

 private:
  static constexpr std::uint32_t kind(EventKind k) { return static_cast<std::uint32_t>(k); }
  [[nodiscard]] bool finished() const;
  void play_instant();
  void report_progress();
  void ends();
  [[gnu::always_inline]] void prefetch_for_flow_end(std::size_t i) const;
  [[gnu::always_inline]] void prefetch_for_delivery(std::size_t i) const;
  void handle(const QueuedEvent& event);
  void op_drained(const OpInstance& op, Picoseconds started);
  void flow_drained(FlowId flow);
  void releases();
  void starts();
  void start(const OpInstance& op);
  void launch(const OpInstance& op);
  void start_transfer(const OpInstance& op);
  [[nodiscard]] Picoseconds compute_time(const OpInstance& op) const;
  [[nodiscard]] Picoseconds delivery(Picoseconds started, Picoseconds latency) const;
  template <class T>
  void shuffle(std::vector<T>& list);
  [[nodiscard]] std::string stuck() const;
  [[nodiscard]] std::string name(const OpInstance& op) const;
  void push(Picoseconds time, EventKind k, const OpInstance& op) {
    queue_.push({time, kind(k), op.who, op.op, op.step});
  }

  const StepProgram& program_;
  const Network& network_;
  const RunOptions& options_;
  EventQueue queue_;
  Flows flows_;
  OpenCollectives collectives_;
  StepState state_;
  MemoryMeter memory_;
  Recorder recorder_;
  std::mt19937_64 random_;
  std::uint64_t events_ = 0;
  std::uint64_t next_report_ = events_between_reports;
  std::uint64_t op_transfers_ = 0;
  std::vector<QueuedEvent> batch_;
  std::vector<FlowId> ended_flows_;
  std::vector<std::pair<OpInstance, Event>> happened_;
  std::vector<OpInstance> left_;
  std::vector<OpInstance> ready_;
};

Timeline Clock::run() {
  state_.begin(ready_);
  play_instant();
  while (!finished()) {
    if (queue_.empty()) throw Deadlock(stuck());
    queue_.take_instant(batch_);
    play_instant();
    report_progress();
  }
  Timeline timeline = recorder_.take(collectives_.take_waits());
  timeline.peak = memory_.take_peaks();
  timeline.memory = memory_.take_samples();
  timeline.counters = {events_, collectives_.transfers() + op_transfers_, flows_.solves()};
  return timeline;
}

void Clock::report_progress() {
  if (events_ < next_report_) return;
  next_report_ = events_ + events_between_reports;
  if (options_.progress) options_.progress(recorder_.complete(), recorder_.share_of_step());
}

bool Clock::finished() const {
  if (options_.exact_steps > 0) return recorder_.complete() == options_.exact_steps;
  return recorder_.complete() >= options_.max_steps || recorder_.periodic();
}

void Clock::play_instant() {
  for (;;) {
    ends();
    releases();
    starts();
    if (!queue_.more_now()) break;
    queue_.take_instant(batch_);
  }
  flows_.settle();
  memory_.sample(queue_.now());
  while (recorder_.step_just_ended()) {
    recorder_.add_links(flows_.link_use());
    collectives_.forget_waits_before(recorder_.first_kept());
  }
}

/// Permutes what an instant's phase treats as a set; used only to prove that the order does not matter.
template <class T>
void Clock::shuffle(std::vector<T>& list) {
  if (options_.shuffle_seed == 0) return;
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_() % i]);
}

inline void Clock::prefetch_for_flow_end(std::size_t i) const {
  if (i + prefetch_far >= batch_.size()) return;
  if (batch_[i + prefetch_far].kind == kind(EventKind::flow_end)) flows_.prefetch_flow(batch_[i + prefetch_far].a);
  const QueuedEvent& soon = batch_[i + prefetch_near];
  if (soon.kind != kind(EventKind::flow_end)) return;
  flows_.prefetch_rest(soon.a);
  if (flows_.cargo(soon.a).owner != none) collectives_.prefetch_sender(flows_.cargo(soon.a));
}

inline void Clock::prefetch_for_delivery(std::size_t i) const {
  if (i + prefetch_far >= batch_.size()) return;
  if (batch_[i + prefetch_far].kind == kind(EventKind::delivered))
    collectives_.prefetch_receiver(batch_[i + prefetch_far]);
  if (batch_[i + prefetch_near].kind == kind(EventKind::delivered))
    collectives_.prefetch_next(batch_[i + prefetch_near]);
  flows_.prefetch_start(prefetch_near);
}

void Clock::ends() {
  shuffle(batch_);
  events_ += batch_.size();
  const bool ahead = batch_.size() >= many;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (batch_[i].kind != kind(EventKind::flow_end)) continue;
    if (ahead) prefetch_for_flow_end(i);
    handle(batch_[i]);
  }
  // All flows that end at this instant have left the network: what deliveries allow may start at once, while the state
  // of the chips concerned is in the cache.
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (batch_[i].kind == kind(EventKind::flow_end)) continue;
    if (ahead) prefetch_for_delivery(i);
    handle(batch_[i]);
    collectives_.start_ready();
  }
  batch_.clear();
  collectives_.take_left(left_);
  for (const OpInstance& op : left_) happened_.emplace_back(op, Event::end);
}

void Clock::handle(const QueuedEvent& event) {
  switch (static_cast<EventKind>(event.kind)) {
    case EventKind::flow_end:
      flows_.finish_due(event, ended_flows_);
      for (const FlowId flow : ended_flows_) flow_drained(flow);
      break;
    case EventKind::op_end:
      happened_.push_back({{event.a, event.b, event.c}, Event::end});
      break;
    case EventKind::op_launched:
      collectives_.arrive({event.a, event.b, event.c});
      break;
    case EventKind::op_drained:
      op_drained({event.a, event.b, event.c}, queue_.now());
      break;
    case EventKind::member_drained:
      collectives_.drained(event.a, event.b, event.c);
      break;
    case EventKind::delivered:
      collectives_.delivered(event.a, event.b, event.c);
      break;
    case EventKind::member_leaves:
      collectives_.leave(event.a, event.b);
      break;
  }
}

Picoseconds Clock::delivery(Picoseconds started, Picoseconds latency) const {
  if (options_.latency_model == LatencyModel::additive) return queue_.now() + latency;
  return std::max(queue_.now(), started + latency);
}

/// Its end comes in a later round at the earliest: drained never comes after end.
void Clock::op_drained(const OpInstance& op, Picoseconds started) {
  happened_.emplace_back(op, Event::drained);
  push(delivery(started, network_.route_latency(op_of(program_, op).route)), EventKind::op_end, op);
}

void Clock::flow_drained(FlowId flow) {
  const Cargo& cargo = flows_.cargo(flow);
  if (cargo.owner == none) {
    op_drained({cargo.a, cargo.b, cargo.c}, flows_.started(flow));
    return;
  }
  collectives_.flow_drained(cargo, delivery(flows_.started(flow), flows_.latency(flow)));
}

void Clock::releases() {
  shuffle(happened_);
  for (const auto& [op, event] : happened_) {
    if (event == Event::drained) {
      recorder_.drained(op, queue_.now());
    } else {
      recorder_.ended(op, queue_.now());
      memory_.apply(op.who, program_.run_by(op.who), op_of(program_, op), true);
    }
    state_.happened(op, event, ready_);
  }
  happened_.clear();
}

void Clock::starts() {
  shuffle(ready_);
  for (const OpInstance& op : ready_) {
    if (state_.may_start(op)) start(op);
  }
  ready_.clear();
  collectives_.start_ready();
}

void Clock::start(const OpInstance& op) {
  const Op& one = op_of(program_, op);
  state_.start(op);
  recorder_.started(op, queue_.now());
  memory_.apply(op.who, program_.run_by(op.who), one, false);
  switch (one.kind) {
    case OpKind::compute:
      push(queue_.now() + compute_time(op), EventKind::op_end, op);
      break;
    case OpKind::marker:
      push(queue_.now(), EventKind::op_end, op);
      break;
    case OpKind::collective:
      launch(op);
      break;
    case OpKind::transfer:
      start_transfer(op);
      break;
  }
}

void Clock::launch(const OpInstance& op) {
  const Picoseconds time = program_.collectives[op_of(program_, op).collective].launch;
  if (time.count() > 0) {
    push(queue_.now() + time, EventKind::op_launched, op);
  } else {
    collectives_.arrive(op);
  }
}

void Clock::start_transfer(const OpInstance& op) {
  const Op& one = op_of(program_, op);
  ++op_transfers_;
  if (one.bytes == 0 || network_.hops(one.route).empty()) {
    push(queue_.now(), EventKind::op_drained, op);
    return;
  }
  flows_.start(one.route, one.bytes, cargo_of(op));
}

Picoseconds Clock::compute_time(const OpInstance& op) const {
  const Picoseconds work = op_of(program_, op).work;
  if (program_.slowness.empty()) return work;
  const auto [slower, than] = program_.slowness[op.who];
  const Int128 time = (static_cast<Int128>(work.count()) * slower + than - 1) / than;
  if (time > INT64_MAX) throw TimeOverflow();
  return Picoseconds(static_cast<std::int64_t>(time));
}

std::string Clock::name(const OpInstance& op) const {
  const Op& one = op_of(program_, op);
  std::string text = program_.names[one.tag.label];
  if (text.empty()) text = "op " + std::to_string(op.op);
  if (one.tag.layer >= 0) text += " of layer " + std::to_string(one.tag.layer);
  return text + " in step " + std::to_string(op.step);
}

std::string Clock::stuck() const {
  constexpr int shown_max = 8;
  std::string text = "deadlock at " + std::to_string(queue_.now().count()) + " ps: nothing can move";
  int shown = 0;
  for (ClassId who = 0; who < state_.classes(); ++who) {
    for (const StepState::Stuck& one : state_.stuck(who)) {
      if (shown++ == shown_max) return text + "\n  ...";
      text += "\n  class " + std::to_string(who) + ", stream " + program_.streams[op_of(program_, one.op).stream] +
              ": " + name(one.op);
      if (one.started) {
        text +=
            " has started" +
            (op_of(program_, one.op).kind == OpKind::collective ? ", " + collectives_.describe(one.op) : std::string());
      }
      for (const OpInstance& missing : state_.missing(one.op)) text += ", waits for " + name(missing);
    }
  }
  return text;
}

}  // namespace

Timeline simulate(const StepProgram& program, const Network& network, const RunOptions& options) {
  if (options.exact_steps == 0 && options.max_steps == 0) throw std::logic_error("at least one step must be played");
  check(program, network);
  return Clock(program, network, options).run();
}

}  // namespace stepsim
