// catalog.h: chips, systems and models by name: one YAML file each in FOLDER/chips, FOLDER/systems, FOLDER/models.
//
// A catalog entry holds the same keys as the section of a scenario that refers to it, so a scenario can name an
// entry (`chip: tpu-v5p`), change some keys of it (`chip: {base: tpu-v5p, memory: 95 GiB}`) or write all of them.
// Entries refer to each other the same way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/reader.h"
#include "scenarios/yaml_tree.h"

namespace stepsim {

/// The catalog that is used unless another is named: $STEPSIM_CATALOG, else the folder beside these sources.
std::string default_catalog();

/// Names of the entries of one kind ("chips", "systems", "models"), sorted.
std::vector<std::string> catalog_names(const std::string& folder, const std::string& kind);

/// Keys of `upper` over those of `lower`, map by map. A lower scalar under an upper map is what the map is based on.
YamlValue overlay(YamlValue lower, const YamlValue& upper);

/// A value with its references followed: a name, or a map with `base` (or, in scenarios, `base_key`), becomes the
/// entry overlaid with the map's other keys. Unknown names, cycles and faulty entries are reported; then there is nothing.
std::optional<YamlValue> resolve_reference(Findings& findings, const std::string& folder, const std::string& kind,
                                           const std::string& key, const YamlValue& value,
                                           const std::string& base_key = "base");

}  // namespace stepsim
