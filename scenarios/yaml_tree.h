// yaml_tree.h: a YAML document as a plain tree in which every value remembers where it stands and where it came from.
//
// It is built from the parser's events rather than its nodes, so that nothing is lost on the way: duplicate keys are
// found, and anchors, aliases and tags, which could make a small file huge or cyclic, are refused (catalog entries
// are shared by `base:` instead). Files that are not text, are too large or nest too deeply are refused as well.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/input_error.h"

namespace stepsim {

struct YamlKey {
  std::string name;
  SourcePlace place;
};

struct YamlValue {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;              // of a scalar
  SourcePlace place;             // of the value; of its key when null
  std::string origin;            // "given", "--set", "catalog chips/tpu-v5p"
  std::string written_as;        // full key it was given under, when it was moved from there; else empty
  std::vector<YamlKey> keys;     // of a map, parallel to items
  std::vector<YamlValue> items;  // of a map or list

  [[nodiscard]] const YamlValue* find(const std::string& name) const;
  [[nodiscard]] YamlValue* find(const std::string& name);
  [[nodiscard]] const YamlKey* find_key(const std::string& name) const;
  /// Replaces or appends.
  void set(const YamlKey& key, YamlValue value);
  void erase(const std::string& name);
};

/// "a map", "a list", "nothing", "'text'": for messages.
std::string describe(const YamlValue& value);

/// One document; null when the text has none. Throws InputError with every problem found.
YamlValue parse_yaml(const std::string& text, const std::string& file, const std::string& origin);

/// The text of a file; InputError when it is missing, a directory, unreadable, too large or not UTF-8 text.
std::string read_text(const std::string& file);

/// The bytes of a file of another tool; InputError when it is missing, a directory, unreadable or too large.
std::string read_bytes(const std::string& file, const std::string& what = "a file", std::size_t most = 1 << 20);

/// Where a dotted key stands (items of lists by number): its value, or the key of the nearest enclosing map, or item of
/// a list, that exists.
SourcePlace place_of(const YamlValue& root, const std::string& key);

}  // namespace stepsim
