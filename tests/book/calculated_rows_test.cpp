// Rows answered by scenarios/formulas.h, scenarios/calculator.h and the counts of schedules/.

#include <cmath>

#include "book_rows.h"
#include "scenarios/calculator.h"
#include "scenarios/formulas.h"
#include "schedules/plan.h"
#include "topology/mesh.h"

namespace stepsim::book {

namespace {

constexpr double llama3_tokens = 15e12;         // chapter 6: trained on 15T tokens
constexpr double llama3_70b_parameters = 7e10;  // chapter 6 counts with 70B
constexpr double v5p_pod = 8960;                // chips, 16x20x28

using Formula = std::function<double(const Row&)>;

void add(Answers& answers, const std::string& id, const Formula& formula) {
  answers[id] = {Way::calculated, [formula](const Row& row) { return std::vector<Figure>{{"", formula(row)}}; }};
}

double days(double flop, double chips, double mfu) {
  return training_days(flop, chips, bf16_peak("v5p"), mfu);
}

void add_rooflines(Answers& answers) {
  add(answers, "r1_bcrit_v5e_bf16", [](const Row& r) { return critical_batch(r["C"], r["W_hbm"]); });
  add(answers, "r1_h100_bcrit", [](const Row& r) { return critical_batch(r["C"], r["W_hbm"]); });
  add(answers, "r1_int8w_bf16c", [](const Row&) { return critical_batch(bf16_peak("v5e"), hbm_rate("v5e"), 1); });
  add(answers, "r1_two_chip_D", [](const Row& r) { return split_contraction_min(r["C"], r["W_oneway"], 2); });
  add(answers, "t2_q3_pcie_batch", [](const Row& r) { return critical_batch(r["C"], r["W_pcie"]); });
  add(answers, "t2_q4_B", [](const Row& r) { return critical_batch_exact(r["C_int8"], r["W_hbm"], 4096, 16384, 1); });
  add(answers, "t2_q4_B_vmem", [](const Row& r) {
    const Row& hbm = row("t2_q4_B");
    return critical_batch_exact(hbm["C_int8"], r["mult"] * hbm["W_hbm"], 4096, 16384, 1);
  });
  add(answers, "s3_q4_D", [](const Row& r) { return reduce_over_gather_min(r["alpha"]); });
  add(answers, "x4_q8_B",
      [](const Row& r) { return expert_batch(critical_batch(bf16_peak("v5e"), hbm_rate("v5e"), 1), r["E"], r["k"]); });
  add(answers, "in_q5_B", [](const Row&) {  // E = 16, k = 2 (chapter 7, Q5)
    return expert_batch(critical_batch(bf16_peak("v5e"), hbm_rate("v5e")), 16, 2);
  });
}

void add_data_parallel(Answers& answers) {
  const auto least = [](double axes) { return fsdp_tokens_per_chip(alpha("v5p"), axes); };
  add(answers, "tr_alpha_v5p", [](const Row& r) { return arithmetic_intensity(r["C"], r["W_bidi"]); });
  add(answers, "tr_dp_3axes", [=](const Row& r) { return least(r["M_X"]); });
  add(answers, "tr_dp_pod", [=](const Row& r) { return r["chips"] * least(r["M_X"]); });
  add(answers, "tr_q3_fsdp_minB", [=](const Row& r) { return 4096 * least(r["M_X"]); });
  for (const char* id : {"tr_dsv2_chips", "tr_l3_16M_chips", "tr_l3_2M_fsdp"}) {
    add(answers, id, [=](const Row& r) { return r["B"] / least(r["M_X"]); });
  }
  add(answers, "tr_dcn_B", [](const Row& r) { return dcn_tokens_per_slice(r["C"], r["W_dcn"]); });
  add(answers, "seed_4080_peak", [](const Row& r) { return arithmetic_intensity(r["C"], r["W"]); });
  add(answers, "seed_4080_40mfu", [](const Row&) {
    const Row& peak = row("seed_4080_peak");
    return arithmetic_intensity(0.4 * peak["C"], peak["W"]);
  });
}

void add_tensor_and_mixed(Answers& answers) {
  const auto mixed = [](double d_ff) { return mixed_tokens_per_chip(alpha("v5p"), d_ff, 2, 1); };
  add(answers, "tr_tp_max_30k", [](const Row& r) { return tensor_ways_max(r["F"], alpha("v5p"), r["M_Y"]); });
  add(answers, "tr_tp_gemma", [](const Row& r) { return tensor_ways_max(r["F"], alpha("v5p"), 1); });
  add(answers, "tr_tp8_F", [](const Row& r) { return tensor_width_min(r["Y"], alpha("v5p"), 1); });
  for (const char* id :
       {"tr_mixed_bn_32768", "tr_mixed_bn_30000", "tr_mixed_bn_28672", "tr_mixed_bn_13824", "fig_444_mixed_cross"}) {
    add(answers, id, [=](const Row& r) { return mixed(r["F"]); });
  }
  add(answers, "tr_4096_mixed_B", [=](const Row& r) { return r["N"] * mixed(r["F"]); });
  add(answers, "tr_l3_2M_mixed", [=](const Row& r) { return r["B"] / mixed(r["F"]); });
  for (const char* id : {"tr_xopt_64", "tr_q3_xopt", "at_xopt"}) {
    add(answers, id, [](const Row& r) { return optimal_fsdp(r["B"], r["F"], r["N"], r["M_X"], r["M_Y"]); });
  }
  add(answers, "tr_xopt_64_pow2", [](const Row& r) {
    return static_cast<double>(best_power_of_two_fsdp(r["B"], r["F"], static_cast<std::int64_t>(r["N"]), 2, 1));
  });
}

/// The interactive figure: one feed-forward layer forward on 16x16x16, D = 8192, F = 32768.
void add_figures(Answers& answers) {
  constexpr double d_model = 8192;
  constexpr double d_ff = 32768;
  constexpr double axis_rate = 1.8e11;
  const auto crossing = [](double fsdp, double axes) { return fsdp * fsdp_tokens_per_chip(alpha("v5p"), axes); };
  add(answers, "fig_math_slope", [](const Row& r) { return forward_math_time(1, r["D"], r["F"], r["N"], r["C"]); });
  for (const std::string split : {"4096x1", "2048x2", "1024x4", "512x8"}) {
    add(answers, "fig_int_" + split + "_comms",
        [](const Row& r) { return fsdp_comms_time(r["D"], r["F"], r["Y"], r["M_X"], axis_rate); });
    add(answers, "fig_int_" + split + "_B", [=](const Row& r) { return crossing(r["X"], 3); });
  }
  for (const std::string split : {"256x16", "128x32", "64x64"}) {
    add(answers, "fig_int_" + split + "_slope",
        [](const Row& r) { return tensor_comms_time(1, d_model, r["X"], r["M_Y"], axis_rate); });
  }
  for (const char* id : {"fig_static_512x8_B", "fig_static_1024x4_B", "fig_static_dp_B"}) {
    add(answers, id, [=](const Row& r) { return crossing(r["X"], r["M_X"]); });
  }
  add(answers, "fig_static_tp_ratio", [](const Row& r) {
    return tensor_comms_time(1, d_model, 1, r["M_Y"], axis_rate) /
           forward_math_time(1, d_model, d_ff, r["Y"], bf16_peak("v5p"));
  });
}

/// Bytes of the tensor collectives that a step issues from its first backward op on.
double tensor_bytes_of_backward(const StepPlan& step) {
  const StepProgram& program = step.program;
  bool backward = false;
  double bytes = 0;
  for (const Op& op : program.programs[0].ops) {
    backward = backward || program.names[op.tag.phase].starts_with("backward");
    if (backward && op.kind == OpKind::collective && program.names[op.tag.axis] == "tensor") {
      bytes += static_cast<double>(step.collectives[op.collective].bytes);
    }
  }
  return bytes;
}

/// The backward's tensor traffic of one more MLP layer in units of B D / X, counted on the plan of the step.
double tensor_backward_coefficient(std::vector<MeshAxis> mesh) {
  ModelSpec model;
  model.attention = Attention::none;
  model.elementwise = false;
  model.gated = false;
  model.d_model = 1024;
  model.d_ff = 4096;
  Strategy strategy;
  strategy.mesh = std::move(mesh);
  strategy.batch_tokens = 4096;
  const auto of_layers = [&](std::int64_t layers) {
    model.layers = layers;
    return tensor_bytes_of_backward(plan(model, strategy, ideal_chip("v5p")));
  };
  const auto tokens = static_cast<double>(strategy.batch_tokens / degrees(strategy).batch());
  return (of_layers(3) - of_layers(2)) / (tokens * static_cast<double>(model.d_model));
}

void add_schedule_counts(Answers& answers) {
  add(answers, "tr_table_tp_bwd", [](const Row&) { return tensor_backward_coefficient({{"tensor", 4}}); });
  add(answers, "tr_table_mixed_tp_bwd", [](const Row&) {
    return tensor_backward_coefficient({{"fsdp", 4}, {"tensor", 4}});
  });
}

void add_parameters(Answers& answers) {
  for (const char* id : {"x4_q1_params", "tr_q1_params", "at_params", "at_q2_405_params"}) {
    add(answers, id, [](const Row& r) { return static_cast<double>(parameters(model_of(r)).total); });
  }
  add(answers, "in_q1_params", [](const Row& r) {  // chapter 7 counts one table of the vocabulary
    ModelSpec model = model_of(r);
    model.tied_embeddings = true;
    return static_cast<double>(parameters(model).total);
  });
  add(answers, "x4_q1_kv", [](const Row&) {
    const ModelSpec model = model_of(row("x4_q1_params"));
    return kv_bytes_per_token(static_cast<double>(model.layers), static_cast<double>(model.kv_heads),
                              static_cast<double>(model.head_dim), 1);
  });
  add(answers, "in_q1_kv", [](const Row&) {
    const Row& r = row("in_q1_params");
    return kv_bytes_per_token(r["L"], r["K"], r["H"], 1);
  });
}

/// Weights and optimizer state of a model on one chip.
double state_bytes(const ModelSpec& model) {
  Strategy strategy;
  strategy.batch_tokens = model.sequence;
  const StateMemory state = state_memory(model, strategy);
  return static_cast<double>(state.parameters + state.optimizer);
}

double bytes_per_parameter() {
  const ModelSpec model = model_of(row("tr_q1_params"));
  return state_bytes(model) / static_cast<double>(parameters(model).total);
}

/// Activations that LLaMA-3 70B keeps for 4M tokens with k checkpoints per layer.
double llama3_checkpoints(double tokens, double per_layer) {
  const ModelSpec model = model_of(row("at_params"));
  Strategy strategy;
  strategy.checkpoints = Checkpoints::per_layer;
  strategy.checkpoints_per_layer = static_cast<int>(per_layer);
  return checkpoint_bytes(tokens, static_cast<double>(model.layers), kept_width(model, strategy));
}

double llama3_everything(double per_layer) {
  return state_bytes(model_of(row("at_params"))) + llama3_checkpoints(4e6, per_layer);
}

void add_memory(Answers& answers) {
  add(answers, "tr_adam_params", [](const Row& r) { return largest_model(r["hbm"], bytes_per_parameter()); });
  add(answers, "seed_4080_mem", [](const Row& r) { return largest_model(r["hbm"], bytes_per_parameter()); });
  add(answers, "tr_q2_state", [](const Row&) { return state_bytes(model_of(row("tr_q1_params"))); });
  for (const std::string k : {"2", "4"}) {
    add(answers, "at_ckpt" + k + "_act", [](const Row& r) { return llama3_checkpoints(r["B"], r["k"]); });
    add(answers, "at_ckpt" + k + "_chips", [](const Row& r) {
      return chips_for_memory(llama3_everything(r["k"]), static_cast<double>(catalog_chip("v5p").memory));
    });
    add(answers, "at_ckpt" + k + "_perchip", [](const Row& r) { return per_chip(llama3_everything(r["k"]), v5p_pod); });
  }
  add(answers, "g_q5_2a", [](const Row&) {  // H100: 80 GB
    return chips_for_memory(state_bytes(model_of(row("at_params"))), 80e9);
  });
  add(answers, "g_q5_2c_mem", [](const Row&) { return per_chip(llama3_70b_parameters * bytes_per_parameter(), 8); });
}

void add_activations(Answers& answers) {
  const auto stack = [](double d_model, Checkpoints checkpoints) {
    ModelSpec model;
    model.d_model = static_cast<std::int64_t>(d_model);
    Strategy strategy;
    strategy.checkpoints = checkpoints;
    return kept_width(model, strategy);
  };
  add(answers, "x4_ckpt_all",
      [=](const Row& r) { return checkpoint_bytes(r["tokens"], r["L"], stack(r["D"], Checkpoints::none)); });
  add(answers, "x4_ckpt_block", [=](const Row&) {
    const Row& all = row("x4_ckpt_all");
    return checkpoint_bytes(all["tokens"], all["L"], stack(all["D"], Checkpoints::full));
  });
  for (const char* id : {"tr_q2_act", "tr_q3_act"}) {  // kept: two results of width F and one of D
    add(answers, id, [](const Row& r) {
      const Row& model = row("tr_q1_params");
      return checkpoint_bytes(r["B"], model["L"], 2 * model["F"] + model["D"]);
    });
  }
}

void add_work(Answers& answers) {
  add(answers, "at_flops_tok", [](const Row& r) { return training_flop(r["P"], 1); });
  add(answers, "x4_q7_mfu",
      [](const Row& r) { return utilisation(training_flop(r["params"], r["tokens"]), r["gpu_hours"] * 3600, r["C"]); });
  add(answers, "x4_attn_T", [](const Row& r) {  // the book's F = 4D, N H = D, scores in full
    ModelSpec model;
    model.layers = 1;
    model.d_model = static_cast<std::int64_t>(r["D"]);
    model.d_ff = 4 * model.d_model;
    model.head_dim = 128;
    model.heads = model.d_model / 128;
    model.kv_heads = model.heads;
    model.attention = Attention::full;
    return attention_crossover(model);
  });
  add(answers, "tr_q3_step",
      [](const Row& r) { return seconds_at(training_flop(r["params"], r["B"]), r["chips"], r["C"], r["mfu"]); });
  add(answers, "ai_prefill", [](const Row&) {  // 2 P FLOP per token, a third of the training FLOP
    return seconds_at(training_flop(llama3_70b_parameters, 8192) / 3, 16, bf16_peak("v5e"), 0.4);
  });
}

void add_days(Answers& answers) {
  const double llama3_70b = training_flop(llama3_70b_parameters, llama3_tokens);
  add(answers, "tr_l3_16M_days", [](const Row& r) { return days(r["flops"], r["chips"], r["mfu"]); });
  add(answers, "at_years_one", [](const Row& r) { return days(r["flops"], 1, 1) / 365; });
  add(answers, "at_pod_days", [=](const Row& r) { return days(llama3_70b, v5p_pod, r["mfu"]); });
  add(answers, "at_225_days", [=](const Row&) {
    const double chips = chips_for_memory(llama3_everything(4), static_cast<double>(catalog_chip("v5p").memory));
    return days(llama3_70b, std::floor(chips), 0.4);
  });
  add(answers, "at_q1_4pods_days", [=](const Row&) { return days(llama3_70b, 4 * v5p_pod, 0.4); });
  add(answers, "at_q2_405_days", [](const Row&) {
    const auto parameter_count = static_cast<double>(parameters(model_of(row("at_q2_405_params"))).total);
    return days(training_flop(parameter_count, llama3_tokens), 8 * v5p_pod, 0.4);
  });
  add(answers, "g_q5_2b", [=](const Row&) { return training_days(llama3_70b, 4096, row("g_dp_node")["C"], 0.45); });
}

void add_shares(Answers& answers) {
  add(answers, "tr_q3_seqs", [](const Row& r) { return per_chip(r["B"], r["T"]); });
  add(answers, "tr_l3_2pod_bn", [](const Row& r) { return per_chip(r["B"], r["chips"]); });
  add(answers, "at_fsdp_bn", [](const Row& r) { return per_chip(r["B"], v5p_pod); });
  add(answers, "at_q1_4pods_bn", [](const Row& r) { return per_chip(row("at_fsdp_bn")["B"], r["chips"]); });
  add(answers, "g_q5_2c_bn", [](const Row&) { return per_chip(4e6, 4096); });
  add(answers, "g_mega_70B", [](const Row&) { return per_chip(384.0 * 4096, 768); });
}

/// Counts on the cluster that the topology room builds.
void add_clusters(Answers& answers) {
  const auto pod = [](const std::string& generation, std::vector<int> shape, std::vector<bool> wraps = {}) {
    ClusterSpec spec;
    spec.kind = "torus";
    spec.chip = catalog_chip(generation);
    spec.shape = std::move(shape);
    spec.wraps = std::move(wraps);
    return build(spec);
  };
  const auto v5e = [=] { return pod("v5e", {16, 16}); };
  const auto v5p = [=] { return pod("v5p", {16, 20, 28}); };
  const auto memory = [](const Cluster& cluster) {
    return static_cast<double>(cluster.chips()) * static_cast<double>(cluster.spec().chip.memory);
  };
  add(answers, "t2_q2_v5e_pod_flops", [=](const Row&) { return v5e().chips() * bf16_peak("v5e"); });
  add(answers, "t2_q2_v5p_pod_flops", [=](const Row&) { return v5p().chips() * bf16_peak("v5p"); });
  add(answers, "t2_q2_v5e_hosts", [=](const Row&) { return v5e().hosts(); });
  add(answers, "t2_q2_v5p_hosts", [=](const Row&) { return v5p().hosts(); });
  add(answers, "t2_q2_v5p_hbm", [=](const Row&) { return memory(v5p()); });
  add(answers, "tr_q3_hbm", [=](const Row&) { return memory(pod("v5p", {16, 16, 16})); });
  add(answers, "s3_q1", [=](const Row&) {  // an array sharded on X only is copied over Y and Z
    const Cluster cluster = pod("v5p", {4, 8, 2}, {false, false, false});
    const Mesh mesh(cluster, {{"X", 4}, {"Y", 8}, {"Z", 2}}, {{{{0, 4, 1}}, {{1, 8, 1}}, {{2, 2, 1}}}});
    return mesh.groups({1, 2}).members;
  });
}

/// Rows of the GPU chapter that are the same laws with other rates.
void add_gpu_thresholds(Answers& answers) {
  const auto across = [] { return arithmetic_intensity(row("g_dp_ib")["C"], row("g_dp_ib")["w"]); };
  add(answers, "g_moe_dp", [=](const Row&) { return expert_batch(across(), 128, 4); });
  add(answers, "g_dsv3_dp",
      [](const Row& r) { return r["gpus"] * arithmetic_intensity(row("g_dp_node")["C"], r["w"]); });
  add(answers, "g_q5_2c_pp",
      [](const Row&) { return arithmetic_intensity(row("g_dp_ib")["C"], 8 * row("g_dp_ib")["w"]); });
  add(answers, "g_tp_max", [=](const Row& r) { return tensor_ways_max(r["F"], across(), 1); });
  add(answers, "g_q5_2c_tp", [](const Row&) {
    return tensor_ways_max(28672, arithmetic_intensity(row("g_dp_node")["C"], row("g_dp_node")["w"]), 1);
  });
}

}  // namespace

void add_calculated(Answers& answers) {
  add_rooflines(answers);
  add_data_parallel(answers);
  add_tensor_and_mixed(answers);
  add_figures(answers);
  add_schedule_counts(answers);
  add_parameters(answers);
  add_memory(answers);
  add_activations(answers);
  add_work(answers);
  add_days(answers);
  add_shares(answers);
  add_clusters(answers);
  add_gpu_thresholds(answers);
}

}  // namespace stepsim::book
