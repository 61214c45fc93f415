#include "scenarios/collective_run.h"

#include <algorithm>
#include <map>

#include "collectives/pairwise.h"
#include "scenarios/algorithm_file.h"
#include "scenarios/link_rates.h"
#include "topology/ring_order.h"

namespace stepsim {
namespace {

std::vector<int> indices(const Scenario& scenario, const std::vector<std::string>& axes) {
  std::vector<std::string> known;
  for (const MeshAxis& axis : scenario.strategy.mesh) known.push_back(axis.name);
  for (const std::string& name : axes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    throw InputError("--group", "expected mesh axes of the scenario (" + list + "), found '" + name + "'");
  }
  return axis_indices(scenario.strategy, axes.empty() ? known : axes);
}

/// On a torus the algorithms that use its axes; elsewhere whatever is fastest.
std::string usual_algorithm(const Scenario& scenario, CollectiveKind kind) {
  if (kind == CollectiveKind::point_to_point) return "point-to-point";
  if (scenario.cluster.kind != "torus") return "auto";
  if (kind == CollectiveKind::all_to_all) return "direct";
  const bool on_axes = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
                       kind == CollectiveKind::all_reduce;
  return on_axes ? "torus" : "auto";
}

/// The link that carries most of what it could in this time.
void find_fullest(const Cluster& cluster, const std::vector<LinkClass>& links, const std::vector<LinkUse>& uses,
                  CollectiveResult& result) {
  const double time = to_seconds(result.time);
  for (LinkId id = 0; id < links.size(); ++id) {
    const GraphLink link = cluster.link(links[id].one);
    const double share = static_cast<double>(uses[id].bytes) / (static_cast<double>(link.capacity) * time);
    if (share <= result.fullest_share) continue;
    result.fullest_share = share;
    result.fullest = link.kind;
  }
}

/// The array V of a group.
Bytes array_of(CollectiveKind kind, Bytes bytes, std::uint32_t members) {
  Bytes array = bytes;
  if (kind == CollectiveKind::all_to_all && __builtin_mul_overflow(bytes, Bytes{members}, &array)) {
    throw InputError("--end", "more bytes than 63 bits can count");
  }
  return array;
}

/// Every member to every other in large groups: not tried unasked.
bool too_large_to_try(const std::string& algorithm, std::uint32_t members) {
  const bool pairs = algorithm == "pairwise" || algorithm == "one-shot" || algorithm == "two-shot" ||
                     algorithm == "flat" || algorithm == "in-network";
  return members > (pairs ? 256 : 8192);
}

/// What wins only where latency counts takes seconds for thousands of members: not tried where streaming decides, that
/// is where the best so far is near its bound.
bool cannot_win(const std::string& algorithm, std::uint32_t members, const std::vector<CollectiveResult>& results) {
  const bool few_steps = algorithm == "tree" || algorithm.starts_with("recursive") || algorithm == "bruck";
  if (!few_steps || members <= 1024) return false;
  return std::any_of(results.begin(), results.end(),
                     [](const CollectiveResult& one) { return to_seconds(one.time) < 1.25 * one.bound; });
}

}  // namespace

double bus_factor(CollectiveKind kind, std::uint32_t members) {
  const double once = static_cast<double>(members - 1) / members;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * once;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return once;
    default:
      return 1;
  }
}

CollectiveRun::CollectiveRun(const Scenario& scenario, const CollectiveChoice& choice)
    : scenario_(scenario),
      choice_(choice),
      algorithms_(collective_algorithms()),
      cluster_(std::make_unique<Cluster>(build(scenario.cluster))) {
  Placement placement;
  if (scenario.placement.empty()) {
    const StepPlan step = plan(scenario.model, scenario.strategy, scenario.cluster.chip);
    placement = ranked_placements(scenario, *cluster_, step).front().placement;
  } else {
    placement = given_placement(scenario, *cluster_);
  }
  mesh_ = std::make_unique<Mesh>(*cluster_, scenario.strategy.mesh, placement);
  shape_ = mesh_->group_shape(indices(scenario, choice.axes));
  if (cluster_->spec().kind != "torus" && cluster_->spec().kind != "nodes") order_rings();
  read_file();
  check_sends();
  choose_methods();
}

