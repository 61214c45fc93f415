// Drawings: well-formed XML, every vertex once, no two boxes over each other, all inside the picture.
#include "topology/svg.h"

#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <stack>

#include "nodes.h"
#include "topology/picture.h"

namespace stepsim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace stepsim::testing;  // NOLINT(google-build-using-namespace)

/// Tags that do not close what was opened last, and attributes without quotes. Enough for a text without comments.
std::string what_is_malformed(const std::string& text) {
  static const std::regex tag(R"(<(/?)([a-z]+)((?: [A-Za-z0-9:-]+="[^"<]*")*)\s*(/?)>)");
  std::stack<std::string> open;
  std::size_t tags = 0;
  for (std::sregex_iterator one(text.begin(), text.end(), tag), end; one != end; ++one) {
    ++tags;
    const std::smatch& parts = *one;
    if (parts[1].length() > 0) {
      if (open.empty() || open.top() != parts[2]) return "</" + parts[2].str() + "> closes nothing";
      open.pop();
    } else if (parts[4].length() == 0) {
      open.push(parts[2]);
    }
  }
  if (!open.empty()) return "<" + open.top() + "> is not closed";
  if (tags != static_cast<std::size_t>(std::count(text.begin(), text.end(), '<'))) return "a < that is no tag";
  static const std::regex loose("&(?!(amp|lt|gt|quot);)");
  return std::regex_search(text, loose) ? "a loose &" : "";
}

std::map<std::string, int> drawn_names(const std::string& svg) {
  static const std::regex title("<g class=\"vertex\"><title>([^<]*)</title>");
  std::map<std::string, int> names;
  for (std::sregex_iterator one(svg.begin(), svg.end(), title), end; one != end; ++one) ++names[(*one)[1]];
  return names;
}

void expect_good(const Picture& picture) {
  for (std::size_t i = 0; i < picture.boxes.size(); ++i) {
    const Box& a = picture.boxes[i];
    EXPECT_GE(a.at.x - a.width / 2, 0);
    EXPECT_LE(a.at.x + a.width / 2, picture.width);
    EXPECT_GE(a.at.y - a.height / 2, 0);
    EXPECT_LE(a.at.y + a.height / 2, picture.height);
    EXPECT_GE(a.width, text_width(a.label)) << a.label;
    for (std::size_t j = 0; j < i; ++j) {
      const Box& b = picture.boxes[j];
      const bool apart = std::abs(a.at.x - b.at.x) >= (a.width + b.width) / 2 - 1e-6 ||
                         std::abs(a.at.y - b.at.y) >= (a.height + b.height) / 2 - 1e-6;
      EXPECT_TRUE(apart) << a.label << " and " << b.label;
    }
  }
}

ClusterSpec node_spec(std::vector<int> nodes) {
  ClusterSpec spec;
  spec.kind = "nodes";
  spec.chip.name = "gpu";
  spec.chip.pcie_rate = 64 * giga;
  spec.nodes.gpus = 8;
  spec.nodes.switch_rate = 450 * giga;
  spec.nodes.nics = 8;
  spec.nodes.nic_rate = 50 * giga;
  spec.nodes.wiring = Wiring::rail_optimised;
  spec.nodes.nodes = std::move(nodes);
  return spec;
}

ClusterSpec torus(std::vector<int> shape) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.chip = v4();
  spec.shape = std::move(shape);
  return spec;
}

ClusterSpec tree_with_nics() {
  ClusterSpec spec = staged_tree(pcie_tree({2, 2, 2, 2}, 2));
  spec.tree.switches_per_upper = {2, 2};
  spec.tree.nics = {{0, 0, 0}, {1, 0, 0}, {-1, 1, 25 * giga}};
  return spec;
}

