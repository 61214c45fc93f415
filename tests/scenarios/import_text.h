// import_text.h: what the tests of importers ask of the graph that they read.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/input_error.h"
#include "topology/graph_spec.h"

namespace stepsim::testing {

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline std::filesystem::path scenario_tests() {
  return std::filesystem::path(STEPSIM_SOURCE_DIR) / "tests" / "scenarios";
}

/// In order of their names.
inline std::vector<std::filesystem::path> files_in(const std::string& folder, const std::string& extension) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(scenario_tests() / folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::map<VertexKind, int> kinds_of(const GraphSpec& graph) {
  std::map<VertexKind, int> kinds;
  for (const GraphVertex& vertex : graph.vertices) ++kinds[vertex.kind];
  return kinds;
}

/// {kind, GB/s}: how many cables.
inline std::map<std::pair<std::string, double>, int> cables_of(const GraphSpec& graph) {
  std::map<std::pair<std::string, double>, int> cables;
  for (const GraphCable& cable : graph.cables) ++cables[{cable.kind, static_cast<double>(cable.capacity) / 1e9}];
  return cables;
}

/// Kinds of cables on the way with the fewest, first found in their order: "pcie pcie"; "none" without a way. Ways do
/// not lead through other chips.
inline std::string way_between(const GraphSpec& graph, const std::string& from, const std::string& to) {
  std::map<std::string, VertexKind> kind;
  for (const GraphVertex& vertex : graph.vertices) kind[vertex.name] = vertex.kind;
  std::map<std::string, std::string> reached{{from, ""}};
  std::vector<std::string> queue{from};
  for (std::size_t next = 0; next < queue.size() && !reached.contains(to); ++next) {
    const std::string at = queue[next];
    if (at != from && kind[at] == VertexKind::chip) continue;
    for (const GraphCable& cable : graph.cables) {
      const bool back = cable.both_ways && cable.to == at;
      if (cable.from != at && !back) continue;
      const std::string& other = cable.from == at ? cable.to : cable.from;
      if (!reached.try_emplace(other, reached[at] + (at == from ? "" : " ") + cable.kind).second) continue;
      queue.push_back(other);
    }
  }
  return reached.contains(to) ? reached[to] : "none";
}

/// Every end of a cable is listed, once, and every rate is above 0. Empty when so.
inline std::string what_is_wrong(const GraphSpec& graph) {
  std::map<std::string, int> names;
  for (const GraphVertex& vertex : graph.vertices) {
    if (++names[vertex.name] > 1) return vertex.name + " twice";
  }
  for (const GraphCable& cable : graph.cables) {
    if (!names.contains(cable.from)) return "no " + cable.from;
    if (!names.contains(cable.to)) return "no " + cable.to;
    if (cable.capacity < 1) return cable.from + " has a cable of no rate";
  }
  return "";
}

/// What is in a file, counted by hand.
struct HostByHand {
  std::map<VertexKind, int> kinds;                       // 0: none
  std::map<std::pair<std::string, double>, int> cables;  // as cables_of
  std::vector<std::array<std::string, 3>> ways = {};     // from, to, kinds of cables
};

inline void expect_host(const GraphSpec& graph, const HostByHand& host, const std::string& file) {
  std::map<VertexKind, int> kinds = kinds_of(graph);
  for (const auto& [kind, count] : host.kinds) {
    EXPECT_EQ(kinds[kind], count) << file << ": " << vertex_kind_names().at(static_cast<std::size_t>(kind));
  }
  EXPECT_EQ(cables_of(graph), host.cables) << file;
  EXPECT_EQ(what_is_wrong(graph), "") << file;
  for (const auto& [from, to, kinds_on_way] : host.ways) {
    EXPECT_EQ(way_between(graph, from, to), kinds_on_way) << file << ": " << from << " to " << to;
  }
}

/// Cases have a file each, and no file is without a case.
template <class Case>
void expect_every_file(const std::vector<Case>& cases, const std::string& folder, const std::string& extension) {
  std::vector<std::string> expected;
  for (const Case& one : cases) expected.push_back(one.file);
  std::vector<std::string> found;
  for (const auto& file : files_in(folder, extension)) found.push_back(file.stem().string());
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected));
}

inline std::string as_lines(const InputError& error) {
  std::string text;
  for (const Problem& problem : error.problems()) {
    if (problem.place.line > 0) {
      text += std::to_string(problem.place.line) + ":" + std::to_string(problem.place.column) + " ";
    }
    text += (problem.key.empty() ? "" : problem.key + ": ") + problem.message + "\n";
  }
  return text;
}

/// The lines `expect: ...` that a broken file begins with.
inline std::string expected_lines(const std::string& text) {
  std::string expected;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find("expect: ");
    if (at == std::string::npos) break;
    const std::size_t end = line.find(" -->");
    expected += line.substr(at + 8, end == std::string::npos ? std::string::npos : end - at - 8) + "\n";
  }
  return expected;
}

}  // namespace stepsim::testing
