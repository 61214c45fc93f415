#include "scenarios/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

namespace stepsim {
namespace {

constexpr std::size_t max_depth = 32;

/// Whether the quoted text that starts at `at` ends before the file does; the parser does not mind if not.
bool quote_closes(const std::string& text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return true;
    }
  }
  return false;
}

/// Builds the tree from parser events. Problems are collected; what cannot be gone on with is thrown.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& source, std::string file, std::string origin)
      : source_(source), file_(std::move(file)), origin_(std::move(origin)) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) stop(mark, "expected one YAML document, found a second one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(value(mark, YamlValue::Kind::null));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    report(mark, "aliases (*name) are not supported: write the value out, or share it as a catalog entry");
    add(value(mark, YamlValue::Kind::null));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    refuse_open_quote(mark);
    YamlValue scalar = value(mark, YamlValue::Kind::scalar);
    scalar.text = text;
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlValue::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlValue::Kind::map);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] YamlValue take_root() { return std::move(root_); }
  [[nodiscard]] std::vector<Problem>& problems() { return problems_; }

 private:
  struct Open {
    YamlValue value;
    std::optional<YamlKey> key;  // in a map: read, and its value still to come
    bool duplicate = false;
  };

  [[nodiscard]] SourcePlace place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  [[nodiscard]] YamlValue value(const YAML::Mark& mark, YamlValue::Kind kind) const {
    YamlValue made;
    made.kind = kind;
    made.place = place(mark);
    made.origin = origin_;
    return made;
  }

  [[nodiscard]] std::string path() const {
    std::string text;
    for (const Open& open : open_) {
      const std::string step = open.key ? open.key->name : std::to_string(open.value.items.size());
      if (open.value.kind == YamlValue::Kind::map && !open.key) continue;
      text += (text.empty() ? "" : ".") + step;
    }
    return text;
  }

  void report(const YAML::Mark& mark, const std::string& message) {
    problems_.push_back({place(mark), path(), message});
  }
  [[noreturn]] void stop(const YAML::Mark& mark, const std::string& message) {
    report(mark, message);
    throw InputError(problems_);
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) report(mark, "anchors (&name) are not supported: write the value out where it is needed");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") report(mark, "tags (!name) are not supported, found '" + tag + "'");
  }
  void refuse_open_quote(const YAML::Mark& mark) {
    const std::size_t at = static_cast<std::size_t>(mark.pos);
    if (at >= source_.size() || (source_[at] != '"' && source_[at] != '\'')) return;
    if (!quote_closes(source_, at)) report(mark, "not valid YAML: this quote is never closed");
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlValue::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (open_.size() >= max_depth) stop(mark, "nested more than " + std::to_string(max_depth) + " deep");
    open_.push_back({value(mark, kind), std::nullopt, false});
  }
  void close() {
    YamlValue done = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(done));
  }

  void add(YamlValue done) {
    if (open_.empty()) {
      root_ = std::move(done);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.kind == YamlValue::Kind::list) {
      parent.value.items.push_back(std::move(done));
    } else if (!parent.key) {
      add_key(parent, done);
    } else {
      if (done.kind == YamlValue::Kind::null) done.place = parent.key->place;
      if (!parent.duplicate) parent.value.set(*parent.key, std::move(done));
      parent.key.reset();
    }
  }

  void add_key(Open& parent, const YamlValue& key) {
    parent.duplicate = false;
    if (key.kind != YamlValue::Kind::scalar) {
      problems_.push_back({key.place, path(), "expected a key, found " + describe(key)});
    } else if (const YamlKey* first = parent.value.find_key(key.text)) {
      parent.duplicate = true;
      const std::string line = std::to_string(first->place.line);
      const std::string before = path();
      problems_.push_back({key.place, before.empty() ? key.text : before + "." + key.text,
                           "duplicate key, first given in line " + line});
    }
    parent.key = YamlKey{key.text, key.place};
  }

  const std::string& source_;
  std::string file_;
  std::string origin_;
  int documents_ = 0;
  YamlValue root_;
  std::vector<Open> open_;
  std::vector<Problem> problems_;
};

std::string line_of(const std::string& text, int line) {
  std::istringstream lines(text);
  std::string found;
  for (int i = 0; i <= line; ++i) {
    if (!std::getline(lines, found)) return "";
  }
  return found;
}

bool indented_by_tab(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && line[first] == '\t';
}

Problem syntax_problem(const YAML::Exception& error, const std::string& text, const std::string& file) {
  const bool known = !error.mark.is_null();
  const SourcePlace place{file, known ? error.mark.line + 1 : 0, known ? error.mark.column + 1 : 0};
  std::string message = "not valid YAML: " + error.msg;
  if (known && indented_by_tab(line_of(text, error.mark.line))) message += " (indent with spaces, not tabs)";
  return {place, "", message};
}

}  // namespace

const YamlValue* YamlValue::find(const std::string& name) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].name == name) return &items[i];
  }
  return nullptr;
}

YamlValue* YamlValue::find(const std::string& name) {
  return const_cast<YamlValue*>(std::as_const(*this).find(name));
}

const YamlKey* YamlValue::find_key(const std::string& name) const {
  for (const YamlKey& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

void YamlValue::set(const YamlKey& key, YamlValue value) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].name != key.name) continue;
    keys[i] = key;
    items[i] = std::move(value);
    return;
  }
  keys.push_back(key);
  items.push_back(std::move(value));
}

void YamlValue::erase(const std::string& name) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].name != name) continue;
    keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(i));
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

std::string describe(const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::null:
      return "nothing";
    case YamlValue::Kind::list:
      return "a list";
    case YamlValue::Kind::map:
      return "a map";
    case YamlValue::Kind::scalar:
      break;
  }
  const std::string shown = value.text.size() > 60 ? value.text.substr(0, 57) + "..." : value.text;
  return "'" + shown + "'";
}

YamlValue parse_yaml(const std::string& text, const std::string& file, const std::string& origin) {
  TreeBuilder builder(text, file, origin);
  std::istringstream in(text);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    builder.problems().push_back(syntax_problem(error, text, file));
  }
  if (!builder.problems().empty()) throw InputError(builder.problems());
  return builder.take_root();
}

namespace {

/// The item of a list that a step of a dotted key names.
const YamlValue* item_of(const YamlValue& list, const std::string& step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size() || index >= list.items.size()) return nullptr;
  return &list.items[index];
}

}  // namespace

SourcePlace place_of(const YamlValue& root, const std::string& key) {
  SourcePlace place = root.place;
  const YamlValue* at = &root;
  std::istringstream steps(key);
  std::string step;
  while (std::getline(steps, step, '.')) {
    const bool list = at->kind == YamlValue::Kind::list;
    const YamlKey* found = list ? nullptr : at->find_key(step);
    const YamlValue* next = list ? item_of(*at, step) : at->find(step);
    if (next == nullptr) return place;
    place = list ? next->place : found->place;
    at = next;
  }
  return at == &root ? place : at->place;
}

}  // namespace stepsim