void CollectiveRun::check_sends() const {
  const SendMatrix& sends = choice_.sends;
  if (sends.members == 0) return;
  if (choice_.kind != CollectiveKind::all_to_all)
    throw InputError("--sends", "expected an all_to_all, found " + to_string(choice_.kind));
  if (sends.members != members()) {
    throw InputError("--sends", "'" + sends.file + "' is for " + std::to_string(sends.members) +
                                    " members, the group has " + std::to_string(members()));
  }
}

void CollectiveRun::read_file() {
  const std::optional<AlgorithmFile> file = algorithm_file(choice_.algorithm);
  if (!file) return;
  algorithms_.add(choice_.algorithm, "from a file", file->algorithm);
  if (!choice_.protocol.empty()) return;
  for (const Protocol& one : scenario_.protocols) {
    if (one.name == file->protocol) choice_.protocol = one.name;
  }
}

/// Where links are listed, rings go round by the best ways there are, both ways.
void CollectiveRun::order_rings() {
  const Groups groups(cluster_->axes(), shape_);
  std::vector<ChipId> chips;
  for (std::uint32_t rank = 0; rank < groups.members(); ++rank) chips.push_back(groups.member(0, rank));
  for (const std::vector<std::uint32_t>& order : ring_orders(*cluster_, chips)) {
    rings_.push_back(order);
    rings_.emplace_back(order.rbegin(), order.rend());
  }
}

bool CollectiveRun::spans_nodes() const {
  const Groups groups(cluster_->axes(), shape_);
  return cluster_->host_of(0) != cluster_->host_of(groups.member(0, groups.members() - 1));
}

/// With each protocol that serves the algorithm. One that none serves is driven as rings are, if it was asked for by name;
/// a network adds and copies only where a protocol says so, or when asked.
void CollectiveRun::add_methods(const std::string& algorithm, bool unasked) {
  const std::vector<Protocol>& all = scenario_.protocols;
  const auto serves = [&](const std::string& name) {
    return [&, name](const Protocol& protocol) { return protocol.serves(name); };
  };
  const bool served = std::any_of(all.begin(), all.end(), serves(algorithm));
  if (all.empty() && !(unasked && algorithm.starts_with("in-network")))
    methods_.push_back({algorithm, SIZE_MAX, algorithm});
  if (!served && unasked) return;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].one_node && spans_nodes()) continue;
    if (!choice_.protocol.empty() && all[p].name != choice_.protocol) continue;
    if (serves(served ? algorithm : "ring")(all[p])) methods_.push_back({algorithm, p, algorithm + ", " + all[p].name});
  }
}

/// Asked of the algorithms themselves: those that refuse the kind or the shape are no choice.
void CollectiveRun::choose_methods() {
  std::string asked = choice_.algorithm.empty() ? usual_algorithm(scenario_, choice_.kind) : choice_.algorithm;
  if (choice_.algorithm.empty() && choice_.sends.members > 0) asked = "pairwise";
  std::vector<std::string> names = asked == "auto" ? algorithms_.names() : std::vector<std::string>{asked};
  std::vector<Problem> refusals;
  for (const std::string& name : names) {
    const Algorithm& algorithm = algorithms_.at("--algorithm", name);
    if (asked == "auto" && too_large_to_try(name, members())) continue;
    try {
      static_cast<void>(algorithm.pattern(spec({name, SIZE_MAX, name}, 1)));
    } catch (const InputError& error) {
      refusals.insert(refusals.end(), error.problems().begin(), error.problems().end());
      continue;
    }
    add_methods(name, asked == "auto");
  }
  if (!methods_.empty()) return;
  if (!refusals.empty() && asked != "auto") throw InputError(refusals);
  throw InputError(choice_.protocol.empty() ? "--algorithm" : "--protocol",
                   "no algorithm and protocol of this system do " + to_string(choice_.kind) + " on " + shape_text());
}

std::uint32_t CollectiveRun::members() const {
  return stepsim::members(shape_);
}

std::string CollectiveRun::shape_text() const {
  std::string text;
  for (const GroupAxis& axis : shape_) {
    const HardwareAxis& hardware = cluster_->axes()[static_cast<std::size_t>(axis.hardware_axis)];
    text += (text.empty() ? "" : ", ") + hardware.name +
            (hardware.direct ? " ("
             : axis.closed   ? " (ring of "
                             : " (line of ") +
            std::to_string(axis.extent) + (axis.hops > 1 ? ", stride " + std::to_string(axis.hops) : "") + ")";
  }
  return text.empty() ? "one chip" : text;
}

