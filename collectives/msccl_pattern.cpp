// msccl_pattern.cpp: the steps of an MSCCL file as lanes of transfers, and how long they take at least.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "collectives/member_links.h"
#include "collectives/msccl_order.h"
#include "collectives/refusal.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

using Counts = std::vector<std::uint32_t>;  // deliveries through each port

constexpr std::array<std::pair<const char*, CollectiveKind>, 8> kinds{
    {{"allreduce", CollectiveKind::all_reduce},
     {"allgather", CollectiveKind::all_gather},
     {"reduce_scatter", CollectiveKind::reduce_scatter},
     {"alltoall", CollectiveKind::all_to_all},
     {"broadcast", CollectiveKind::broadcast},
     {"reduce", CollectiveKind::reduce},
     {"gather", CollectiveKind::gather},
     {"scatter", CollectiveKind::scatter}}};

void validate(const MscclAlgorithm& algorithm, const CollectiveSpec& spec) {
  SpecCheck check(spec, algorithm.file);
  for (const auto& [name, kind] : kinds) {
    if (algorithm.collective == name) check.kinds({kind});
  }
  check
      .expect(members(spec.shape) == algorithm.gpus.size(), "shape",
              "'" + algorithm.file + "' is for " + std::to_string(algorithm.gpus.size()) + " members, found " +
                  std::to_string(members(spec.shape)))
      .bytes()
      .alike()
      .done();
}

Bytes chunk_bytes(const MscclAlgorithm& algorithm, const CollectiveSpec& spec) {
  const Bytes array =
      spec.kind == CollectiveKind::all_to_all ? shard_bytes(spec.bytes, members(spec.shape)) : spec.bytes;
  const Bytes chunk = shard_bytes(array, static_cast<std::uint32_t>(algorithm.chunks));
  constexpr Bytes most_chunks = 1 << 20;  // of one send (msccl.cpp)
  if (chunk > std::numeric_limits<Bytes>::max() / most_chunks)
    throw InputError("collectives.bytes", "too large for '" + algorithm.file + "': " + std::to_string(spec.bytes));
  return chunk;
}

const MscclStep& step_at(const MscclAlgorithm& algorithm, const MscclPlace& at) {
  return algorithm.gpus[at.gpu].blocks[at.block].steps[at.step];
}

