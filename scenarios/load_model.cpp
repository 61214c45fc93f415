// load_model.cpp: `model:` -> ModelSpec.
#include <algorithm>
#include <optional>

#include "scenarios/catalog.h"
#include "scenarios/load_sections.h"

namespace stepsim {
namespace {

constexpr Range width{1, 1 << 24};

void read_attention(Section& section, ModelSpec& model) {
  model.heads = section.count("heads", {1, 65'536}, std::nullopt);
  model.kv_heads = section.count("kv_heads", {1, 65'536}, std::max<std::int64_t>(model.heads, 1));
  // As in the configuration files of published models: no head_dim means d_model / heads.
  const bool divides = model.heads > 0 && model.d_model % model.heads == 0 && model.d_model > 0;
  model.head_dim = section.count("head_dim", width,
                                 divides ? std::optional<std::int64_t>(model.d_model / model.heads) : std::nullopt);
  model.sequence = section.count("sequence", {1, 1 << 30}, std::nullopt);
}

/// The reduced stack has no positions: its sequence only says how the batch is counted.
void read_no_attention(Section& section, ModelSpec& model) {
  section.unused({"heads", "kv_heads", "head_dim"}, "with attention none");
  model.sequence = section.count("sequence", {1, 1 << 30}, 1);
}

ModelSpec read_keys(Section& section) {
  ModelSpec model;
  model.name = section.text("name", "inline");
  model.layers = section.count("layers", {1, 100'000}, std::nullopt);
  model.d_model = section.count("d_model", width, std::nullopt);
  model.d_ff = section.count("d_ff", width, std::nullopt);
  model.attention = static_cast<Attention>(section.choice("attention", {"none", "causal", "full"}, 1));
  if (model.attention == Attention::none) {
    read_no_attention(section, model);
  } else {
    read_attention(section, model);
  }
  model.gated = section.flag("gated", true);
  model.elementwise = section.flag("elementwise", true);
  model.vocabulary = section.count("vocabulary", {0, 1 << 28}, 0);
  model.tied_embeddings = section.flag("tied_embeddings", false);
  return model;
}

}  // namespace

ModelSpec read_model(Section& root, const std::string& catalog) {
  const std::optional<YamlValue> given = section_value(root, "model", true);
  if (!given) return {};
  std::optional<YamlValue> value = resolve_reference(root.findings(), catalog, "models", "model", *given);
  if (!value) return {};
  const YamlValue* parallelism = root.value().find("parallelism");
  const YamlValue* sequence = parallelism == nullptr ? nullptr : parallelism->find("sequence_length");
  if (sequence != nullptr) {
    redirect(root.findings(), "parallelism.sequence_length", *sequence, *value, "model.sequence", "sequence");
  }
  Section section(root.findings(), *value, "model", section_place(root, "model"));
  if (!section.usable()) return {};
  ModelSpec model = read_keys(section);
  section.done();
  return model;
}

}  // namespace stepsim