CollectiveSpec CollectiveRun::spec(const CollectiveMethod& method, Bytes bytes) const {
  CollectiveSpec spec;
  spec.kind = choice_.kind;
  spec.shape = shape_;
  spec.bytes = array_of(choice_.kind, bytes, members());
  if (choice_.sends.members > 0) spec.sends = choice_.sends.at(bytes);
  spec.algorithm = method.algorithm;
  spec.ring = scenario_.ring;
  spec.weighted_parts = scenario_.weighted_parts;
  spec.rings = rings_;
  spec.chunk = scenario_.chunk;
  const ClusterSpec& cluster = scenario_.cluster;
  if (cluster.kind == "nodes" && !shape_.empty() &&
      shape_.back().hardware_axis + 1 == static_cast<int>(cluster_->axes().size())) {
    spec.node = static_cast<std::uint32_t>(shape_.back().extent);
    if (spec.node < members())
      spec.channels = std::min<std::uint32_t>(spec.node, static_cast<std::uint32_t>(cluster.nodes.nics));
  }
  if (method.algorithm == "tree") spec.channels *= 2;  // each way out of a node in both trees
  if (!rings_.empty()) spec.channels = static_cast<std::uint32_t>(rings_.size());
  if (method.protocol != SIZE_MAX) {
    const Protocol& protocol = scenario_.protocols[method.protocol];
    spec.chunk = protocol.chunk;
    if (protocol.channels > 0) spec.channels = protocol.channels;
  }
  return spec;
}

/// The best that the links can give. Hashing is luck: a bound is what even spraying would give.
AxisRates CollectiveRun::rates(bool both_ways) const {
  ClusterSpec spec = cluster_->spec();
  if (spec.kind != "torus" && spec.kind != "nodes") return most_of_any_chip(*cluster_, shape_);
  if (spec.nodes.uplinks == 0) return LinkRates(*cluster_, both_ways).rates(shape_);
  spec.nodes.uplinks = 0;
  const Cluster even = build(spec);
  return LinkRates(even, both_ways).rates(shape_);
}

CollectiveResult CollectiveRun::play(Bytes bytes) const {
  std::vector<CollectiveResult> results;
  for (const CollectiveMethod& method : methods_) {
    if (!cannot_win(method.algorithm, members(), results)) results.push_back(play(method, bytes));
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const CollectiveResult& a, const CollectiveResult& b) { return a.time < b.time; });
  CollectiveResult best = results.front();
  for (const CollectiveResult& one : results) best.others.push_back({one.method, one.time});
  best.others.erase(best.others.begin());
  return best;
}

CollectiveResult CollectiveRun::play(const CollectiveMethod& method, Bytes bytes) const {
  const CollectiveSpec spec = this->spec(method, bytes);
  const Algorithm& algorithm = algorithms_.at("--algorithm", method.algorithm);
  const Protocol protocol = method.protocol == SIZE_MAX ? Protocol() : scenario_.protocols[method.protocol];

  const Communication all =
      lone_pattern(Groups(cluster_->axes(), shape_), on_the_wire(algorithm.pattern(spec), protocol), protocol.hops);
  const Symmetry symmetry = scenario_.fold ? Symmetry(*cluster_, traffic(*cluster_, all)) : Symmetry(*cluster_);

  StepProgram program = one_collective(protocol.launch);
  Network network;
  CollectiveRequest request;
  request.kind = choice_.kind;
  request.bytes = spec.bytes;
  const std::vector<LinkClass> links = lay_out(*cluster_, all, {request}, symmetry, program, network);
  RunOptions options = scenario_.run;
  options.exact_steps = 1;
  const Timeline timeline = simulate(program, network, options);

  CollectiveResult result;
  result.method = method.name;
  result.bytes = bytes;
  result.time = timeline.window_end();
  result.transfers = timeline.counters.transfers;
  result.bound = algorithm.bound(spec, rates(algorithm.both_ways && scenario_.ring != RingStyle::one_way));
  const double time = to_seconds(result.time);
  if (time <= 0) return result;
  result.algorithm_rate = static_cast<double>(bytes) / time;
  result.bus_rate = spec.sends.empty() ? result.algorithm_rate * bus_factor(choice_.kind, members())
                                       : static_cast<double>(busiest_member(spec)) / time;
  find_fullest(*cluster_, links, timeline.links_at_end.at(0), result);
  return result;
}

}  // namespace stepsim
