// step_writer.h: appends ops to a StepPlan. Names, streams and collectives are interned; sums are kept.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "schedules/plan.h"
#include "schedules/section.h"

namespace stepsim {

/// An op on its way into the program: each concern adds what it waits for and what memory it changes.
struct PendingOp {
  Op op;
  std::vector<Dependency> waits_for;
  std::vector<MemoryChange> memory;
};

/// Which queue a collective is issued on.
enum class Queue { gather, reduce, own };

class StepWriter {
 public:
  StepWriter(StepPlan& plan, bool separate_reduce_queue);

  /// What is added from here on belongs to the program of this rank of the pipeline.
  void begin_program(std::uint32_t rank);

  /// Compute that takes `work`; flop counts as executed.
  [[nodiscard]] PendingOp compute(WorkPhase phase, const std::string& label, Picoseconds work, double flop);
  /// A collective over these mesh axes. `own`: a queue for the axes that is neither gather nor reduce ("tensor").
  [[nodiscard]] PendingOp collective(CollectiveKind kind, const std::vector<std::string>& axes, Bytes bytes,
                                     Queue queue, const std::string& label, bool critical);
  /// One rank's part in a message along the pipeline; each direction between two ranks is a queue of its own.
  [[nodiscard]] PendingOp message(std::uint32_t from, std::uint32_t to, Bytes bytes, bool rendezvous,
                                  const std::string& label, const std::string& queue = "pipeline");
  OpId add(PendingOp& pending);

  [[nodiscard]] MemoryChange change(const std::string& part, Bytes delta, bool at_end);
  [[nodiscard]] NameId name(const std::string& text);
  [[nodiscard]] Program& program() { return plan_.program.programs[program_]; }
  /// The last compute op so far, or none.
  [[nodiscard]] OpId last_compute() const { return last_compute_; }

 private:
  [[nodiscard]] StreamId stream(const std::string& axes, Queue queue);
  [[nodiscard]] CollectiveId request(const CollectiveRequest& wanted);

  StepPlan& plan_;
  bool separate_reduce_queue_;
  std::size_t program_ = 0;
  Picoseconds compute_time_;  // of this program
  StreamId compute_stream_ = 0;
  OpId last_compute_ = none;
  std::map<std::string, NameId> names_;
  using Asked = std::tuple<CollectiveKind, std::vector<std::string>, Bytes, bool, std::uint32_t, std::uint32_t, bool>;
  std::map<Asked, CollectiveId> requests_;
};

void set_tag(PendingOp& pending, std::int32_t layer, std::int32_t microbatch);

}  // namespace stepsim
