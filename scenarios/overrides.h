// overrides.h: `--set key=value`, applied to the scenario's tree before anything is checked.
//
// A key is dotted ("cluster.chip.memory"), items of lists by number ("cluster.shape.0" or "cluster.shape[0]"). A
// value is YAML ("[4, 4, 8]", "90 GB/s", "{base: llama3-70b, layers: 4}"); an empty one takes the key away. Where a
// catalog entry is named, a key below it changes that entry ("model.layers=4" on `model: llama3-70b`).
#pragma once

#include <string>
#include <vector>

#include "scenarios/reader.h"
#include "scenarios/yaml_tree.h"

namespace stepsim {

void apply_overrides(Findings& findings, YamlValue& root, const std::vector<std::string>& overrides);

}  // namespace stepsim
