#include "scenarios/class_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace stepsim {
namespace {

/// A class at a glance: its traits, and the classes its chips send to by each kind of move.
struct Looks {
  std::vector<std::string> traits;
  std::vector<ClassId> towards;
};

/// Compares classes by their lowest chips.
class Viewer {
 public:
  explicit Viewer(const Assembly& assembly) : assembly_(assembly), cluster_(*assembly.cluster) {
    find_faults();
    name_traits();
    for (ClassId who = 0; who < assembly_.symmetry->classes(); ++who) looks_.push_back(look(who));
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<Looks>& looks() const { return looks_; }
  [[nodiscard]] ClassId nearest(ClassId who) const;
  [[nodiscard]] std::string difference(ClassId who, ClassId other) const;

 private:
  void find_faults();
  void name_traits();
  [[nodiscard]] Looks look(ClassId who) const;

  const Assembly& assembly_;
  const Cluster& cluster_;
  std::map<ChipId, Slowness> slow_;
  std::map<std::uint32_t, std::map<std::string, std::string>> faulty_;  // per place: port name -> what it is
  std::set<std::string> faulty_ports_;
  std::vector<std::string> names_;
  std::vector<std::string> ways_;  // of `towards`
  std::vector<Looks> looks_;
};

void Viewer::find_faults() {
  for (const auto& [chip, how] : slow_chips(cluster_)) slow_[chip] = how;
  if (!cluster_.routes_are_words()) return;
  for (const LinkId id : cluster_.faulty_links()) {
    const LinkOwner owner = cluster_.owner(id);
    const GraphLink link = cluster_.link(id);
    const std::string port = cluster_.port_name(owner.port);
    faulty_[owner.place][port] =
        link.down ? "down" : fmt::format("{:.4g} GB/s", static_cast<double>(link.capacity) / 1e9);
    faulty_ports_.insert(port);
  }
}

void Viewer::name_traits() {
  if (!slow_.empty()) names_.emplace_back("speed");
  for (const std::string& port : faulty_ports_) names_.push_back("link " + port);
  for (const GroupFamily& family : assembly_.communication.families) {
    for (const GroupAxis& axis : family.groups.shape()) {
      const std::string& along = cluster_.axes()[static_cast<std::size_t>(axis.hardware_axis)].name;
      if (!axis.closed) names_.push_back(fmt::format("position along {} in {}", along, family.name));
    }
  }
  for (const FamilyPattern& one : assembly_.communication.patterns) {
    for (std::uint32_t p = 0; p < one.pattern.ports; ++p) {
      const Port port = one.pattern.port(0, p);
      if (port.axis < 0) continue;
      const GroupAxis& axis =
          assembly_.communication.families[one.family].groups.shape()[static_cast<std::size_t>(port.axis)];
      const std::string& along = cluster_.axes()[static_cast<std::size_t>(axis.hardware_axis)].name;
      const std::string way = fmt::format("{} {:+}", along, port.direction * axis.hops);
      if (std::find(ways_.begin(), ways_.end(), way) == ways_.end()) ways_.push_back(way);
    }
  }
}

Looks Viewer::look(ClassId who) const {
  const ChipId chip = assembly_.symmetry->first(who);
  Looks looks;
  if (!slow_.empty()) {
    const auto slow = slow_.find(chip);
    looks.traits.push_back(
        slow == slow_.end()
            ? "nominal"
            : fmt::format("{:.4g} times as long", static_cast<double>(slow->second.slower) / slow->second.than));
  }
  for (const std::string& port : faulty_ports_) {
    std::string what = "whole";
    for (const std::uint32_t place : {chip, cluster_.chips() + cluster_.host_of(chip)}) {
      const auto own = faulty_.find(place);
      if (own != faulty_.end() && own->second.count(port) > 0) what = own->second.at(port);
    }
    looks.traits.push_back(what);
  }
  for (const GroupFamily& family : assembly_.communication.families) {
    const std::vector<int> at = cluster_.coordinates(chip);
    for (const GroupAxis& axis : family.groups.shape()) {
      if (axis.closed) continue;
      const int position = at[static_cast<std::size_t>(axis.hardware_axis)] / axis.hops % axis.extent;
      looks.traits.push_back(fmt::format("{} of {}", position, axis.extent));
    }
  }
  std::map<std::string, ClassId> towards;
  for (const FamilyPattern& one : assembly_.communication.patterns) {
    const Groups& groups = assembly_.communication.families[one.family].groups;
    for (std::uint32_t p = 0; p < one.pattern.ports; ++p) {
      const Port port = one.pattern.port(groups.rank_of(chip), p);
      if (port.axis < 0 || port.to == no_member) continue;
      const GroupAxis& axis = groups.shape()[static_cast<std::size_t>(port.axis)];
      const std::string& along = cluster_.axes()[static_cast<std::size_t>(axis.hardware_axis)].name;
      towards[fmt::format("{} {:+}", along, port.direction * axis.hops)] =
          assembly_.symmetry->class_of(groups.member(chip, port.to));
    }
  }
  for (const std::string& way : ways_) looks.towards.push_back(towards.count(way) > 0 ? towards[way] : none);
  return looks;
}

/// The fewest differing traits count first, then the fewest differing neighbours; ties: the lowest class.
ClassId Viewer::nearest(ClassId who) const {
  ClassId best = who;
  std::size_t least = SIZE_MAX;
  for (ClassId other = 0; other < looks_.size(); ++other) {
    if (other == who) continue;
    std::size_t distance = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (looks_[who].traits[i] != looks_[other].traits[i]) distance += ways_.size() + 1;
    }
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (looks_[who].towards[i] != looks_[other].towards[i]) ++distance;
    }
    if (distance < least) {
      least = distance;
      best = other;
    }
  }
  return best;
}

