// schema.h: checks a value against the parts of JSON Schema that run.schema.json uses: type, properties, required,
// additionalProperties (false), items, enum, minimum, pattern. Any other keyword is an error, so nothing is skipped.
#pragma once

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace stepsim {

class Schema {
 public:
  using Json = nlohmann::json;

  /// What is wrong, one line each, with the path of the value.
  static std::vector<std::string> problems(const Json& schema, const Json& value) {
    Schema checked;
    checked.check(schema, value, "$");
    return checked.problems_;
  }

 private:
  void wrong(const std::string& path, const std::string& what) { problems_.push_back(path + ": " + what); }

  static bool is(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  void keywords(const Json& schema, const std::string& path) {
    static const std::set<std::string> known = {
        "$schema", "title", "description", "type",   "properties", "required", "additionalProperties",
        "items",   "enum",  "minimum",     "pattern"};
    for (const auto& [keyword, value] : schema.items()) {
      if (!known.contains(keyword)) wrong(path, "schema keyword " + keyword + " is not checked here");
    }
  }

  void object(const Json& schema, const Json& value, const std::string& path) {
    const Json& properties = schema.at("properties");
    for (const auto& name : schema.at("required")) {
      if (!value.contains(name.get<std::string>())) wrong(path, "missing " + name.get<std::string>());
    }
    for (const auto& [name, member] : value.items()) {
      if (properties.contains(name)) {
        check(properties.at(name), member, path + "." + name);
      } else if (!schema.at("additionalProperties").get<bool>()) {
        wrong(path, "not in the schema: " + name);
      }
    }
  }

  void check(const Json& schema, const Json& value, const std::string& path) {
    keywords(schema, path);
    if (schema.contains("type") && !is(value, schema.at("type")))
      return wrong(path, "not of type " + schema.at("type").dump());
    if (schema.contains("enum") &&
        std::find(schema.at("enum").begin(), schema.at("enum").end(), value) == schema.at("enum").end()) {
      wrong(path, "not one of " + schema.at("enum").dump());
    }
    if (schema.contains("minimum") && value < schema.at("minimum")) wrong(path, "below " + schema.at("minimum").dump());
    if (schema.contains("pattern") &&
        !std::regex_search(value.get<std::string>(), std::regex(schema.at("pattern").get<std::string>()))) {
      wrong(path, "'" + value.get<std::string>() + "' does not match");
    }
    if (value.is_object() && schema.contains("properties")) object(schema, value, path);
    if (!value.is_array()) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      check(schema.at("items"), value[i], path + "[" + std::to_string(i) + "]");
  }

  std::vector<std::string> problems_;
};

}  // namespace stepsim
