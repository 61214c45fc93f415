// digits.cpp: reads the terms of a placement: AXIS, AXIS:EXTENT or AXIS:EXTENT@STRIDE.
#include <charconv>

#include "topology/mesh.h"

namespace stepsim {

namespace {

[[noreturn]] void fail_form(const std::string& key, const std::string& term) {
  throw InputError(key, "expected AXIS, AXIS:EXTENT or AXIS:EXTENT@STRIDE (x, x:4, x:4@4), found '" + term + "'");
}

int axis_index(const Cluster& cluster, const std::string& key, const std::string& name) {
  std::vector<std::string> names;
  std::string list;
  for (const HardwareAxis& axis : cluster.axes()) {
    if (axis.name == name) return static_cast<int>(names.size());
    names.push_back(axis.name);
    list += (list.empty() ? "" : ", ") + axis.name + " of " + std::to_string(axis.extent);
  }
  const std::string near = nearest(name, names);
  throw InputError(key, "the cluster has no axis '" + name + "'" +
                            (near.empty() ? "" : ", did you mean '" + near + "'?") + " (it has " + list + ")");
}

int number(const std::string& key, const std::string& term, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) fail_form(key, term);
  return value;
}

std::string divisors(int extent) {
  std::string text;
  for (int d = 1; d <= extent; ++d) {
    if (extent % d == 0) text += (text.empty() ? "" : ", ") + std::to_string(d);
  }
  return text;
}

AxisDigit parse_digit(const Cluster& cluster, const std::string& key, const std::string& term) {
  const std::size_t colon = term.find(':');
  AxisDigit digit;
  digit.hardware_axis = axis_index(cluster, key, term.substr(0, colon));
  const HardwareAxis& hardware = cluster.axes()[static_cast<std::size_t>(digit.hardware_axis)];
  digit.extent = hardware.extent;
  if (colon == std::string::npos) return digit;

  const std::size_t at = term.find('@', colon);
  const std::string_view text = term;
  digit.extent = number(key, term, text.substr(colon + 1, at == std::string::npos ? at : at - colon - 1));
  if (at != std::string::npos) digit.stride = number(key, term, text.substr(at + 1));
  if (hardware.extent % digit.stride != 0 || hardware.extent / digit.stride % digit.extent != 0) {
    throw InputError(key, "extent and stride of '" + term + "' do not divide " + hardware.name + " of " +
                              std::to_string(hardware.extent) + " (their product must be one of " +
                              divisors(hardware.extent) + ")");
  }
  return digit;
}

}  // namespace

std::vector<AxisDigit> parse_digits(const Cluster& cluster, const std::string& key,
                                    const std::vector<std::string>& terms) {
  std::vector<AxisDigit> digits;
  for (const std::string& term : terms) digits.push_back(parse_digit(cluster, key, term));
  return digits;
}

}  // namespace stepsim