std::string Viewer::difference(ClassId who, ClassId other) const {
  if (who == other) return "there is no other";
  const Looks& own = looks_[who];
  const Looks& theirs = looks_[other];
  std::vector<std::string> all;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (own.traits[i] != theirs.traits[i]) {
      all.push_back(fmt::format("{}: {}, not {}", names_[i], own.traits[i], theirs.traits[i]));
    }
  }
  if (!all.empty()) return fmt::format("{}", fmt::join(all, "; "));
  const auto name = [](ClassId one) { return one == none ? std::string("nobody") : fmt::format("class {}", one); };
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    if (own.towards[i] == theirs.towards[i]) continue;
    return fmt::format("sends by {} to {}, not to {}", ways_[i], name(own.towards[i]), name(theirs.towards[i]));
  }
  return "whom it receives from, or whose links it shares";
}

}  // namespace

std::vector<ClassDescription> describe_classes(const Assembly& assembly, ClassId first, std::size_t count) {
  const Viewer viewer(assembly);
  std::vector<ClassDescription> all;
  for (ClassId who = first; who < viewer.looks().size() && all.size() < count; ++who) {
    ClassDescription one{who, assembly.symmetry->size(who), assembly.symmetry->first(who), {}, viewer.nearest(who), ""};
    for (std::size_t i = 0; i < viewer.names().size(); ++i) {
      one.traits.emplace_back(viewer.names()[i], viewer.looks()[who].traits[i]);
    }
    one.told_apart_by = viewer.difference(who, one.nearest);
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> why_classes_differ(const Assembly& assembly) {
  const Viewer viewer(assembly);
  std::vector<std::string> why;
  std::set<std::vector<std::string>> kinds;
  for (const Looks& looks : viewer.looks()) kinds.insert(looks.traits);
  for (std::size_t i = 0; i < viewer.names().size(); ++i) {
    const auto& looks = viewer.looks();
    const bool differs =
        std::any_of(looks.begin(), looks.end(), [&](const Looks& one) { return one.traits[i] != looks[0].traits[i]; });
    if (differs) why.push_back(viewer.names()[i]);
  }
  if (kinds.size() < viewer.looks().size())
    why.emplace_back(why.empty() ? "place in the network" : "distance to those that differ");
  return why;
}

}  // namespace stepsim
