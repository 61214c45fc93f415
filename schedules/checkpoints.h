// checkpoints.h: which results of a layer's forward are computed again in its backward.
//
//   none       everything that the backward reads is kept (per layer of the reduced stack In and Tmp; of the full
//              transformer layer input, normed inputs, Q K V, attention result, residual sum, W_gate, W_in and
//              activation results: 20 D bytes x 2 when plain heads, F = 4 D, gated, as the book counts)
//   full       only the layer's input is kept; the whole forward is played again, its collectives too:
//              8 instead of 6 FLOP per parameter and token (book, "Transformer math")
//   per_layer  N tensors are kept, the input first. The others are spread evenly over those that the backward reads
//              and that are not wider than the input; when these do not suffice, all of them are kept and the rest is
//              spread over the wide ones. Only what the backward needs and does not have is computed again.
// Checkpoints concern layers; the embedding keeps nothing, and the head's forward and backward follow each other.
#pragma once

#include <vector>

#include "schedules/section.h"

namespace stepsim {

/// Indices into section.forward, in order. InputError on "parallelism.checkpoints_per_layer".
std::vector<int> recomputed(const ModelSection& section, const Strategy& strategy);

}  // namespace stepsim
