// json_text.h: JSON as it was written: numbers as text, every value with its place.
//
// For input that must be read exactly and answered with line and column. Numbers keep their digits, since a
// double would change 0.0000013; a key given twice is an error. Output is written with the JSON library
// directly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/input_error.h"

namespace stepsim {

enum class JsonKind { null, boolean, number, string, array, object };

std::string to_string(JsonKind kind);  // "a number"

struct JsonMember;

struct JsonValue {
  JsonKind kind = JsonKind::null;
  std::string text;                 // of a string, a number as written, "true", "false"
  std::vector<JsonValue> items;     // of an array
  std::vector<JsonMember> members;  // of an object, in order
  SourcePlace place;

  /// The member of that name, or null.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  SourcePlace place;
  JsonValue value;
};

/// Throws InputError with file:line:column for text that is not JSON, a key given twice, or deep nesting.
JsonValue read_json(const std::string& text, const std::string& file);

/// The contents of a file, "-" for standard input; InputError when it cannot be read (missing, a directory).
std::string read_input(const std::string& file);

}  // namespace stepsim
