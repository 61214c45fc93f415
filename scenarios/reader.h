// reader.h: strict reading of a YAML map, key by key.
//
// A Section knows which keys it was asked for, so what is left over is an unknown key, reported with the nearest
// known one. Nothing throws: problems are collected in Findings, with their places, and reading goes on with a
// fallback, so that one run shows all of them. Every value read, given or default, is listed in Findings::resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/units.h"
#include "scenarios/yaml_tree.h"

namespace stepsim {

struct Findings {
  std::vector<Problem> problems;
  std::vector<ResolvedKey> resolved;

  void problem(const SourcePlace& place, const std::string& key, const std::string& message) {
    problems.push_back({place, key, message});
  }
  void resolve(const std::string& key, const std::string& value, const std::string& origin) {
    resolved.push_back({key, value, origin});
  }
};

struct Range {
  std::int64_t least = 0;
  std::int64_t most = INT64_MAX;
};

class Section {
 public:
  /// value: a map; anything else is reported, and not usable. place: of the section's key.
  Section(Findings& findings, const YamlValue& value, std::string key, SourcePlace place);
  /// Not usable: what should be here has been reported elsewhere, so nothing is missing, unknown or wrong in it.
  static Section unusable(Findings& findings, std::string key, SourcePlace place);

  // One value each. Without a fallback the key is required. On a problem the fallback (or zero) is returned.
  std::string text(const std::string& name, const std::optional<std::string>& fallback);
  bool flag(const std::string& name, bool fallback);  // true, false, on, off, yes, no
  std::int64_t count(const std::string& name, Range range, std::optional<std::int64_t> fallback);
  int small_count(const std::string& name, Range range, std::optional<int> fallback);
  Bytes bytes(const std::string& name, Range range, std::optional<Bytes> fallback);
  std::int64_t rate(const std::string& name, Range range, std::optional<std::int64_t> fallback);
  double flops(const std::string& name);
  double number(const std::string& name, double least, double most, std::optional<double> fallback);
  Fraction fraction(const std::string& name, double least, double most);
  Picoseconds time(const std::string& name, std::optional<Picoseconds> fallback);
  double quantity(const std::string& name);  // any unit
  /// Index of the value among the options.
  std::size_t choice(const std::string& name, const std::vector<std::string>& options,
                     std::optional<std::size_t> fallback);
  std::vector<int> counts(const std::string& name, Range range, const std::optional<std::vector<int>>& fallback);

  /// The value of a key as it stands, or null when it is absent; marks the key as known.
  const YamlValue* find(const std::string& name);
  [[nodiscard]] bool has(const std::string& name) const { return value_->find(name) != nullptr; }

  /// Marks keys as known that do not count here; giving one in the scenario itself is reported with the reason.
  void unused(const std::vector<std::string>& names, const std::string& reason);

  /// Of two keys for the same thing, which one counts: --set beats the file, the file beats the catalog. Both from
  /// one of these is a problem. Empty when neither is there.
  std::string one_of(const std::string& a, const std::string& b);

  void problem(const std::string& name, const std::string& message);  // unless not usable
  [[nodiscard]] std::string full(const std::string& name) const { return key_.empty() ? name : key_ + "." + name; }
  /// False when there was no map to read: that is reported already, and what it lacks is no news.
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] const SourcePlace& place() const { return place_; }
  [[nodiscard]] const YamlValue& value() const { return *value_; }
  [[nodiscard]] Findings& findings() { return *findings_; }

  /// To be called when all has been read: reports unknown keys.
  void done();

 private:
  template <class T, class Parse, class Format>
  T read(const std::string& name, const std::string& expected, const std::optional<T>& fallback, Parse parse,
         Format format);

  Findings* findings_;
  const YamlValue* value_;
  std::string key_;
  SourcePlace place_;
  bool usable_ = true;
  std::vector<std::string> known_;
};

/// How strongly a value was asked for: --set 3, given in the scenario 2, catalog 1.
int rank(const std::string& origin);

}  // namespace stepsim
