#include "scenarios/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace stepsim {
namespace {

/// What stays the same while references are followed from entry to entry.
struct Search {
  Findings& findings;
  const std::string& folder;
  const std::string& kind;
  const std::string& key;
  std::vector<std::string> chain;  // entries being resolved, outermost first
};

std::optional<YamlValue> resolve(Search& search, const YamlValue& value, const std::string& base_key);

bool known(Search& search, const YamlValue& name) {
  const std::vector<std::string> names = catalog_names(search.folder, search.kind);
  if (std::find(names.begin(), names.end(), name.text) != names.end()) return true;
  const std::string near = nearest(name.text, names);
  search.findings.problem(name.place, search.key,
                          fmt::format("no {} in catalog {}{} (known: {})", describe(name), search.kind,
                                      near.empty() ? "" : ", did you mean '" + near + "'?", fmt::join(names, ", ")));
  return false;
}

bool cyclic(Search& search, const YamlValue& name) {
  const auto again = std::find(search.chain.begin(), search.chain.end(), name.text);
  if (again == search.chain.end()) return false;
  const std::vector<std::string> cycle(again, search.chain.end());
  search.findings.problem(
      name.place, search.key,
      fmt::format("cyclic base in catalog {}: {} -> {}", search.kind, fmt::join(cycle, " -> "), name.text));
  return true;
}

/// An entry is called as its file is, unless it says otherwise. Systems have no name of their own.
void name_entry(YamlValue& entry, const Search& search, const std::string& name) {
  if (search.kind == "systems" || entry.find("name") != nullptr) return;
  YamlValue text;
  text.kind = YamlValue::Kind::scalar;
  text.text = name;
  text.place = entry.place;
  text.origin = entry.origin;
  entry.set({"name", entry.place}, text);
}

std::optional<YamlValue> named_entry(Search& search, const YamlValue& name) {
  if (!known(search, name) || cyclic(search, name)) return std::nullopt;
  const std::string file = search.folder + "/" + search.kind + "/" + name.text + ".yaml";
  YamlValue entry;
  try {
    entry = parse_yaml(read_text(file), file, "catalog " + search.kind + "/" + name.text);
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) search.findings.problems.push_back(problem);
    return std::nullopt;
  }
  if (entry.kind != YamlValue::Kind::map) {
    search.findings.problem({file, 0, 0}, search.key, "expected a map of keys, found " + describe(entry));
    return std::nullopt;
  }
  name_entry(entry, search, name.text);
  search.chain.push_back(name.text);
  std::optional<YamlValue> resolved = resolve(search, entry, "base");
  search.chain.pop_back();
  return resolved;
}

std::optional<YamlValue> resolve(Search& search, const YamlValue& value, const std::string& base_key) {
  if (value.kind == YamlValue::Kind::scalar) return named_entry(search, value);
  const YamlValue* base = value.find(base_key);
  if (base == nullptr) return value;
  if (base->kind != YamlValue::Kind::scalar) {
    search.findings.problem(base->place, search.key + "." + base_key,
                            "expected the name of an entry of catalog " + search.kind + ", found " + describe(*base));
    return std::nullopt;
  }
  YamlValue own = value;
  own.erase(base_key);
  std::optional<YamlValue> below = named_entry(search, *base);
  return below ? std::optional<YamlValue>(overlay(*below, own)) : std::nullopt;
}

/// The reference that is followed first, for the resolved listing.
const YamlValue* reference(const YamlValue& value, const std::string& base_key) {
  return value.kind == YamlValue::Kind::scalar ? &value : value.find(base_key);
}

}  // namespace

std::string default_catalog() {
  const char* named = std::getenv("STEPSIM_CATALOG");
  return named != nullptr && *named != '\0' ? named : STEPSIM_CATALOG_DIR;
}

std::vector<std::string> catalog_names(const std::string& folder, const std::string& kind) {
  std::vector<std::string> names;
  std::error_code error;  // a missing folder has no entries
  for (const auto& file : std::filesystem::directory_iterator(folder + "/" + kind, error)) {
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

YamlValue overlay(YamlValue lower, const YamlValue& upper) {
  if (upper.kind != YamlValue::Kind::map || upper.find("base") != nullptr) return upper;
  if (lower.kind == YamlValue::Kind::scalar) {
    YamlValue based;
    based.kind = YamlValue::Kind::map;
    based.origin = lower.origin;
    based.set({"base", lower.place}, lower);
    lower = based;
  }
  if (lower.kind != YamlValue::Kind::map) return upper;
  lower.place = upper.place;
  for (std::size_t i = 0; i < upper.keys.size(); ++i) {
    const YamlValue* below = lower.find(upper.keys[i].name);
    lower.set(upper.keys[i], below == nullptr ? upper.items[i] : overlay(*below, upper.items[i]));
  }
  return lower;
}

std::optional<YamlValue> resolve_reference(Findings& findings, const std::string& folder, const std::string& kind,
                                           const std::string& key, const YamlValue& value,
                                           const std::string& base_key) {
  const YamlValue* name = reference(value, base_key);
  if (name != nullptr && name->kind == YamlValue::Kind::scalar) {
    findings.resolve(value.kind == YamlValue::Kind::scalar ? key : key + "." + base_key, name->text, name->origin);
  }
  Search search{findings, folder, kind, key, {}};
  return resolve(search, value, base_key);
}

}  // namespace stepsim
