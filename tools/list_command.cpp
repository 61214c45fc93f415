#include <algorithm>
#include <functional>
#include <sstream>

#include "collectives/collective.h"
#include "scenarios/catalog.h"
#include "schedules/pipeline/family.h"
#include "tools/commands.h"
#include "tools/output_file.h"
#include "tools/table.h"
#include "topology/cluster.h"

namespace stepsim {

namespace {

struct Listed {
  std::string name;
  std::string description;
};

/// The comment that a catalog file begins with says what the entry is: its first sentence.
std::string first_sentence(const std::string& file) {
  std::istringstream lines(read_text(file));
  std::string comment;
  for (std::string line; std::getline(lines, line) && line.starts_with("# ");) comment += line.substr(1);
  const std::size_t begin = comment.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  const std::size_t end = comment.find(". ", begin);
  return comment.substr(begin, end == std::string::npos ? end : end - begin + 1);
}

std::vector<Listed> catalog_entries(const std::string& kind) {
  std::vector<Listed> entries;
  const std::string folder = default_catalog();
  for (const std::string& name : catalog_names(folder, kind)) {
    entries.push_back({name, first_sentence(folder + "/" + kind + "/" + name + ".yaml")});
  }
  return entries;
}

template <class T>
std::vector<Listed> registered(const Registry<T>& registry) {
  std::vector<Listed> entries;
  for (const auto& entry : registry.entries()) entries.push_back({entry.name, entry.description});
  return entries;
}

/// With placement, stages per rank, and where the rule is from.
std::vector<Listed> schedules() {
  std::vector<Listed> entries;
  for (const auto& [name, description, family] : pipeline_families().entries()) {
    const std::string stages = family.stages_per_rank == 0 ? "any" : std::to_string(family.stages_per_rank);
    entries.push_back({name, family.placement + ", v = " + stages + ": " + description + " (" + family.source + ")"});
  }
  return entries;
}

struct Things {
  std::string name;
  std::string title;
  std::function<std::vector<Listed>()> entries;
};

/// One line here lists one more kind of thing.
const std::vector<Things>& things() {
  static const std::vector<Things> all = {
      {"chips", "Chips of the catalog (cluster.chip)", [] { return catalog_entries("chips"); }},
      {"systems", "Systems of the catalog (cluster.system)", [] { return catalog_entries("systems"); }},
      {"models", "Models of the catalog (model)", [] { return catalog_entries("models"); }},
      {"topologies", "Topologies (cluster.kind)", [] { return registered(cluster_builders()); }},
      {"collectives", "Collective algorithms", [] { return registered(collective_algorithms()); }},
      {"schedules", "Pipeline schedules (stepsim schedule NAME)", schedules},
  };
  return all;
}

std::string section(const Things& one, bool colour) {
  constexpr std::size_t room = 96;
  const std::vector<Listed> entries = one.entries();
  std::size_t longest = 0;
  for (const Listed& entry : entries) longest = std::max(longest, width(entry.name));
  std::string text = paint(colour, Paint::bold, one.title) + "\n";
  if (entries.empty()) text += "  none\n";
  for (const Listed& entry : entries) {
    const std::string blanks(longest - width(entry.name) + 2, ' ');
    const std::string body = indented(wrapped(entry.description, room - longest, 0), longest + 4);
    text += "  " + entry.name + (body.empty() ? "" : blanks + paint(colour, Paint::dim, body)) + "\n";
  }
  return text;
}

}  // namespace

std::vector<std::string> listed_things() {
  std::vector<std::string> names;
  for (const Things& one : things()) names.push_back(one.name);
  return names;
}

ExitCode list_command(const ListArguments& arguments) {
  const bool colour = colour_on_stdout();
  std::string text;
  for (const Things& one : things()) {
    if (!arguments.what.empty() && arguments.what != one.name) continue;
    text += (text.empty() ? "" : "\n") + section(one, colour);
  }
  print(text);
  return ExitCode::ok;
}

}  // namespace stepsim
