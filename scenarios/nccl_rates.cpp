#include "scenarios/nccl_rates.h"

#include <charconv>
#include <utility>

namespace stepsim {
namespace {

constexpr std::int64_t giga = 1'000'000'000;
constexpr std::int64_t tenth = giga / 10;

std::int64_t intel_rate(int family, int model) {
  if (family != 6) return 6 * giga;
  // Granite Rapids and Sierra Forest came after Emerald Rapids with lower numbers.
  if (model >= 0xcf || model == 0xad || model == 0xae || model == 0xaf) return 40 * giga;
  if (model >= 0x8f) return 22 * giga;  // Sapphire Rapids
  return model >= 0x55 ? 10 * giga : 6 * giga;
}

std::int64_t amd_rate(int family) {
  if (family == 26 || family == 0xbf) return 32 * giga;  // Zen 5
  if (family == 25 || family == 0xaf) return 24 * giga;  // Zen 3 and 4
  return 16 * giga;
}

}  // namespace

std::optional<int> pcie_lane_speed(const std::string& link_speed) {
  double transfers = 0;
  const auto [end, error] = std::from_chars(link_speed.data(), link_speed.data() + link_speed.size(), transfers);
  const std::string unit(error == std::errc() ? end : link_speed.data());
  if (error != std::errc() || (unit != " GT/s" && unit != " GT/s PCIe")) return std::nullopt;
  for (const auto& [rate, speed] : {std::pair{2.5, 15}, {5.0, 30}, {8.0, 60}, {16.0, 120}, {32.0, 240}, {64.0, 480}}) {
    if (transfers == rate) return speed;
  }
  return std::nullopt;
}

std::optional<int> pcie_lane_speed_of_generation(int generation) {
  if (generation < 1 || generation > 6) return std::nullopt;
  return 15 << (generation - 1);
}

std::int64_t pcie_rate(int lane_speed, int lanes) {
  return std::int64_t{lane_speed} * lanes * giga / 80;
}

std::int64_t nvlink_rate(int sm) {
  if (sm >= 100) return 401 * tenth;
  if (sm >= 90) return 206 * tenth;
  if (sm == 86) return 12 * giga;
  if (sm >= 70 || sm < 60) return 20 * giga;
  return 18 * giga;
}

std::int64_t xgmi_rate(const std::string& gcn) {
  if (gcn.starts_with("gfx94") || gcn.starts_with("gfx95")) return 48 * giga;
  return gcn.starts_with("gfx90a") ? 36 * giga : 24 * giga;
}

std::optional<std::int64_t> socket_rate(const Processor& processor) {
  if (processor.arch == "ppc64") return 32 * giga;
  if (processor.arch == "arm64") return 6 * giga;
  if (processor.arch != "x86_64") return std::nullopt;
  if (processor.vendor == "GenuineIntel") return intel_rate(processor.family, processor.model);
  if (processor.vendor == "AuthenticAMD") return amd_rate(processor.family);
  if (processor.vendor == "CentaurHauls" || processor.vendor == "  Shanghai  ") {
    return processor.family == 7 && processor.model == 0x5b ? 9 * giga : 6 * giga;
  }
  return std::nullopt;
}

}  // namespace stepsim
