// symmetry.h: which chips and links provably behave alike, so that one of each class can be played for all.
//
// Take the graph of chips, flow templates and links: a template is a transfer that some chip can send, with an edge to
// its sender, its receiver and each link of its route, labelled by the kind of transfer and the place in the route.
// Colour chips by what they run and how fast, links by capacity and latency. Theorem: if a partition of the three is
// *equitable* (partition.h), one member of each class replays the whole, at the same picosecond.
//   Induction over instants. Chips of a class have started the same ops, and their transfers of one kind have the same
//   bytes left, to chips of one class. Then links of a class carry equally many flows of each flow class, so in
//   progressive filling they have the same capacity left and the same number of flows open in every round: the same
//   rounds freeze the same classes at the same rates. In the quotient a flow class crosses a link class with a
//   multiplicity, the number of its flows on *one* link: `left / count` is the same division of the same integers.
//   So all flows of a class end at one instant, the chips of a class learn the same, and start the same.
// Nothing is assumed: classes come from hardware, programs and groups alone.
//
// Listed form (any network): templates are nodes of their own. Word form (Cluster::routes_are_words): a route is a word
// over ports, so places (chips and hosts) alone are nodes, with an edge for each port in use, from its sender to its
// receiver, and for each jump through a direct axis. Chips that send by different words differ in colour. By induction
// along the word, like chips sending the same word cross links of like places, so the listed partition that follows is
// equitable too. It may be finer than the coarsest, and costs chips x ports even when every chip sends to every other.
//
// Source: the proof for one instant is that of fractional isomorphism (Ramana, Scheinerman & Ullman 1994) applied to
// progressive filling (Bertsekas & Gallager 1992, section 6.5.2); the combination over time is our own.
#pragma once

#include <string>
#include <vector>

#include "topology/cluster.h"
#include "topology/partition.h"

namespace stepsim {

/// `hops` along a hardware axis, negative: downward.
struct Hops {
  int axis = 0;
  int hops = 0;
};

/// A kind of transfer: along a hardware axis (Cluster::along), and perhaps along others after that, by some chips.
struct Move {
  int axis = 0;
  int hops = 0;
  std::vector<bool> by;         // per chip; empty: by every chip
  std::vector<Hops> then = {};  // further legs

  [[nodiscard]] std::vector<Hops> legs() const;
  /// Where a chip's move leads, and over which links: leg by leg, or in one jump where all axes are direct.
  [[nodiscard]] ChipId end(const Cluster& cluster, ChipId from) const;
  [[nodiscard]] std::vector<LinkId> route(const Cluster& cluster, ChipId from) const;
};

/// A transfer from one chip to another by one of Cluster::routes. A chip sends at most one of a kind.
struct Send {
  ChipId from = 0;
  ChipId to = 0;
  std::uint32_t route = 0;  // index in routes(from, to)
  std::uint32_t kind = 0;
};

/// What happens on a cluster, as far as symmetry is concerned.
struct Traffic {
  std::vector<std::uint32_t> colours;  // per chip: equal only if program, speed and roles in all groups are
  std::vector<Move> moves;
  std::vector<Send> sends;
};

class Symmetry {
 public:
  /// Every chip and every link is a class of its own.
  explicit Symmetry(const Cluster& cluster);
  /// The classes that follow from the traffic and the cluster's own differences.
  Symmetry(const Cluster& cluster, const Traffic& traffic);

  [[nodiscard]] std::uint32_t classes() const { return static_cast<std::uint32_t>(first_.size()); }
  [[nodiscard]] std::uint32_t class_of(ChipId chip) const { return class_of_.empty() ? chip : class_of_[chip]; }
  [[nodiscard]] ChipId first(std::uint32_t one) const { return first_[one]; }  // the lowest chip of a class
  [[nodiscard]] std::uint32_t size(std::uint32_t one) const { return size_[one]; }

  /// The class of a link that some route crosses: equal keys for links that are alike, and how many there are.
  struct LinkClass {
    std::uint64_t key = 0;
    std::uint32_t links = 1;
  };
  [[nodiscard]] LinkClass link_class(LinkId link) const;

 private:
  enum class Form { identity, words, listed };
  void take_chips(const Partition& partition);

  const Cluster* cluster_;
  Form form_ = Form::identity;
  std::vector<std::uint32_t> class_of_;
  std::vector<ChipId> first_;
  std::vector<std::uint32_t> size_;
  Partition nodes_;               // of places, or of chips, templates and links
  std::uint32_t first_link_ = 0;  // listed: node of link 0
};

/// Holds the classes against the definition, template by template (every chip, every route, every link): empty if like
/// chips' routes cross like links and links of a class carry equally many flows of each class, else what differs.
std::string why_not_symmetric(const Cluster& cluster, const Traffic& traffic, const Symmetry& symmetry);

}  // namespace stepsim
