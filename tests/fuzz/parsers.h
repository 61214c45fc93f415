// parsers.h: what every text must do to a parser: be read into a graph or a plan that holds together, or be refused with a place.
//
// The libFuzzer targets (NAME_fuzz.cpp, -DSTEPSIM_FUZZ=ON with clang) and the test that plays the same functions over
// the corpus and over damaged copies of it (parsers_test.cpp) share these. A broken promise throws std::logic_error.
#pragma once

#include <set>
#include <stdexcept>
#include <string>

#include "collectives/msccl.h"
#include "scenarios/import_nccl.h"
#include "scenarios/import_smi.h"
#include "schedules/pipeline/csv.h"
#include "sim/input_error.h"

namespace stepsim::testing {

inline void require(bool kept, const std::string& promise) {
  if (!kept) throw std::logic_error(promise);
}

inline void require_place(const InputError& error) {
  require(!error.problems().empty(), "a refusal says what is wrong");
  for (const Problem& problem : error.problems()) {
    require(!problem.message.empty() && (problem.place.line > 0 || !problem.key.empty()), "a refusal says where");
  }
}

inline void require_sound(const GraphSpec& graph) {
  std::set<std::string> names;
  bool chips = false;
  for (const GraphVertex& vertex : graph.vertices) {
    require(names.insert(vertex.name).second, "vertices have names of their own");
    chips = chips || vertex.kind == VertexKind::chip;
  }
  require(chips, "there is a chip");
  for (const GraphCable& cable : graph.cables) {
    require(names.contains(cable.from) && names.contains(cable.to), "cables join vertices");
    require(cable.capacity > 0 && cable.from != cable.to, "cables carry something to another vertex");
  }
}

/// True when the text is taken.
template <class Parse>
bool read_or_refuse(const Parse& parse) {
  try {
    const GraphSpec graph = parse();
    require_sound(graph);
    require(graph == parse(), "the same text is the same graph");
    return true;
  } catch (const InputError& error) {
    require_place(error);
    return false;
  }
}

inline bool read_nccl(const std::string& text) {
  return read_or_refuse([&] { return import_nccl_topology(text, "topology.xml"); });
}

inline bool read_smi(const std::string& text) {
  return read_or_refuse([&] { return import_nvidia_smi(text, "matrix.txt", {4, 3, 22'000'000'000}); });
}

/// An algorithm of a user's own has to be a plan that is whole (sim/transfer_plan.h) for any kind that it says it does.
inline bool read_msccl(const std::string& text) {
  try {
    const MscclAlgorithm algorithm = parse_msccl(text, "algorithm.xml");
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
      CollectiveSpec spec{.kind = kind, .shape = {}, .bytes = 1 << 20};
      spec.shape.push_back({.extent = static_cast<int>(algorithm.gpus.size()), .closed = true});
      try {
        check(tabulate(msccl_pattern(algorithm, spec)));
      } catch (const InputError& error) {
        require_place(error);
      }
    }
    return true;
  } catch (const InputError& error) {
    require_place(error);
    return false;
  }
}

/// A schedule that is taken is whole, comes back from what is written of it, and has its stages on its ranks.
inline bool read_pipeline_schedule(const std::string& text) {
  try {
    const ImportedOrder read = read_pipeline_csv(text, "schedule.csv");
    std::size_t actions = 0;
    for (const RankOrder& list : read.order.ranks) actions += list.size();
    const auto results = static_cast<std::size_t>(read.order.stages) * static_cast<std::size_t>(read.order.units);
    require(actions >= 2 * results && actions <= 3 * results, "every stage has a forward and a backward of every one");
    const std::string written = write_pipeline_csv(read.order, read.idle);
    const ImportedOrder again = read_pipeline_csv(written, "schedule.csv");
    require(again.order.ranks == read.order.ranks && again.order.rank_of == read.order.rank_of, "the same order again");
    require(write_pipeline_csv(again.order, again.idle) == written, "and the same text");
    const ImportedOrder lowered = read_pipeline_csv(write_pipeline_csv_with_communication(read.order), "schedule.csv");
    require(lowered.order.ranks == read.order.ranks, "communication changes no order");
    return true;
  } catch (const InputError& error) {
    require(!error.problems().empty(), "a refusal says what is wrong");
    for (const Problem& problem : error.problems()) {
      require(!problem.message.empty() && problem.place.file == "schedule.csv", "a refusal says where");
    }
    return false;
  }
}

}  // namespace stepsim::testing
