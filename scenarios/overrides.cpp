#include "scenarios/overrides.h"

#include <algorithm>
#include <optional>
#include <sstream>

namespace stepsim {
namespace {

const SourcePlace set_place{"--set", 0, 0};

/// Keys whose value may be the name of a catalog entry, and the key that holds the name once others join it.
std::optional<std::string> base_key(const std::string& key) {
  if (key == "cluster") return "system";
  if (key == "cluster.chip" || key == "model") return "base";
  return std::nullopt;
}

/// "a.b[2].c" -> a, b, 2, c; empty when a step is missing.
std::vector<std::string> steps_of(const std::string& key) {
  std::string plain;
  for (const char c : key) {
    if (c == '[') plain += '.';
    if (c != '[' && c != ']') plain += c;
  }
  std::vector<std::string> steps;
  std::istringstream in(plain + ".");
  std::string step;
  while (std::getline(in, step, '.')) {
    if (step.empty()) return {};
    steps.push_back(step);
  }
  return steps;
}

YamlValue empty_map() {
  YamlValue map;
  map.kind = YamlValue::Kind::map;
  map.place = set_place;
  map.origin = "--set";
  return map;
}

void mark(YamlValue& value) {
  value.place = set_place;
  for (YamlKey& key : value.keys) key.place = set_place;
  for (YamlValue& item : value.items) mark(item);
}

/// The item of a list that a step names, or null with the problem reported.
YamlValue* item_of(Findings& findings, YamlValue& list, const std::string& key, const std::string& step) {
  const bool number =
      step.size() < 10 && std::all_of(step.begin(), step.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number && std::stoul(step) < list.items.size()) return &list.items[std::stoul(step)];
  const std::size_t size = list.items.size();
  findings.problem(set_place, key,
                   "expected a number from 0 to " + std::to_string(size == 0 ? 0 : size - 1) + " (the list has " +
                       std::to_string(size) + " items), found '" + step + "'");
  return nullptr;
}

/// Goes one step down, making maps on the way; null with the problem reported when that cannot be.
YamlValue* step_into(Findings& findings, YamlValue& at, const std::string& key, const std::string& step) {
  if (at.kind == YamlValue::Kind::list) return item_of(findings, at, key, step);
  if (at.kind == YamlValue::Kind::scalar) {
    const std::optional<std::string> base = base_key(key);
    if (!base) {
      findings.problem(set_place, key, "is the single value " + describe(at) + ", which has no key '" + step + "'");
      return nullptr;
    }
    YamlValue map = empty_map();
    map.set({*base, at.place}, at);
    at = map;
  }
  if (at.kind == YamlValue::Kind::null) at = empty_map();
  if (at.find(step) == nullptr) at.set({step, set_place}, empty_map());
  return at.find(step);
}

void apply(Findings& findings, YamlValue& root, const std::vector<std::string>& steps, const YamlValue& value) {
  YamlValue* at = &root;
  std::string key;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    at = step_into(findings, *at, key, steps[i]);
    if (at == nullptr) return;
    key += (key.empty() ? "" : ".") + steps[i];
  }
  YamlValue* target = step_into(findings, *at, key, steps.back());
  if (target == nullptr) return;
  *target = value;
  if (value.kind == YamlValue::Kind::null && at->kind == YamlValue::Kind::map) at->erase(steps.back());
}

}  // namespace

void apply_overrides(Findings& findings, YamlValue& root, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) {
    const std::size_t equals = text.find('=');
    const std::vector<std::string> steps = steps_of(text.substr(0, equals));
    if (equals == std::string::npos || steps.empty()) {
      findings.problem(set_place, "", "expected key=value with a dotted key, found '" + text + "'");
      continue;
    }
    try {
      YamlValue value = parse_yaml(text.substr(equals + 1), "--set", "--set");
      mark(value);
      apply(findings, root, steps, value);
    } catch (const InputError& error) {
      for (const Problem& problem : error.problems())
        findings.problem(set_place, text.substr(0, equals), problem.message);
    }
  }
}

}  // namespace stepsim
