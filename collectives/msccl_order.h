// msccl_order.h: which send of an MSCCL file meets which receive, and an order in which all steps can run.
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/msccl.h"

namespace stepsim {

struct MscclPlace {
  std::size_t gpu = 0;
  std::size_t block = 0;
  std::size_t step = 0;
};

inline constexpr std::size_t no_step = SIZE_MAX;

struct MscclOrder {
  std::vector<MscclPlace> places;                  // of all steps, numbered by GPU, block, step
  std::vector<std::vector<std::size_t>> first;     // [gpu][block]: number of its step 0
  std::vector<std::size_t> sent_by;                // of each receiving step: number of the send; else no_step
  std::vector<std::vector<std::size_t>> receiver;  // [gpu][block]: block of the GPU `to` that receives; else no_step
  std::vector<std::size_t> order;                  // step numbers: each after all it waits for
};

/// InputError for connections that two blocks share, sends without receives and the other way round, sends and receives
/// of different sizes, and steps that wait for each other in a circle.
MscclOrder msccl_order(const MscclAlgorithm& algorithm);

/// "gpu[0].tb[1].step[2]"
std::string msccl_key(const MscclPlace& place);

}  // namespace stepsim
