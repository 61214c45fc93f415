#include "scenarios/calculator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "scenarios/formulas.h"
#include "scenarios/link_rates.h"
#include "scenarios/pipeline_figures.h"
#include "scenarios/placement.h"
#include "schedules/pipeline/limits.h"

namespace stepsim {

namespace {

using Rows = std::vector<CalculatorRow>;

std::string si(double value, const std::string& unit) {
  static constexpr std::array<std::pair<double, const char*>, 9> prefixes{
      {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}}};
  for (const auto& [scale, prefix] : prefixes) {
    if (value >= scale) return fmt::format("{:.4g} {}{}", value / scale, prefix, unit);
  }
  return fmt::format("{:.4g} {}", value, unit);
}

std::string number(double value) {
  return value < 1e7 ? fmt::format("{:.10g}", std::round(value * 100) / 100) : fmt::format("{:.4e}", value);
}

std::string axes_text(std::size_t axes) {
  return axes == 1 ? "1 axis" : fmt::format("{} axes", axes);
}

/// What the laws need of a scenario.
struct Figures {
  double chips = 1;
  double slices = 1;
  double tokens = 0;
  double flops = 0;      // peak of the strategy's dtype
  double axis_rate = 0;  // W: both directions of a torus axis
  double d_model = 0;
  double d_ff = 0;
  double layers = 0;
  Degrees degrees;
};

Figures figures(const Scenario& scenario) {
  Figures f;
  for (const MeshAxis& axis : scenario.strategy.mesh) f.chips *= axis.extent;
  f.slices = std::max(1, scenario.cluster.slices);
  f.tokens = static_cast<double>(scenario.strategy.batch_tokens);
  const auto peak = scenario.cluster.chip.flops.find(scenario.strategy.dtype);
  if (peak == scenario.cluster.chip.flops.end()) {
    throw InputError("parallelism.dtype", "the chip has no peak FLOP/s for '" + scenario.strategy.dtype + "'");
  }
  f.flops = peak->second;
  f.axis_rate = 2.0 * static_cast<double>(scenario.cluster.chip.link_rate);
  f.d_model = static_cast<double>(scenario.model.d_model);
  f.d_ff = static_cast<double>(scenario.model.d_ff);
  f.layers = static_cast<double>(scenario.model.layers);
  f.degrees = degrees(scenario.strategy);
  return f;
}

bool is_torus(const Scenario& scenario) {
  return scenario.cluster.kind == "torus" && scenario.cluster.chip.link_rate > 0;
}

void model_rows(const Scenario& scenario, Rows& rows) {
  const ParameterCount count = parameters(scenario.model);
  const auto add = [&](const std::string& name, std::int64_t value, const std::string& law) {
    if (value > 0) rows.push_back({name, fmt::format("{}", value), law});
  };
  add("parameters", count.total, "layers x (attention + feed-forward + norms) + embedding + head + final norm");
  add("parameters, attention per layer", count.attention_per_layer, "2 D N H + 2 D K H");
  add("parameters, feed-forward per layer", count.feed_forward_per_layer, scenario.model.gated ? "3 D F" : "2 D F");
  add("parameters, norms per layer", count.norms_per_layer, "2 D");
  add("parameters, embedding", count.embedding, "V D");
  add("parameters, head", count.head, "V D");
  add("parameters, final norm", count.final_norm, "D");
}

void work_rows(const Scenario& scenario, const Figures& f, Rows& rows) {
  const TrainingFlops work = training_flops(scenario.model);
  const double per_token = work.matmul_per_token + work.attention_per_token;
  const double parameter_count = static_cast<double>(parameters(scenario.model).total);
  rows.push_back({"FLOP per token", si(per_token, "FLOP"), work.formula});
  rows.push_back({"FLOP per token, attention scores", si(work.attention_per_token, "FLOP"),
                  "12 N H T per layer, half when causal"});
  rows.push_back({"FLOP per token, 6P", si(training_flop(parameter_count, 1), "FLOP"), "6 x parameters"});
  rows.push_back({"FLOP per step", si(per_token * f.tokens, "FLOP"), "FLOP per token x batch"});
  rows.push_back({"tokens per chip", number(per_chip(f.tokens, f.chips)), "batch / chips"});
  if (scenario.model.sequence > 0) {
    const double sequences = per_chip(f.tokens, static_cast<double>(scenario.model.sequence));
    rows.push_back({"sequences per batch", number(sequences), "batch / sequence"});
  }
  rows.push_back({"least step time, compute", si(seconds_at(per_token * f.tokens, f.chips, f.flops, 1), "s"),
                  "FLOP per step / (chips C), nothing recomputed"});
}

double activation_bytes(const Scenario& scenario, const Figures& f) {
  const double tokens = f.tokens / static_cast<double>(scenario.strategy.microbatches);
  const double ways = static_cast<double>(f.degrees.batch() * f.degrees.tensor);
  return checkpoint_bytes(per_chip(tokens, ways), f.layers, kept_width(scenario.model, scenario.strategy),
                          scenario.strategy.activation_bytes);
}

void memory_rows(const Scenario& scenario, const Figures& f, const PipelineOrder& order, Rows& rows) {
  const StateMemory state = state_memory(scenario.model, scenario.strategy, order);
  // A rank keeps its share of the layers, of as many microbatches as the order has it keep at most.
  const auto ranks = static_cast<double>(order.ranks.size());
  const double kept = ranks > 1 ? most_held(order, 1) * microbatches_per_activation(order) : 1;
  const double activations = activation_bytes(scenario, f) * kept / ranks;
  const auto total = static_cast<double>(state.parameters + state.gradients + state.optimizer) + activations;
  const std::string shards =
      ranks > 1 ? "parameters of the fullest rank x bytes / shards" : "parameters x bytes / shards";
  const auto bytes = [](Bytes value) { return si(static_cast<double>(value), "B"); };
  rows.push_back({"memory per chip, parameters", bytes(state.parameters), shards});
  rows.push_back({"memory per chip, gradients", bytes(state.gradients), shards});
  rows.push_back({"memory per chip, optimizer", bytes(state.optimizer), "two Adam moments and master copy / shards"});
  rows.push_back({"memory per chip, activations", si(activations, "B"),
                  ranks > 1 ? fmt::format("tokens x layers x kept width x bytes / chips, of {:.4g} microbatches", kept)
                            : "tokens x layers x kept width x bytes / chips"});
  rows.push_back({"memory per chip, sum", si(total, "B"), "without gathered weights and buffers"});
  rows.push_back({"memory per chip, available", bytes(scenario.cluster.chip.memory), "chip"});
  rows.push_back({"bytes of state per parameter", number(state_bytes_per_parameter(scenario.strategy)),
                  "weights + moments + master copy"});
}

void chip_threshold_rows(const Scenario& scenario, const Figures& f, Rows& rows) {
  const ChipSpec& chip = scenario.cluster.chip;
  const double weight_bytes = scenario.strategy.weight_bytes;
  if (chip.memory_rate > 0) {
    rows.push_back({"least tokens per matmul, memory", number(critical_batch(f.flops, chip.memory_rate, weight_bytes)),
                    "bytes C / 2 W_hbm (book, Roofline)"});
  }
  if (chip.pcie_rate > 0) {
    const auto rate = static_cast<double>(chip.pcie_rate);
    rows.push_back({"least tokens per matmul, weights over PCIe", number(critical_batch(f.flops, rate, weight_bytes)),
                    "bytes C / 2 W_pcie (book, TPUs)"});
    if (scenario.cluster.kind == "pcie") {
      const double alpha = arithmetic_intensity(f.flops, rate);
      rows.push_back({"least tokens per chip, DP over PCIe", number(alpha), "C / W, W = one link's rate"});
      rows.push_back(
          {"least tokens per chip, DP over PCIe, exact ring", number(alpha * ring_factor(f.chips)), "C / W x (N-1)/N"});
    }
  }
  if (scenario.cluster.slices > 1 && chip.dcn_rate_per_chip > 0) {
    const double least = dcn_tokens_per_slice(f.flops, static_cast<double>(chip.dcn_rate_per_chip));
    rows.push_back({"least tokens per slice, DP over DCN", number(least), "C / W_dcn (book, Training)"});
    rows.push_back({"least tokens per slice, DP over DCN, exact ring",
                    number(least * ring_factor(scenario.cluster.slices)), "C / W_dcn x (P-1)/P"});
    rows.push_back({"tokens per slice", number(per_chip(f.tokens, scenario.cluster.slices)), "batch / slices"});
  }
}

void torus_threshold_rows(const Scenario& scenario, const Figures& f, Rows& rows) {
  const double alpha = arithmetic_intensity(f.flops, f.axis_rate);
  rows.push_back({"alpha", number(alpha), "C / W, W = both directions of one axis (book, Training)"});
  for (int axes = 1; axes <= scenario.cluster.chip.axes; ++axes) {
    const std::string over = axes_text(static_cast<std::size_t>(axes));
    rows.push_back(
        {"least tokens per chip, DP or FSDP on " + over, number(fsdp_tokens_per_chip(alpha, axes)), "alpha / M"});
  }
  if (f.d_ff <= 0) return;
  for (int axes = 1; axes <= scenario.cluster.chip.axes; ++axes) {
    const std::string over = axes_text(static_cast<std::size_t>(axes));
    rows.push_back({"most tensor ways on " + over, number(tensor_ways_max(f.d_ff, alpha, axes)), "M F / alpha"});
  }
  const double fsdp_axes = std::max(1, scenario.cluster.chip.axes - 1);
  rows.push_back({"least tokens per chip, FSDP + tensor", number(mixed_tokens_per_chip(alpha, f.d_ff, fsdp_axes, 1)),
                  fmt::format("alpha^2 / (M_X M_Y F), M_X = {}, M_Y = 1", fsdp_axes)});
  rows.push_back({"best FSDP ways beside tensor",
                  number(optimal_fsdp(f.tokens / f.slices, f.d_ff, f.chips / f.slices, fsdp_axes, 1)),
                  "sqrt(B/F x M_X/M_Y x N), of one slice"});
}

/// Ideal times of a layer's feed-forward, forward, with FSDP on all axes but one and the tensor axis on one.
void layer_time_rows(const Scenario& scenario, const Figures& f, Rows& rows) {
  if (f.d_ff <= 0) return;
  const auto tensor = static_cast<double>(f.degrees.tensor);
  const auto shard = static_cast<double>(f.degrees.batch());
  const double axes = tensor > 1 ? std::max(1, scenario.cluster.chip.axes - 1) : scenario.cluster.chip.axes;
  rows.push_back({"T_math, two matmuls forward",
                  si(forward_math_time(f.tokens, f.d_model, f.d_ff, f.chips, f.flops), "s"), "4BDF/(N C)"});
  const double gather = fsdp_comms_time(f.d_model, f.d_ff, tensor, axes, f.axis_rate);
  if (f.degrees.shard > 1 && scenario.strategy.zero == 3) {
    rows.push_back({"T_comms, FSDP forward", si(gather, "s"), fmt::format("4DF/(Y M W), M = {}", axes)});
  } else if (shard > 1) {
    rows.push_back({"T_comms, DP backward", si(2 * gather, "s"), fmt::format("8DF/(Y M W), M = {}", axes)});
  }
  if (tensor > 1) {
    rows.push_back({"T_comms, tensor forward", si(tensor_comms_time(f.tokens, f.d_model, shard, 1, f.axis_rate), "s"),
                    "4BD/(X M W), M = 1"});
  }
}

/// The plan's collectives where the placement lays them, each by its closed-form bound.
void collective_rows(const Scenario& scenario, const StepPlan& step, Rows& rows) {
  const Cluster cluster = build(scenario.cluster);
  const RankedPlacement best = ranked_placements(scenario, cluster, step).front();
  const Mesh mesh(cluster, scenario.strategy.mesh, best.placement);
  const Registry<Algorithm> algorithms = collective_algorithms();
  LinkRates rates(cluster, scenario.ring != RingStyle::one_way);
  for (const CollectiveRequest& request : step.collectives) {
    const CollectiveSpec spec = collective_spec(scenario, request, mesh);
    const AxisRates steps = rates.rates(spec.shape);
    const bool sends = spec.kind == CollectiveKind::point_to_point;
    const double time = algorithms.at("collectives", spec.algorithm).bound(spec, sends ? worst_axis(steps) : steps);
    rows.push_back(
        {fmt::format("{} over {} of {}", to_string(request.kind), group_name(request.axes),
                     si(static_cast<double>(request.bytes), "B")),
         fmt::format("{} x {}", request.uses, si(time, "s")),
         fmt::format("bound on {}, {}", axes_text(spec.shape.size()), request.critical ? "critical" : "may float")});
  }
  rows.push_back({"all collectives of a step", si(best.total, "s"),
                  "sum of the bounds, as placed: " + fmt::format("{}", fmt::join(best.text, "; "))});
  rows.push_back({"compute of a step", si(to_seconds(step.compute_time), "s"), "sum of the ops' rooflines"});
}

void cost_rows(const Scenario& scenario, const Figures& f, Rows& rows) {
  constexpr double tokens = 1e12;
  constexpr double mfu = 0.4;
  const TrainingFlops work = training_flops(scenario.model);
  const double flop = (work.matmul_per_token + work.attention_per_token) * tokens;
  rows.push_back({"days per 10^12 tokens at 40 % MFU", number(training_days(flop, f.chips, f.flops, mfu)),
                  "FLOP / (chips C MFU)"});
}

}  // namespace

