// scenario.h: a checked scenario: the typed descriptions of the rooms below, read from one YAML file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/collective.h"
#include "collectives/protocol.h"
#include "schedules/plan.h"
#include "sim/simulation.h"
#include "topology/cluster.h"

namespace stepsim {

/// One line of the resolved scenario: every key with its value and where it came from.
struct ResolvedKey {
  std::string key;     // dotted
  std::string value;   // as text, with unit
  std::string origin;  // "given", "default", "catalog chips/tpu-v5p", "--set"
};

/// A quantity the scenario's author expects, checked by `stepsim check --expect`.
struct Expectation {
  std::string quantity;  // "step_time", "mfu", "exposed.fsdp", "peak_memory" ... (quantities.h lists them)
  double value = 0;      // base units
  double tolerance = 0;  // relative
  std::string source;
  SourcePlace place;
};

/// What measured tables call a system, or a part or size of it.
struct Alias {
  std::string name;
  std::vector<std::string> set;  // "cluster.nodes=[4]"
  std::string group;             // mesh axes of the groups that were measured; empty: all chips
  std::string algorithm;         // that was measured, where the table does not say; empty: the fastest
  std::string op;                // the one collective it is for, as tables call it; empty: any
};

struct Scenario {
  std::string file;
  std::string name;
  std::string description;
  ClusterSpec cluster;
  std::vector<Protocol> protocols;  // of the system; empty: transfers cost what their links do
  std::vector<Alias> aliases;       // what measured tables call the system
  ModelSpec model;
  Strategy strategy;
  std::vector<std::vector<std::string>> placement;  // digit terms per mesh axis; empty: chosen automatically
  RingStyle ring = RingStyle::halves;
  bool weighted_parts = false;
  std::string algorithm;  // of collectives; "auto": the fastest; empty: "torus" and its kin on a torus, else auto
  std::string protocol;   // of those of the system; empty: the fastest
  Bytes chunk = Bytes{512} * 1024;  // pieces that trees, chains, hierarchies and in-network reductions pass on
  RunOptions run;
  bool fold = true;  // play one chip of each class; false: every chip
  bool allow_oom = false;
  std::vector<Expectation> expect;
  std::vector<ResolvedKey> resolved;
};

/// Reads and checks a scenario. overrides: "key=value" with dotted keys, applied before checking. catalog: the folder
/// with chips/, systems/ and models/. Throws InputError with every problem found.
Scenario load(const std::string& file, const std::vector<std::string>& overrides, const std::string& catalog);

}  // namespace stepsim
