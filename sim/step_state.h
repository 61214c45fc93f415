// step_state.h: which ops of which steps a class may start: dependency counts and the place of each stream.
//
// Steps overlap: ops of step s + 1 may start while step s is still going on, as far as streams and dependencies
// allow. An op of step s + 2 does not start before all ops of step s have ended on its class, as a framework's host
// runs a bounded way ahead; this also keeps the state bounded.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/events.h"
#include "sim/program.h"

namespace stepsim {

class StepState {
 public:
  /// Ops of step `limit` and later never start.
  StepState(const StepProgram& program, std::uint32_t limit);

  /// What became startable is appended: one entry per stream whose next op is ready.
  void begin(std::vector<OpInstance>& ready);

  /// The op was started; its stream is busy until release_stream().
  void start(const OpInstance& op);

  /// An event of an op has happened: counts down its dependents. The op's stream is released by Event::end.
  void happened(const OpInstance& op, Event event, std::vector<OpInstance>& ready);

  /// True when `op` is still the next of its idle stream, and waits for nothing (a ready entry may be stale).
  [[nodiscard]] bool may_start(const OpInstance& op) const;

  [[nodiscard]] std::uint32_t classes() const { return static_cast<std::uint32_t>(program_.program_of.size()); }
  [[nodiscard]] std::uint32_t first_op(ClassId who) const { return first_op_[who]; }
  /// Steps that have ended completely on this class.
  [[nodiscard]] std::uint32_t steps_done(ClassId who) const { return classes_[who].done; }

  /// For a deadlock's message: the first op of each stream that is not finished, with what is still missing.
  struct Stuck {
    OpInstance op;
    bool started = false;
    std::uint32_t missing = 0;  // dependencies
  };
  [[nodiscard]] std::vector<Stuck> stuck(ClassId who) const;
  /// The ops (of the same class) that `op` still waits for.
  [[nodiscard]] std::vector<OpInstance> missing(const OpInstance& op) const;

 private:
  struct Dependent {
    OpId op = 0;
    std::uint32_t steps_back = 0;
    Event event = Event::end;
  };
  struct Static {                             // of a program
    std::vector<std::uint32_t> stream_first;  // [stream], one more at the end
    std::vector<OpId> stream_ops;
    std::vector<std::uint32_t> dependent_first;  // [op], one more at the end
    std::vector<Dependent> dependents;
  };
  struct Block {  // one step of one class
    std::uint32_t step = UINT32_MAX;
    std::uint32_t ops_left = 0;
    std::vector<std::uint32_t> missing;  // [op]
    std::vector<std::uint8_t> happened;  // [op]: bit 0 drained, bit 1 end
  };
  struct Cursor {
    std::uint32_t step = 0;
    std::uint32_t place = 0;  // among the stream's ops
    bool busy = false;
  };
  struct ClassState {
    std::array<Block, 2> blocks;  // of step s at s % 2
    std::uint32_t begun = 0;      // steps begun
    std::uint32_t done = 0;
    std::vector<Cursor> cursors;  // [stream]
  };

  static Static index(const Program& program, std::size_t streams);
  void begin_step(ClassId who, std::vector<OpInstance>& ready);
  [[nodiscard]] bool has_happened(const ClassState& state, std::uint32_t step, const Dependency& dependency) const;
  void offer(ClassId who, StreamId stream, std::vector<OpInstance>& ready) const;
  void advance(ClassId who, const OpInstance& op, std::vector<OpInstance>& ready);
  [[nodiscard]] const Static& of(ClassId who) const { return static_[program_.program_of[who]]; }

  const StepProgram& program_;
  std::uint32_t limit_;
  std::vector<Static> static_;
  std::vector<ClassState> classes_;
  std::vector<std::uint32_t> first_op_;
};

}  // namespace stepsim
