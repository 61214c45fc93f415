// tape.cpp: the units and sections of a rank, and its actions one after the other (action_writer.h).
#include "schedules/tape.h"

#include <utility>

#include "schedules/action_writer.h"

namespace stepsim {

namespace {

void collect_units(std::vector<WeightUnit>& units, const ModelSection& section, int layer) {
  for (WeightUnit unit : section.units) {
    unit.layer = layer;
    units.push_back(unit);
  }
}

/// The tables of a stage's ends. Tied embeddings are one table with the final norm in it, wherever a rank has either end.
void collect_embedding(std::vector<WeightUnit>& units, const ModelSpec& model, const Sections& sections) {
  collect_units(units, sections.embedding, -1);
  if (model.tied_embeddings) units.back().parameters = sections.head.units.front().parameters;
}

void collect_stage(Tape& tape, const ModelSpec& model, const Stage& stage) {
  const Sections& sections = tape.sections.front();
  tape.first_unit.push_back(static_cast<int>(tape.units.size()));
  if (stage.embedding) collect_embedding(tape.units, model, sections);
  for (int i = 0; i < stage.layers; ++i) collect_units(tape.units, sections.layer, stage.first_layer + i);
  if (!stage.head) return;
  if (!model.tied_embeddings) {
    collect_units(tape.units, sections.head, -1);
  } else if (table_of(tape.stages, stage) == nullptr) {
    collect_embedding(tape.units, model, sections);
  }
}

Sections sections_of(const ModelSpec& model, const Strategy& strategy) {
  Sections sections;
  sections.layer = layer_section(model, strategy);
  split_for_overlap(sections.layer, strategy.tensor_overlap_chunks);
  if (model.vocabulary == 0) return sections;
  sections.embedding = embedding_section(model, strategy);
  sections.head = head_section(model, strategy);
  split_for_overlap(sections.head, strategy.tensor_overlap_chunks);
  return sections;
}

std::vector<WeightUnit> units_of(const ModelSpec& model, const Strategy& strategy, std::vector<Stage> stages) {
  Tape tape;
  tape.sections.push_back(sections_of(model, strategy));
  tape.stages = std::move(stages);
  for (const Stage& stage : tape.stages) collect_stage(tape, model, stage);
  return std::move(tape.units);
}

/// First and last user of each tensor.
void find_users(Tape& tape) {
  std::vector<bool> seen(tape.tensors.size(), false);
  for (std::uint32_t i = 0; i < tape.ops.size(); ++i) {
    for (const auto* list : {&tape.ops[i].reads, &tape.ops[i].writes}) {
      for (const std::uint32_t t : *list) {
        if (!seen[t]) tape.tensors[t].first = i;
        seen[t] = true;
        tape.tensors[t].last = i;
      }
    }
  }
}

}  // namespace

std::vector<WeightUnit> weight_units(const ModelSpec& model, const Strategy& strategy) {
  const bool ends = model.vocabulary > 0;
  return units_of(model, strategy, {{0, 0, 0, static_cast<std::int32_t>(model.layers), ends, ends}});
}

std::vector<WeightUnit> weight_units(const ModelSpec& model, const Strategy& strategy, const PipelineOrder& order,
                                     int rank) {
  return units_of(model, strategy, stages_of(model, strategy, order, rank));
}

void unroll(Tape& tape, const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip,
            const PipelineOrder& order, int rank) {
  Strategy part = strategy;
  part.part.count = order.segments;
  for (part.part.index = 0; part.part.index < order.segments; ++part.part.index) {
    tape.sections.push_back(sections_of(model, part));
  }
  tape.has_ends = model.vocabulary > 0;
  tape.stages = stages_of(model, strategy, order, rank);
  for (std::size_t s = 0; s < tape.stages.size(); ++s) {
    collect_stage(tape, model, tape.stages[s]);
    tape.stage_of.resize(tape.units.size(), s);
  }
  ActionWriter(tape, model, strategy, chip, order, rank).write();
  find_users(tape);
}

}  // namespace stepsim
