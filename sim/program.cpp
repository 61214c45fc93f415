#include "sim/program.h"

#include <algorithm>
#include <utility>

namespace stepsim {

OpId Program::add(Op op, const std::vector<Dependency>& waits_for, const std::vector<MemoryChange>& changes) {
  op.first_dependency = static_cast<std::uint32_t>(dependencies.size());
  op.dependencies = static_cast<std::uint32_t>(waits_for.size());
  op.first_memory = static_cast<std::uint32_t>(memory.size());
  op.memory_changes = static_cast<std::uint32_t>(changes.size());
  dependencies.insert(dependencies.end(), waits_for.begin(), waits_for.end());
  memory.insert(memory.end(), changes.begin(), changes.end());
  ops.push_back(op);
  return static_cast<OpId>(ops.size() - 1);
}

NameId StepProgram::name(const std::string& text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<NameId>(found - names.begin());
  names.push_back(text);
  return static_cast<NameId>(names.size() - 1);
}

void Communicator::add_group(std::span<const ClassId> classes) {
  for (std::uint32_t rank = 0; rank < classes.size(); ++rank) {
    group_of[classes[rank]] = groups();
    rank_of[classes[rank]] = rank;
  }
  class_of.insert(class_of.end(), classes.begin(), classes.end());
  first_member.push_back(static_cast<std::uint32_t>(class_of.size()));
}

Communicator communicator(std::string name, std::uint32_t members, std::vector<std::uint32_t> group_of,
                          std::vector<std::uint32_t> rank_of) {
  Communicator family;
  family.name = std::move(name);
  family.class_of.resize(group_of.size());
  for (ClassId who = 0; who < group_of.size(); ++who) {
    family.class_of.at(static_cast<std::size_t>(group_of[who]) * members + rank_of[who]) = who;
  }
  for (std::uint32_t next = members; next <= group_of.size(); next += members) family.first_member.push_back(next);
  family.group_of = std::move(group_of);
  family.rank_of = std::move(rank_of);
  return family;
}

StreamId StepProgram::stream(const std::string& text, bool computes) {
  const auto found = std::find(streams.begin(), streams.end(), text);
  if (found != streams.end()) return static_cast<StreamId>(found - streams.begin());
  streams.push_back(text);
  compute_stream.push_back(computes);
  return static_cast<StreamId>(streams.size() - 1);
}

Bytes bytes_sent(const StepProgram& program, const Collective& collective, ClassId who) {
  const Communicator& family = program.communicators[collective.communicator];
  return bytes_sent(program.plans[collective.plan(family.group_of[who])], family.rank_of[who]);
}

}  // namespace stepsim
