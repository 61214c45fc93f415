// formulas.h: closed forms of training arithmetic, as functions of plain numbers in SI base units.
//
// They stand behind `stepsim check` and the tests; the simulator never takes its answer from them. Letters in the laws
// (book "How To Scale Your Model", chapters "Roofline", "Training" and "Applied training", where no other source is
// named): B tokens of the global batch, D = d_model, F = d_ff, N chips, X FSDP ways, Y tensor ways, M axes of the
// hardware in use, C FLOP/s of a chip, W bytes/s of one axis (both directions of a closed ring), alpha = C / W. Weights
// and activations are bf16 (2 bytes) unless a size is given.
//
// They keep the book's idealisations: V/W per ring whatever its length, i.e. without the exact (N-1)/N (ring_factor),
// and all axes closed. The bounds beside the algorithms (collectives/) have neither.
#pragma once

#include <cstdint>

namespace stepsim {

// --- Rooflines -------------------------------------------------------------------------------------------------------

/// C / W in FLOP per byte; for bf16 matmuls also the tokens per chip at which one ring hides behind them.
double arithmetic_intensity(double flops, double rate);

/// Tokens above which a matmul whose weights stream at `rate` (HBM, PCIe) is compute-bound, B << D, F:
/// 2BDF/C = bytes DF/W, so B = bytes C / 2W.
double critical_batch(double flops, double rate, double weight_bytes = 2);

/// The same with every byte of [B,D] x [D,F] -> [B,F] counted: 2BDF/C = bytes (DF + BD + BF)/W. Infinite when
/// the activations alone take longer than the matmul.
double critical_batch_exact(double flops, double rate, double d_model, double d_ff, double element_bytes);

/// Tokens for a mixture of experts of which a token uses `active`: weights are read for all, used by few.
double expert_batch(double dense_batch, double experts, double active);

/// Contracting size above which a matmul split on it over `ways` chips hides the exchange of partial sums
/// over a link of `rate` one way: 2BDF/(n C) = 2BF/w, so D = n C / w.
double split_contraction_min(double flops, double rate, double ways);

/// D above which (compute-bound) multiplying shards and reducing beats gathering the weights: 2BDF/C = 4BF/W.
double reduce_over_gather_min(double alpha);

/// Bytes of an array below which its `steps` transfers of a link are bound by latency: steps w T.
double latency_bound_bytes(double rate, double latency, double steps = 1);

/// (N-1)/N: the share of an array that a ring of N really moves; V/W and the thresholds below fall by it.
double ring_factor(double members);

// --- Least batch and greatest degree that keep communication hidden --------------------------------------------------

/// Tokens per chip for DP or FSDP over M axes: alpha / M.
double fsdp_tokens_per_chip(double alpha, double axes);

/// Tensor ways up to which activations hide: M F / alpha, whatever the batch.
double tensor_ways_max(double d_ff, double alpha, double axes);

/// F needed for Y tensor ways: Y alpha / M.
double tensor_width_min(double ways, double alpha, double axes);

/// Tokens per chip for FSDP + TP at the best split: alpha^2 / (M_X M_Y F).
double mixed_tokens_per_chip(double alpha, double d_ff, double fsdp_axes, double tensor_axes);

/// FSDP ways of that split: X = sqrt(B/F x M_X/M_Y x N).
double optimal_fsdp(double tokens, double d_ff, double chips, double fsdp_axes, double tensor_axes);

/// The power of two X that divides N with the least max(T_fsdp, T_tensor).
std::int64_t best_power_of_two_fsdp(double tokens, double d_ff, std::int64_t chips, double fsdp_axes,
                                    double tensor_axes);

/// Tokens per slice for DP between slices, egress W_dcn per chip: C / W_dcn; times ring_factor(slices)
/// exactly.
double dcn_tokens_per_slice(double flops, double rate_per_chip);

// --- Times of one two-matmul feed-forward layer, seconds -------------------------------------------------------------

/// Forward: 4BDF/(N C). The backward takes twice as long.
double forward_math_time(double tokens, double d_model, double d_ff, double chips, double flops);

/// FSDP weight gathers of a forward: 4DF/(Y M_X W). The DP gradient all-reduce of a backward takes twice as
/// long.
double fsdp_comms_time(double d_model, double d_ff, double tensor_ways, double axes, double axis_rate);

/// Tensor gather and reduce-scatter of a forward: 4BD/(X M_Y W).
double tensor_comms_time(double tokens, double d_model, double fsdp_ways, double axes, double axis_rate);

/// DP all-reduce of a layer's gradients between slices of M chips: 8DF/(M W_dcn).
double dcn_comms_time(double d_model, double d_ff, double chips_per_slice, double rate_per_chip);

// --- Cost of training ------------------------------------------------------------------------------------------------

/// FLOP to train P parameters on `tokens`: 6 P tokens.
double training_flop(double parameters, double tokens);

/// Seconds for `flop` on all chips at a model FLOP utilisation.
double seconds_at(double flop, double chips, double flops, double mfu);

/// The same in days.
double training_days(double flop, double chips, double flops, double mfu);

/// Model FLOP utilisation: flop / (chip seconds x C).
double utilisation(double flop, double chip_seconds, double flops);

// --- Memory, bytes ---------------------------------------------------------------------------------------------------

/// Activations kept for the backward: tokens x layers x (sum of the kept tensors' widths) x bytes.
double checkpoint_bytes(double tokens, double layers, double kept_width, double element_bytes = 2);

/// Keys and values of a token in all layers: 2 L K H bytes.
double kv_bytes_per_token(double layers, double kv_heads, double head_dim, double element_bytes);

/// Parameters whose state fills a memory.
double largest_model(double memory, double bytes_per_parameter);

/// Chips (a fraction: not rounded up) that `bytes` fill.
double chips_for_memory(double bytes, double memory_per_chip);

/// A total spread evenly: tokens or bytes per chip.
double per_chip(double total, double chips);

}  // namespace stepsim
