// registry.cpp: the pipeline schedules by name. A new one: a file of its own and a line here.
#include "schedules/pipeline/families.h"

namespace stepsim {

const Registry<PipelineFamily>& pipeline_families() {
  static const Registry<PipelineFamily> all = [] {
    Registry<PipelineFamily> families;
    add_gpipe(families);
    add_one_forward_one_backward(families);
    add_interleaved(families);
    add_looped_bfs(families);
    add_seq1f1b(families);
    add_grouped_interleaved(families);
    add_dualpipe(families);
    add_chimera(families);
    add_hanayo(families);
    add_zero_bubble(families);
    add_zero_bubble_auto(families);
    add_torch_zbv(families);
    add_zbv_auto(families);
    add_controllable_memory(families);
    add_v_one_forward_one_backward(families);
    add_v_adaptive(families);
    return families;
  }();
  return all;
}

namespace {

std::vector<std::string> below_one(const PipelineSizes& sizes) {
  std::vector<std::string> problems;
  const auto at_least_one = [&](const char* what, int value) {
    if (value < 1) problems.push_back(std::string(what) + " = " + std::to_string(value) + ": expected at least 1");
  };
  at_least_one("p", sizes.ranks);
  at_least_one("v", sizes.stages_per_rank);
  at_least_one("m", sizes.microbatches);
  at_least_one("segments", sizes.segments);
  return problems;
}

}  // namespace

std::vector<std::string> refusals(const PipelineFamily& family, const PipelineSizes& sizes) {
  std::vector<std::string> problems = below_one(sizes);
  if (!problems.empty()) return problems;
  if (family.stages_per_rank > 0 && sizes.stages_per_rank != family.stages_per_rank) {
    problems.push_back("v = " + std::to_string(sizes.stages_per_rank) + ": expected " +
                       std::to_string(family.stages_per_rank) + (family.stages_per_rank == 1 ? " stage" : " stages") +
                       " a rank");
  }
  if (sizes.group != 0 && !family.takes_groups) {
    problems.push_back("group = " + std::to_string(sizes.group) + ": it has no groups of microbatches to choose");
  }
  if (sizes.segments > 1 && !family.takes_segments) {
    problems.push_back("segments = " + std::to_string(sizes.segments) + ": it does not cut sequences");
  }
  if (sizes.memory_limit && !family.takes_limit) problems.push_back("memory limit: it is not made to one");
  if (family.refusals != nullptr) {
    for (std::string& problem : family.refusals(sizes)) problems.push_back(std::move(problem));
  }
  return problems;
}

PipelineOrder pipeline_order(const std::string& name, const PipelineSizes& sizes) {
  const PipelineFamily& family = pipeline_families().at("schedule", name);
  std::vector<Problem> problems;
  for (const std::string& refusal : refusals(family, sizes)) {
    problems.push_back({{}, "schedule", name + ": " + refusal});
  }
  if (!problems.empty()) throw InputError(problems);
  return family.make(sizes);
}

}  // namespace stepsim
