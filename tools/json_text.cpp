#include "tools/json_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace stepsim {

namespace {

constexpr std::size_t deepest = 64;

/// Walks the text once; places are asked for in rising order.
class Places {
 public:
  Places(const std::string& text, const std::string& file) : text_(text) { place_ = {file, 1, 1}; }

  SourcePlace at(std::size_t offset) {
    for (; at_ < std::min(offset, text_.size()); ++at_) {
      ++place_.column;
      if (text_[at_] == '\n') place_ = {place_.file, place_.line + 1, 1};
    }
    return place_;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
  SourcePlace place_;
};

/// Reads the text and counts how much the parser has taken.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*taken_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  std::size_t* taken_;
};

/// The library's message without its own prefix and place: what follows the last "parse error ...: ".
std::string plain(std::string message) {
  const std::size_t code = message.find("] ");
  if (code != std::string::npos) message.erase(0, code + 2);
  const std::size_t place = message.find("parse error at line ");
  const std::size_t colon = message.find(": ");
  if (place == 0 && colon != std::string::npos) message.erase(0, colon + 2);
  return "not valid JSON: " + message;
}

/// Receives the parser's events and builds the tree.
class Builder {
 public:
  Builder(const std::string& text, const std::string& file) : text_(text), places_(text, file) {}

  JsonValue root;
  std::size_t taken = 0;

  bool null() { return value(JsonKind::null, ""); }
  bool boolean(bool v) { return value(JsonKind::boolean, v ? "true" : "false"); }
  bool number_integer(std::int64_t v) { return value(JsonKind::number, std::to_string(v)); }
  bool number_unsigned(std::uint64_t v) { return value(JsonKind::number, std::to_string(v)); }
  bool number_float(double /*v*/, const std::string& text) { return value(JsonKind::number, text); }
  bool string(std::string& text) { return value(JsonKind::string, text); }
  bool binary(nlohmann::json::binary_t& /*v*/) { return false; }  // JSON text has none
  bool start_object(std::size_t /*size*/) { return open(JsonKind::object); }
  bool start_array(std::size_t /*size*/) { return open(JsonKind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    const SourcePlace place = token_place();
    if (!open_.back().names.insert(name).second) throw InputError({{place, name, "this key is given twice"}});
    open_.back().value->members.push_back({name, place, {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& error) {
    throw InputError({{places_.at(position > 0 ? position - 1 : 0), "", plain(error.what())}});
  }

 private:
  struct Open {
    JsonValue* value;
    std::set<std::string> names;  // of an object's keys so far
  };

  /// Where the token that was just read begins: behind the one before it and what separates them.
  SourcePlace token_place() {
    const std::size_t begin = std::min(text_.find_first_not_of(" \t\r\n,:]}", seen_), text_.size());
    seen_ = taken;
    return places_.at(begin);
  }

  JsonValue& place_for_value() {
    if (open_.empty()) return root;
    JsonValue& parent = *open_.back().value;
    if (parent.kind == JsonKind::object) return parent.members.back().value;
    return parent.items.emplace_back();
  }

  bool value(JsonKind kind, const std::string& text) {
    JsonValue& made = place_for_value();
    made.kind = kind;
    made.text = text;
    made.place = token_place();
    return true;
  }

  // Pointers to open parents stay valid: a parent's list grows only while none of its values is open.
  bool open(JsonKind kind) {
    JsonValue& made = place_for_value();
    made.kind = kind;
    made.place = token_place();
    open_.push_back({&made, {}});
    if (open_.size() > deepest) throw InputError({{made.place, "", "nested deeper than 64 levels"}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& text_;
  Places places_;
  std::size_t seen_ = 0;
  std::vector<Open> open_;
};

}  // namespace

std::string to_string(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "true or false";
    case JsonKind::number:
      return "a number";
    case JsonKind::string:
      return "a text";
    case JsonKind::array:
      return "a list";
    case JsonKind::object:
      return "an object";
  }
  return "";
}

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const JsonMember& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

JsonValue read_json(const std::string& text, const std::string& file) {
  Builder builder(text, file);
  const CountingIterator begin(text.data(), &builder.taken);
  const CountingIterator end(text.data() + text.size(), &builder.taken);
  nlohmann::json::sax_parse(begin, end, &builder);
  return std::move(builder.root);
}

std::string read_input(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw InputError({{{file, 0, 0}, "", "is a directory, expected a file"}});
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open() || stream.bad())
    throw InputError({{{file, 0, 0}, "", "cannot be read: no such file, or no permission"}});
  return text;
}

}  // namespace stepsim
