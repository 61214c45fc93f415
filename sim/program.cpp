#include "sim/program.h"

#include <algorithm>

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

StreamId StepProgram::stream(const std::string& text, bool computes) {
  const auto found = std::find(streams.begin(), streams.end(), text);
  if (found != streams.end()) return static_cast<StreamId>(found - streams.begin());
  streams.push_back(text);
  compute_stream.push_back(computes);
  return static_cast<StreamId>(streams.size() - 1);
}

}  // namespace stepsim
