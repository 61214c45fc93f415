// program.h: what the chips do in a step, as ops on streams with dependencies.
//
// A StepProgram is played step after step; ops of a step may depend on ops of the step before. It knows classes,
// not chips: one program per role, and which program each class runs. Names stand in one string table, so the
// clock learns no words of its user.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/network.h"
#include "sim/time.h"
#include "sim/transfer_plan.h"

namespace stepsim {

using ClassId = std::uint32_t;
using OpId = std::uint32_t;          // index in Program::ops
using StreamId = std::uint32_t;      // index in StepProgram::streams
using NameId = std::uint32_t;        // index in StepProgram::names
using CollectiveId = std::uint32_t;  // index in StepProgram::collectives
using CommunicatorId = std::uint32_t;

inline constexpr std::uint32_t none = UINT32_MAX;

enum class OpKind : std::uint8_t {
  compute,     // `work` at the class's speed, on its stream
  collective,  // one member's part in StepProgram::collectives[collective]
  transfer,    // one flow of `bytes` over `route`; the stream is free when it is delivered
  marker,      // takes no time: allocates, frees, joins
};

/// What an op waits for, besides its stream.
enum class Event : std::uint8_t {
  end,      // compute done, collective left, transfer delivered
  drained,  // transfers only: the sender and the links are free
};

struct Dependency {
  OpId op = 0;                   // of the same program
  std::uint32_t steps_back = 0;  // 0: of this step, 1: of the step before (nothing to wait for in the first step)
  Event event = Event::end;
};

/// A change of the class's memory. delta in bytes, negative frees.
struct MemoryChange {
  NameId part = 0;  // "parameters", "activations", ...
  Bytes delta = 0;
  bool at_end = false;  // when the op ends, else when it starts
};

/// For reports. phase says what kind of work a compute op is ("forward"); axis and label name a collective.
struct Tag {
  NameId phase = 0;
  NameId axis = 0;   // of a collective: the mesh axes of its group ("fsdp"), for exposed.<axis>
  NameId label = 0;  // "mlp.in", "all-gather mlp.in"
  NameId peer = 0;   // of a collective: what waiting for a peer counts as in the breakdown; 0: straggler
  std::int32_t layer = -1;
  std::int32_t microbatch = -1;
  std::int32_t stage = -1;  // of a pipeline
};

struct Op {
  OpKind kind = OpKind::marker;
  StreamId stream = 0;
  Picoseconds work;  // compute, at speed 1
  CollectiveId collective = none;
  RouteId route = none;  // transfer
  Bytes bytes = 0;       // transfer
  std::uint32_t first_dependency = 0;
  std::uint32_t dependencies = 0;
  std::uint32_t first_memory = 0;
  std::uint32_t memory_changes = 0;
  bool ends_step = false;  // the step of a class ends when the last of these ends; none: with its last op
  Tag tag;
};

/// The ops of one role in an order in which each stream plays its own.
struct Program {
  std::vector<Op> ops;
  std::vector<Dependency> dependencies;
  std::vector<MemoryChange> memory;
  std::vector<MemoryChange> resident;  // there before the first step: parameters, optimizer state

  /// Appends; the returned id is what later ops depend on.
  OpId add(Op op, const std::vector<Dependency>& waits_for = {}, const std::vector<MemoryChange>& changes = {});
};

/// A family of disjoint groups of classes that run the same collectives; one per set of mesh axes. Groups of like
/// chips fold to one group of their classes, so groups may differ in size.
struct Communicator {
  std::string name;                               // the mesh axes, "fsdp" or "data+fsdp"
  std::vector<ClassId> class_of;                  // by rank, group after group
  std::vector<std::uint32_t> first_member = {0};  // per group, where it starts in class_of; one more at the end
  std::vector<std::uint32_t> group_of;            // per class
  std::vector<std::uint32_t> rank_of;             // per class, within its group

  [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(first_member.size() - 1); }
  [[nodiscard]] std::span<const ClassId> members(std::uint32_t group) const {
    return {class_of.data() + first_member[group], class_of.data() + first_member[group + 1]};
  }
  /// Appends a group of these classes; group_of and rank_of must be as long as there are classes.
  void add_group(std::span<const ClassId> classes);
};

/// Groups of equal size, from the place of each class.
Communicator communicator(std::string name, std::uint32_t members, std::vector<std::uint32_t> group_of,
                          std::vector<std::uint32_t> rank_of);

/// A collective that ops refer to, with its plan laid on the network for every class.
struct Collective {
  CommunicatorId communicator = 0;
  std::vector<std::uint32_t> plans;  // in StepProgram::plans, per group; of equally many ports; one entry: all the same
  std::uint32_t routes = 0;          // in StepProgram::route_tables: [class * plan.ports + port]
  NameId kind = 0;                   // "all-gather"
  Bytes array = 0;                   // bytes of the full array, for reports
  Picoseconds launch = {};           // from an op's start until its member arrives

  [[nodiscard]] std::uint32_t plan(std::uint32_t group) const { return plans[plans.size() == 1 ? 0 : group]; }
};

/// How many times longer a slow class computes, as a fraction: {11, 10} takes 1.1 times as long.
struct Slowness {
  std::uint32_t slower = 1;
  std::uint32_t than = 1;
  friend bool operator==(const Slowness&, const Slowness&) = default;
};

struct StepProgram {
  std::vector<std::string> names{""};  // NameId -> text; names[0] is empty
  std::vector<std::string> streams;    // StreamId -> text
  std::vector<bool> compute_stream;    // per stream: does time on it count as computing?
  std::vector<Program> programs;
  std::vector<std::uint32_t> program_of;  // per class
  std::vector<std::uint64_t> chips_of;    // per class: how many chips it stands for
  std::vector<Slowness> slowness;         // per class; empty: all nominal
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;
  std::vector<TransferPlan> plans;
  std::vector<std::vector<RouteId>> route_tables;

  /// What a class does in a step.
  [[nodiscard]] const Program& run_by(ClassId who) const { return programs[program_of[who]]; }

  NameId name(const std::string& text);  // interned
  StreamId stream(const std::string& text, bool computes);
};

/// Bytes that a class sends in a collective it is a member of.
Bytes bytes_sent(const StepProgram& program, const Collective& collective, ClassId who);

/// Checks ids, and that members of every group issue the same collectives in the same order on each stream; throws
/// std::logic_error naming the class, stream and first difference.
void check(const StepProgram& program, const Network& network);

}  // namespace stepsim