TEST(Svg, EveryVertexOnceAndWellFormed) {
  for (const ClusterSpec& spec : {node_spec({1}), node_spec({2, 4}), cube_mesh(), nvlink_pairs(), tree_with_nics(),
                                  torus({4, 4, 4}), torus({2, 2, 1})}) {
    SCOPED_TRACE(spec.kind);
    const Cluster cluster = build(spec);
    const std::string svg = to_svg(cluster, "a <b> & \"c\"", "d");
    EXPECT_EQ(what_is_malformed(svg), "");
    EXPECT_THAT(svg, HasSubstr("a &lt;b&gt; &amp; &quot;c&quot;"));
    const std::map<std::string, int> names = drawn_names(svg);
    EXPECT_EQ(names.size(), cluster.vertices());
    for (VertexId id = 0; id < cluster.vertices(); ++id) {
      const auto drawn = names.find(cluster.vertex(id).name);
      ASSERT_NE(drawn, names.end()) << cluster.vertex(id).name;
      EXPECT_EQ(drawn->second, 1) << drawn->first;
    }
    expect_good(spec.kind == "torus" ? grid_picture(cluster) : rows_picture(cluster));
    EXPECT_THAT(svg, Not(HasSubstr("Drawn:")));
  }
}

TEST(Svg, TheCheckFindsWhatIsMalformed) {
  EXPECT_EQ(what_is_malformed("<a><b x=\"1\"/></a>"), "");
  EXPECT_NE(what_is_malformed("<a><b></a></b>"), "");
  EXPECT_NE(what_is_malformed("<a>"), "");
  EXPECT_NE(what_is_malformed("<a x=1/>"), "");
  EXPECT_NE(what_is_malformed("<a>1 & 2</a>"), "");
}

TEST(Svg, TheLegendHasEachCapacityWithItsLinks) {
  const std::string svg = to_svg(build(node_spec({2, 4})), "", "");
  for (const char* entry : {"450 GB/s  nvlink", "200 GB/s  leaf", "64 GB/s  pcie", "50 GB/s  nic"}) {
    EXPECT_THAT(svg, HasSubstr(entry));
  }
}

// 6 links of a chip, each drawn by its sender; on the faces of 4x4x4 (each of 16 chips, 6 faces) they go round.
TEST(Svg, EachLinkOfATorusIsDrawnByItsSender) {
  const Picture picture = grid_picture(build(torus({4, 4, 4})));
  EXPECT_EQ(picture.lines.size(), 6U * 64);
  EXPECT_EQ(std::count_if(picture.lines.begin(), picture.lines.end(),
                          [](const Line& line) { return line.end == LineEnd::wrap; }),
            6 * 16);
}

// Two cables of 2 NVLinks each are not one: each pair of devices has its own line, of the sum both links carry.
TEST(Svg, TheCubeMeshHasALineForEachPair) {
  const Picture picture = rows_picture(build(cube_mesh()));
  const auto lines = [&](std::int64_t capacity) {
    return std::count_if(picture.lines.begin(), picture.lines.end(),
                         [&](const Line& line) { return line.kind == "nvlink" && line.capacity == capacity; });
  };
  EXPECT_EQ(lines(40 * giga), 8);  // 24 NVLinks: 8 pairs with two, 8 with one
  EXPECT_EQ(lines(20 * giga), 8);
}

TEST(Svg, OfALargeClusterOnePartThatIsNamed) {
  const Cluster pod = build(node_spec({16, 32}));
  const std::string svg = to_svg(pod, "", "");
  EXPECT_EQ(what_is_malformed(svg), "");
  EXPECT_THAT(svg, HasSubstr("Drawn: the first node of 512 (8 of 4096 chips)"));
  // 8 GPUs, their switch, 8 NICs, 8 rails, a spine
  EXPECT_EQ(drawn_names(svg).size(), 8U + 1 + 8 + 8 + 1);
  const Picture part = grid_picture(build(torus({16, 16, 16})));
  EXPECT_EQ(part.boxes.size(), 256U);
  EXPECT_THAT(part.remarks, ::testing::Contains(HasSubstr("Drawn: the first 256 of 4096 chips")));
  expect_good(part);
}

TEST(Svg, LinksThatAreDownAndSlowChipsStandOut) {
  ClusterSpec spec = torus({4, 4, 4});
  spec.chip_faults = {{{1, 0, 0}, 3, 2}};
  spec.link_faults = {{{0, 0, 0}, "y+", true, 1, 1, true}};
  const std::string svg = to_svg(build(spec), "", "");
  EXPECT_THAT(svg, HasSubstr(">down</text>"));
  EXPECT_THAT(svg, HasSubstr("Red box: a chip that computes more slowly."));
  EXPECT_THAT(to_svg(build(torus({4, 4, 4})), "", ""), Not(HasSubstr(">down</text>")));
}

}  // namespace
}  // namespace stepsim