// The deliveries that must have come in when a step is done: all before it in its block, those of the step it waits for,
// and its own.
std::vector<Counts> counts_of_steps(const MscclAlgorithm& algorithm, const MscclOrder& all) {
  std::vector<Counts> counts(all.places.size());
  for (const std::size_t number : all.order) {
    const MscclPlace& at = all.places[number];
    const MscclStep& step = step_at(algorithm, at);
    Counts& own = counts[number];
    own = at.step > 0 ? counts[number - 1] : Counts(algorithm.gpus[at.gpu].blocks.size(), 0);
    if (step.block >= 0) {
      const std::size_t first = all.first[at.gpu][static_cast<std::size_t>(step.block)];
      const Counts& awaited = counts[first + static_cast<std::size_t>(step.step)];
      std::transform(own.begin(), own.end(), awaited.begin(), own.begin(),
                     [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    }
    if (receives(step.op)) ++own[at.block];
  }
  return counts;
}

Role role_of(const MscclAlgorithm& algorithm, const MscclOrder& all, const std::vector<Counts>& counts, std::size_t gpu,
             Bytes chunk) {
  Role role;
  const std::vector<MscclBlock>& blocks = algorithm.gpus[gpu].blocks;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    Lane lane{static_cast<std::uint32_t>(role.runs.size()), 0};
    for (std::size_t s = 0; s < blocks[b].steps.size(); ++s) {
      if (!sends(blocks[b].steps[s].op)) continue;
      stepsim::Run run{.port = b, .count = 1, .bytes = chunk * blocks[b].steps[s].chunks};
      run.first_need = static_cast<std::uint32_t>(role.needs.size());
      const Counts& needed = counts[all.first[gpu][b] + s];
      for (std::uint32_t p = 0; p < needed.size(); ++p) {
        if (needed[p] > 0) role.needs.push_back({p, static_cast<std::int32_t>(needed[p]), 0});
      }
      run.needs = static_cast<std::uint32_t>(role.needs.size()) - run.first_need;
      role.runs.push_back(run);
      ++lane.runs;
    }
    if (lane.runs > 0) role.lanes.push_back(lane);
  }
  return role;
}

// When each transfer is there if nothing shares its way: what it waits for, then what its lane sent before.
double longest_chain(const MscclAlgorithm& algorithm, const MscclOrder& all, const LinkCost& link, Bytes chunk) {
  std::vector<double> ready(all.places.size(), 0.0);    // the data of the step is there
  std::vector<double> drained(all.places.size(), 0.0);  // all sends of the block so far
  double end = 0;
  for (const std::size_t number : all.order) {
    const MscclPlace& at = all.places[number];
    const MscclStep& step = step_at(algorithm, at);
    if (at.step > 0) ready[number] = ready[number - 1];
    if (at.step > 0) drained[number] = drained[number - 1];
    if (step.block >= 0) {
      const std::size_t first = all.first[at.gpu][static_cast<std::size_t>(step.block)];
      ready[number] = std::max(ready[number], ready[first + static_cast<std::size_t>(step.step)]);
    }
    if (receives(step.op)) ready[number] = std::max(ready[number], drained[all.sent_by[number]] + link.latency);
    if (sends(step.op)) {
      const double time = static_cast<double>(chunk * step.chunks) / link.rate;
      drained[number] = std::max(drained[number], ready[number]) + time;
    }
    end = std::max({end, ready[number], drained[number]});
  }
  return end;
}

// Bytes out of, or into, the member that has most.
double busiest(const MscclAlgorithm& algorithm, Bytes chunk) {
  std::vector<double> out(algorithm.gpus.size(), 0.0);
  std::vector<double> in(algorithm.gpus.size(), 0.0);
  for (std::size_t g = 0; g < algorithm.gpus.size(); ++g) {
    for (const MscclBlock& block : algorithm.gpus[g].blocks) {
      for (const MscclStep& step : block.steps) {
        const auto bytes = static_cast<double>(chunk * step.chunks);
        if (sends(step.op)) out[g] += bytes;
        if (receives(step.op)) in[g] += bytes;
      }
    }
  }
  return std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end()));
}

}  // namespace

TransferPattern msccl_pattern(const MscclAlgorithm& algorithm, const CollectiveSpec& spec) {
  validate(algorithm, spec);
  const Bytes chunk = chunk_bytes(algorithm, spec);
  const MscclOrder all = msccl_order(algorithm);
  const std::vector<Counts> counts = counts_of_steps(algorithm, all);
  TransferPattern pattern;
  pattern.members = static_cast<std::uint32_t>(algorithm.gpus.size());
  std::vector<std::vector<Port>> ports;
  for (std::size_t g = 0; g < algorithm.gpus.size(); ++g) {
    const std::vector<MscclBlock>& blocks = algorithm.gpus[g].blocks;
    pattern.ports = std::max(pattern.ports, static_cast<std::uint32_t>(blocks.size()));
    pattern.roles.push_back(role_of(algorithm, all, counts, g, chunk));
    ports.emplace_back();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::size_t receiver = all.receiver[g][b];
      Port& port = ports.back().emplace_back(Port{.to = no_member});
      if (receiver == no_step) continue;
      port.to = static_cast<std::uint32_t>(blocks[b].to);
      port.to_port = static_cast<std::uint32_t>(receiver);
    }
  }
  pattern.role_of = [](std::uint32_t member) { return member; };
  pattern.port = [ports](std::uint32_t member, std::uint32_t p) {
    return p < ports[member].size() ? ports[member][p] : Port{.to = no_member};
  };
  return pattern;
}

double msccl_bound(const MscclAlgorithm& algorithm, const CollectiveSpec& spec, const AxisRates& rates) {
  validate(algorithm, spec);
  const LinkCost route = best_link(rates);
  const Bytes chunk = chunk_bytes(algorithm, spec);
  const double most = busiest(algorithm, chunk);
  const double chain = longest_chain(algorithm, msccl_order(algorithm), route, chunk);
  return most == 0 ? chain : std::max(chain, most / route.rate + route.latency);
}

}  // namespace stepsim
