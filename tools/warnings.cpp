#include "tools/warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "tools/format.h"

namespace stepsim {

namespace {

std::string kinds_text(const std::vector<std::string>& kinds) {
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

std::string straddle_text(const Straddle& one, const Cluster& cluster) {
  std::vector<std::string> pairs;
  for (const auto& [from, to] : one.between) {
    pairs.push_back(cluster.vertex(from).name + " to " + cluster.vertex(to).name);
  }
  const std::size_t more = one.slow_steps - pairs.size();
  if (more > 0) pairs.push_back(fmt::format("{} more", grouped(static_cast<std::int64_t>(more))));
  std::string text = fmt::format(
      "{} {} straddles slow links: {} of the {} steps of a group ({}) {} at {} over {}, the others at {} over {}.",
      one.axis, one.extent, grouped(one.slow_steps), grouped(one.steps), fmt::join(pairs, ", "),
      one.slow_steps == 1 ? "goes" : "go", rate_text(one.slow), kinds_text(one.slow_kinds), rate_text(one.fast),
      kinds_text(one.fast_kinds));
  if (one.fits < 2) return text + fmt::format(" No smaller extent of {} would stay on the fast links.", one.axis);
  return text + fmt::format(" {} {} would stay on the fast links, with the rest on another axis.", one.axis, one.fits);
}

std::string warnings_json(const std::vector<Straddle>& straddles, const Cluster& cluster) {
  auto list = nlohmann::ordered_json::array();
  for (const Straddle& one : straddles) {
    list.push_back({{"kind", "straddle"},
                    {"axis", one.axis},
                    {"extent", one.extent},
                    {"slow_bytes_per_s", one.slow},
                    {"slow_links", one.slow_kinds},
                    {"slow_steps", one.slow_steps},
                    {"steps", one.steps},
                    {"fast_bytes_per_s", one.fast},
                    {"fast_links", one.fast_kinds},
                    {"fast_extent", one.fits},
                    {"text", straddle_text(one, cluster)}});
  }
  return list.dump();
}

}  // namespace stepsim
