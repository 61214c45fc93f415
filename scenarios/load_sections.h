// load_sections.h: the parts of load(), one per section of a scenario. Internal to this folder.
#pragma once

#include <optional>
#include <string>

#include "scenarios/reader.h"
#include "scenarios/scenario.h"

namespace stepsim {

/// `cluster:` with its system and chip followed into the catalog.
ClusterSpec read_cluster(Section& root, const std::string& catalog);
/// The same with its protocols and aliases.
void read_cluster(Section& root, const std::string& catalog, Scenario& scenario);

/// Kind nodes: its keys, how they are read, and what a system of any kind may say of driving its hardware.
std::vector<std::string> nodes_keys();
void read_nodes(Section& cluster, Section& chip, ClusterSpec& spec);
void read_costs(Section& cluster, Scenario& scenario);

/// load_graph.cpp: `cluster:` of the kinds links, pcie_tree and nvlink.
void read_links(Section& cluster, Section& chip, ClusterSpec& spec);
void read_pcie_tree(Section& cluster, Section& chip, ClusterSpec& spec);
void read_nvlink(Section& cluster, Section& chip, ClusterSpec& spec);
std::int64_t listed_chips(const ClusterSpec& cluster);

/// Keys of a chip for its place in a torus, and the reader of those for its PCIe link.
std::vector<std::string> interconnect_keys();
void read_host_link(Section& chip, ChipSpec& spec);

/// `faults:` -> ClusterSpec; whether chips and links exist is the builder's check.
void read_faults(Section& root, ClusterSpec& cluster);

/// `model:`, and `parallelism.sequence_length`, which is another way of giving model.sequence.
ModelSpec read_model(Section& root, const std::string& catalog);

/// `parallelism:`; needs the cluster for its number of chips, and fills strategy and placement.
void read_parallelism(Section& root, Scenario& scenario);

/// `parallelism.pipeline:`; the mesh has been read.
void read_pipeline(Section& parallelism, Strategy& strategy);

void read_collectives(Section& root, Scenario& scenario);
void read_simulation(Section& root, Scenario& scenario);
void read_expectations(Section& root, Scenario& scenario);

/// Chips that a cluster may have; more is taken for a slip.
inline constexpr std::int64_t most_chips = 1 << 20;

/// Chips of the cluster as described; 0 when the description is not usable, most_chips + 1 for any larger number.
std::int64_t chip_count(const ClusterSpec& cluster);

/// What only the rooms below can tell: builds the cluster, lays the mesh, plans a step. Throws InputError with keys
/// but without places.
void check_by_building(const Scenario& scenario);

/// The section called `name`; without it an empty map, or nothing (and a problem) if it is required.
std::optional<YamlValue> section_value(Section& root, const std::string& name, bool required);
SourcePlace section_place(Section& root, const std::string& name);

/// Puts `from` under `into` as `name`, unless `into` has a stronger one (rank); both equally strong is a problem.
void redirect(Findings& findings, const std::string& from_key, const YamlValue& from, YamlValue& into,
              const std::string& into_key, const std::string& name);

}  // namespace stepsim