double attention_crossover(const ModelSpec& model) {
  ModelSpec one_token = model;
  one_token.sequence = 1;  // the scores' FLOP per token grow linearly with it
  const TrainingFlops work = training_flops(one_token);
  if (work.attention_per_token <= 0) return std::numeric_limits<double>::infinity();
  return work.matmul_per_token / work.attention_per_token;
}

double state_bytes_per_parameter(const Strategy& strategy) {
  return strategy.weight_bytes + 2.0 * strategy.moment_bytes + strategy.master_bytes;
}

double kept_width(const ModelSpec& model, const Strategy& strategy) {
  constexpr double tensors_of_a_layer = 20;  // book, "Transformer math", rematerialisation
  const auto d_model = static_cast<double>(model.d_model);
  const auto d_ff = static_cast<double>(model.d_ff);
  if (strategy.checkpoints == Checkpoints::full) return d_model;
  if (strategy.checkpoints == Checkpoints::per_layer) return strategy.checkpoints_per_layer * d_model;
  if (model.attention == Attention::none) return d_model + (model.gated ? 3 : 1) * d_ff;
  return tensors_of_a_layer * d_model;
}

std::vector<CalculatorRow> calculate(const Scenario& scenario) {
  const Figures f = figures(scenario);
  const StepPlan step = plan(scenario.model, scenario.strategy, scenario.cluster.chip);
  Rows rows;
  model_rows(scenario, rows);
  memory_rows(scenario, f, step.order, rows);
  work_rows(scenario, f, rows);
  chip_threshold_rows(scenario, f, rows);
  if (is_torus(scenario)) {
    torus_threshold_rows(scenario, f, rows);
    layer_time_rows(scenario, f, rows);
  }
  collective_rows(scenario, step, rows);
  cost_rows(scenario, f, rows);
  return rows;
}

}  // namespace stepsim
