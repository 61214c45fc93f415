#include "scenarios/formulas.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepsim {

namespace {

constexpr double seconds_per_day = 86400;
constexpr double bf16 = 2;

}  // namespace

double arithmetic_intensity(double flops, double rate) {
  return flops / rate;
}

double critical_batch(double flops, double rate, double weight_bytes) {
  return weight_bytes * flops / (2 * rate);
}

double critical_batch_exact(double flops, double rate, double d_model, double d_ff, double element_bytes) {
  const double weights = element_bytes * d_model * d_ff / rate;
  const double per_token = 2 * d_model * d_ff / flops - element_bytes * (d_model + d_ff) / rate;
  return per_token > 0 ? weights / per_token : std::numeric_limits<double>::infinity();
}

double expert_batch(double dense_batch, double experts, double active) {
  return dense_batch * experts / active;
}

double split_contraction_min(double flops, double rate, double ways) {
  return ways * flops / rate;
}

double reduce_over_gather_min(double alpha) {
  return 2 * alpha;
}

double latency_bound_bytes(double rate, double latency, double steps) {
  return steps * rate * latency;
}

double ring_factor(double members) {
  return (members - 1) / members;
}

double fsdp_tokens_per_chip(double alpha, double axes) {
  return alpha / axes;
}

double tensor_ways_max(double d_ff, double alpha, double axes) {
  return axes * d_ff / alpha;
}

double tensor_width_min(double ways, double alpha, double axes) {
  return ways * alpha / axes;
}

double mixed_tokens_per_chip(double alpha, double d_ff, double fsdp_axes, double tensor_axes) {
  return alpha * alpha / (fsdp_axes * tensor_axes * d_ff);
}

double optimal_fsdp(double tokens, double d_ff, double chips, double fsdp_axes, double tensor_axes) {
  return std::sqrt(tokens / d_ff * fsdp_axes / tensor_axes * chips);
}

std::int64_t best_power_of_two_fsdp(double tokens, double d_ff, std::int64_t chips, double fsdp_axes,
                                    double tensor_axes) {
  std::int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t ways = 1; ways <= chips && chips % ways == 0; ways *= 2) {
    const auto x = static_cast<double>(ways);
    const double y = static_cast<double>(chips) / x;
    const double time =
        std::max(fsdp_comms_time(1, d_ff, y, fsdp_axes, 1), tensor_comms_time(tokens, 1, x, tensor_axes, 1));
    if (time < least) {
      least = time;
      best = ways;
    }
  }
  return best;
}

double dcn_tokens_per_slice(double flops, double rate_per_chip) {
  return flops / rate_per_chip;
}

double forward_math_time(double tokens, double d_model, double d_ff, double chips, double flops) {
  return 4 * tokens * d_model * d_ff / (chips * flops);
}

double fsdp_comms_time(double d_model, double d_ff, double tensor_ways, double axes, double axis_rate) {
  return 2 * bf16 * d_model * d_ff / (tensor_ways * axes * axis_rate);
}

double tensor_comms_time(double tokens, double d_model, double fsdp_ways, double axes, double axis_rate) {
  return 2 * bf16 * tokens * d_model / (fsdp_ways * axes * axis_rate);
}

double dcn_comms_time(double d_model, double d_ff, double chips_per_slice, double rate_per_chip) {
  return 4 * bf16 * d_model * d_ff / (chips_per_slice * rate_per_chip);
}

double training_flop(double parameters, double tokens) {
  return 6 * parameters * tokens;
}

double seconds_at(double flop, double chips, double flops, double mfu) {
  return flop / (chips * flops * mfu);
}

double training_days(double flop, double chips, double flops, double mfu) {
  return seconds_at(flop, chips, flops, mfu) / seconds_per_day;
}

double utilisation(double flop, double chip_seconds, double flops) {
  return flop / (chip_seconds * flops);
}

double checkpoint_bytes(double tokens, double layers, double kept_width, double element_bytes) {
  return tokens * layers * kept_width * element_bytes;
}

double kv_bytes_per_token(double layers, double kv_heads, double head_dim, double element_bytes) {
  return 2 * layers * kv_heads * head_dim * element_bytes;
}

double largest_model(double memory, double bytes_per_parameter) {
  return memory / bytes_per_parameter;
}

double chips_for_memory(double bytes, double memory_per_chip) {
  return bytes / memory_per_chip;
}

double per_chip(double total, double chips) {
  return total / chips;
}

}  // namespace stepsim
