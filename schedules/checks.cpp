#include "schedules/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "schedules/shapes.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

/// Visits of layers in a step; beyond this a scenario is a mistake, and its program would not fit memory.
constexpr std::int64_t most_visits = 1'000'000;
/// Dimensions and counts of tokens stay exact in double, and products of two in 63 bits.
constexpr std::int64_t largest = std::int64_t{1} << 40;

using Problems = std::vector<Problem>;

void complain(Problems& problems, const std::string& key, const std::string& message) {
  problems.push_back({{}, key, message});
}

void check_range(Problems& problems, const std::string& key, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) {
    complain(problems, key, fmt::format("expected a whole number from {} to {}, found {}", low, high, value));
  }
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> small;
  std::vector<std::int64_t> large;
  for (std::int64_t d = 1; d <= number / d; ++d) {
    if (number % d != 0) continue;
    small.push_back(d);
    if (d != number / d) large.push_back(number / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

std::string listed(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t most = 24;
  std::string text;
  for (std::size_t i = 0; i < numbers.size() && i < most; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return numbers.size() > most ? text + fmt::format(", ... {}", numbers.back()) : text;
}

void check_model(Problems& problems, const ModelSpec& model) {
  check_range(problems, "model.layers", model.layers, 1, most_visits);
  check_range(problems, "model.d_model", model.d_model, 1, largest);
  check_range(problems, "model.d_ff", model.d_ff, 1, largest);
  check_range(problems, "model.vocabulary", model.vocabulary, 0, largest);
  if (model.attention == Attention::none) return;
  check_range(problems, "model.heads", model.heads, 1, largest);
  check_range(problems, "model.kv_heads", model.kv_heads, 1, largest);
  check_range(problems, "model.head_dim", model.head_dim, 1, largest);
  check_range(problems, "model.sequence", model.sequence, 1, largest);
  if (model.heads > 0 && model.kv_heads > 0 && model.heads % model.kv_heads != 0) {
    complain(problems, "model.kv_heads",
             fmt::format("{} does not divide the {} heads (fits: {})", model.kv_heads, model.heads,
                         listed(divisors(model.heads))));
  }
}

void check_mesh(Problems& problems, const Strategy& strategy) {
  const std::vector<std::string> roles{"data", "fsdp", "sequence", "pipeline", "tensor"};
  std::vector<std::string> seen;
  double chips = 1;
  for (const MeshAxis& axis : strategy.mesh) {
    if (std::find(roles.begin(), roles.end(), axis.name) == roles.end()) {
      const std::string near = nearest(axis.name, roles);
      complain(problems, "parallelism.mesh",
               fmt::format("unknown axis '{}'{} (known: data, fsdp, sequence, pipeline, tensor)", axis.name,
                           near.empty() ? "" : ", did you mean '" + near + "'?"));
    }
    if (std::find(seen.begin(), seen.end(), axis.name) != seen.end()) {
      complain(problems, "parallelism.mesh." + axis.name, "named twice");
    }
    seen.push_back(axis.name);
    check_range(problems, "parallelism.mesh." + axis.name, axis.extent, 1, 1 << 30);
    chips *= axis.extent;
  }
  if (chips > static_cast<double>(largest)) complain(problems, "parallelism.mesh", "more than 2^40 chips");
}

void check_options(Problems& problems, const Strategy& strategy) {
  constexpr std::int64_t widest = 16;  // bytes of a number
  check_range(problems, "parallelism.batch_tokens", strategy.batch_tokens, 1, largest);
  check_range(problems, "parallelism.microbatches", strategy.microbatches, 1, most_visits);
  check_range(problems, "parallelism.pipeline.segments", strategy.pipeline.segments, 1, 1024);
  check_range(problems, "parallelism.zero", strategy.zero, 0, 3);
  check_range(problems, "parallelism.prefetch", strategy.prefetch, 0, most_visits);
  check_range(problems, "parallelism.bucket", strategy.bucket, 1, INT64_MAX);
  check_range(problems, "parallelism.tensor_overlap_chunks", strategy.tensor_overlap_chunks, 1, 1024);
  check_range(problems, "parallelism.weight_bytes", strategy.weight_bytes, 1, widest);
  check_range(problems, "parallelism.gradient_bytes", strategy.gradient_bytes, 1, widest);
  check_range(problems, "parallelism.activation_bytes", strategy.activation_bytes, 1, widest);
  check_range(problems, "parallelism.moment_bytes", strategy.moment_bytes, 0, widest);
  check_range(problems, "parallelism.master_bytes", strategy.master_bytes, 0, widest);
}

bool tensor_fits(const ModelSpec& model, std::int64_t tensor) {
  if (model.d_model % tensor != 0 || model.d_ff % tensor != 0 || model.vocabulary % tensor != 0) return false;
  if (model.attention == Attention::none) return true;
  // Heads of keys and values are split, or replicated when there are fewer of them.
  return model.heads % tensor == 0 && (model.kv_heads % tensor == 0 || tensor % model.kv_heads == 0);
}

void check_tensor(Problems& problems, const ModelSpec& model, std::int64_t tensor) {
  if (tensor_fits(model, tensor)) return;
  std::vector<std::int64_t> fitting;
  for (const std::int64_t d : divisors(std::gcd(model.d_model, model.d_ff))) {
    if (tensor_fits(model, d)) fitting.push_back(d);
  }
  std::string sizes = fmt::format("d_model {}, d_ff {}", model.d_model, model.d_ff);
  if (model.attention != Attention::none) {
    sizes += fmt::format(", heads {} (kv_heads {})", model.heads, model.kv_heads);
  }
  if (model.vocabulary > 0) sizes += fmt::format(", vocabulary {}", model.vocabulary);
  complain(problems, "parallelism.mesh.tensor",
           fmt::format("{} does not divide {} (fits: {})", tensor, sizes, listed(fitting)));
}

void check_batch(Problems& problems, const Strategy& strategy) {
  const std::int64_t batch = degrees(strategy).batch();
  const std::int64_t parts = strategy.microbatches * batch;  // at most 10^6 x 2^40
  if (strategy.batch_tokens % parts == 0) return;
  std::string fits = "no number of microbatches fits this mesh";
  if (strategy.batch_tokens % batch == 0) {
    fits = "microbatches that fit: " + listed(divisors(strategy.batch_tokens / batch));
  }
  const std::int64_t lower = strategy.batch_tokens / parts * parts;
  const std::int64_t upper = lower + parts;
  complain(problems, "parallelism.batch_tokens",
           fmt::format("{} tokens do not divide by {} microbatches x {} chips that split the batch = {}; nearest "
                       "that do: {}; {}",
                       strategy.batch_tokens, strategy.microbatches, batch, parts,
                       lower > 0 ? fmt::format("{} and {}", lower, upper) : std::to_string(upper), fits));
}

/// A schedule that cuts sequences: into equal parts, of which a chip holds all.
void check_segments(Problems& problems, const ModelSpec& model, const Strategy& strategy) {
  const std::int64_t segments = strategy.pipeline.segments;
  if (segments == 1) return;
  const std::string key = "parallelism.pipeline.segments";
  const std::int64_t tokens = tokens_per_chip(strategy);
  const std::int64_t cut = model.attention == Attention::none ? tokens : model.sequence;
  if (cut % segments != 0) {
    complain(problems, key,
             fmt::format("{} does not divide {} tokens (fits: {})", segments, cut, listed(divisors(cut))));
  }
  if (model.attention == Attention::full) {
    complain(problems, key, "only causal attention lets a part of a sequence go ahead of the next");
  }
  if (model.attention != Attention::none && tokens % model.sequence != 0) {
    complain(problems, key, "sequences that a sequence axis splits cannot be cut as well");
  }
}

/// Chips hold whole sequences, or the sequence axis splits each.
void check_sequences(Problems& problems, const ModelSpec& model, const Strategy& strategy) {
  if (model.attention == Attention::none) return;
  const std::int64_t tokens = tokens_per_chip(strategy);
  std::int64_t parts = 1;
  for (const MeshAxis& axis : strategy.mesh) parts *= axis.name == "sequence" ? axis.extent : 1;
  if (tokens % model.sequence == 0 || tokens * parts % model.sequence == 0) return;
  const std::int64_t needed = model.sequence / std::gcd(tokens, model.sequence);
  complain(problems, "parallelism.batch_tokens",
           fmt::format("{} tokens per chip and microbatch are not whole sequences of {}; use a multiple of {} tokens "
                       "per chip, or a sequence axis of {} (or a multiple of it) that splits each sequence, found {}",
                       tokens, model.sequence, model.sequence, needed, parts));
}

void raise(Problems problems) {
  if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace

void check_sizes(const ModelSpec& model, const Strategy& strategy) {
  Problems problems;
  check_model(problems, model);
  check_mesh(problems, strategy);
  check_options(problems, strategy);
  raise(std::move(problems));  // the checks below divide by these

  problems = {};
  if (model.layers * strategy.microbatches > most_visits) {
    complain(problems, "parallelism.microbatches",
             fmt::format("{} layers x {} microbatches are more than {} visits in a step", model.layers,
                         strategy.microbatches, most_visits));
  }
  (void)parameters(model);  // throws when they are too many
  check_tensor(problems, model, degrees(strategy).tensor);
  check_batch(problems, strategy);
  if (problems.empty()) check_sequences(problems, model, strategy);
  if (problems.empty()) check_segments(problems, model, strategy);
  raise(std::move(problems));
}

}  // namespace stepsim
