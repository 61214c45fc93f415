// collective_methods.h: the ways in which a collective can be done in the groups of one shape: algorithms x protocols.
//
// Asked for "auto" these are all algorithms that do the kind on this shape, each with every protocol of the system that
// serves it. A method is what NCCL calls algorithm and protocol; what driving it costs is the protocol's (protocol.h).
// lone_play.h finds the fastest.
#pragma once

#include <string>
#include <vector>

#include "scenarios/communication.h"
#include "scenarios/send_matrix.h"

namespace stepsim {

/// One way of doing a collective.
struct CollectiveMethod {
  std::string algorithm;
  std::size_t protocol = SIZE_MAX;  // in Scenario::protocols; SIZE_MAX: none
  std::string name;                 // "ring, LL128", "torus"
};

struct MethodsAsked {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string algorithm = {};  // by name or msccl:FILE; "auto": all; empty: "torus" and its kin on a torus, else all
  std::string protocol = {};   // of the system, by name; empty: all, or what the file of an algorithm says
  SendMatrix sends = {};       // ragged all-to-all; no members: all alike
  // What a refusal names.
  std::string algorithm_key = "--algorithm";
  std::string protocol_key = "--protocol";
};

class CollectiveMethods {
 public:
  /// InputError when no method is left of what was asked for. Scenario and cluster have to outlive this.
  CollectiveMethods(const Scenario& scenario, const Cluster& cluster, std::vector<GroupAxis> shape, MethodsAsked asked);

  [[nodiscard]] const std::vector<CollectiveMethod>& all() const { return methods_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const std::vector<GroupAxis>& shape() const { return shape_; }
  [[nodiscard]] std::uint32_t members() const { return stepsim::members(shape_); }
  [[nodiscard]] const Algorithm& algorithm(const CollectiveMethod& method) const;

  /// array: the bytes V of the whole group.
  [[nodiscard]] CollectiveSpec spec(const CollectiveMethod& method, Bytes array) const;
  /// What is sent, with what driving it costs.
  [[nodiscard]] FamilyPattern pattern(const CollectiveMethod& method, Bytes array) const;
  /// Seconds: the closed form at the best that the links can give.
  [[nodiscard]] double bound(const CollectiveMethod& method, Bytes array) const;
  /// "x (ring of 16), y (ring of 16)"
  [[nodiscard]] std::string shape_text() const;

 private:
  void order_rings();
  void read_file();
  void check_sends() const;
  void choose();
  void add(const std::string& algorithm, bool unasked);
  [[nodiscard]] bool spans_nodes() const;
  [[nodiscard]] AxisRates rates(bool both_ways) const;

  const Scenario& scenario_;
  const Cluster& cluster_;
  std::vector<GroupAxis> shape_;
  MethodsAsked asked_;
  Registry<Algorithm> algorithms_;
  std::vector<std::vector<std::uint32_t>> rings_;  // rank orders, where links are listed
  std::vector<CollectiveMethod> methods_;
};

}  // namespace stepsim
