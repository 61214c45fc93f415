#include "topology/link_faults.h"

#include <algorithm>
#include <set>

#include "sim/int128.h"

namespace stepsim {

namespace {

std::string text_of(const std::vector<int>& at) {
  std::string text;
  for (const int coordinate : at) text += (text.empty() ? "" : ", ") + std::to_string(coordinate);
  return "[" + text + "]";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string axes_text(const std::vector<HardwareAxis>& axes) {
  std::vector<std::string> words;
  for (const HardwareAxis& axis : axes) words.push_back(axis.name + " of " + std::to_string(axis.extent));
  return listed(words);
}

class FaultFinder {
 public:
  FaultFinder(const ClusterSpec& spec, const std::vector<HardwareAxis>& axes, const Fabric& fabric)
      : spec_(spec), axes_(axes), fabric_(fabric), ports_(fabric.ports()) {}

  LinkStates find() {
    find_chips();
    int links = 0;
    int cables = 0;
    for (const LinkFault& fault : spec_.link_faults) {
      const int number = fault.both_directions ? cables++ : links++;
      find_link(fault,
                std::string(fault.both_directions ? "faults.cables." : "faults.links.") + std::to_string(number));
    }
    if (!problems_.empty()) throw InputError(problems_);
    return std::move(states_);
  }

 private:
  void problem(const std::string& key, const std::string& message) { problems_.push_back({{}, key, message}); }

  std::optional<ChipId> chip(const std::vector<int>& at, const std::string& key) {
    bool fits = at.size() == axes_.size();
    ChipId chip = 0;
    for (std::size_t axis = 0; fits && axis < axes_.size(); ++axis) {
      fits = at[axis] >= 0 && at[axis] < axes_[axis].extent;
      chip = chip * static_cast<ChipId>(axes_[axis].extent) + static_cast<ChipId>(at[axis]);
    }
    if (fits) return chip;
    problem(key + ".at",
            "expected coordinates of a chip, from 0, one per axis (" + axes_text(axes_) + "), found " + text_of(at));
    return std::nullopt;
  }

  void find_chips() {
    std::set<ChipId> seen;
    for (std::size_t i = 0; i < spec_.chip_faults.size(); ++i) {
      const ChipFault& fault = spec_.chip_faults[i];
      const std::string key = "faults.chips." + std::to_string(i);
      if (fault.than < 1 || fault.slower < fault.than) problem(key, "expected a chip that is slower, not faster");
      const std::optional<ChipId> id = chip(fault.at, key);
      if (id && !seen.insert(*id).second) problem(key + ".at", "chip " + text_of(fault.at) + " is given twice");
    }
  }

  void find_link(const LinkFault& fault, const std::string& key) {
    if (fault.part < 1 || fault.of < fault.part) problem(key, "expected a share of the capacity above 0 and up to 1");
    const std::optional<ChipId> id = chip(fault.at, key);
    const auto port = std::find(ports_.begin(), ports_.end(), fault.port);
    if (port == ports_.end()) {
      const std::string near = nearest(fault.port, ports_);
      problem(key + ".port", "expected one of " + listed(ports_) + ", found '" + fault.port + "'" +
                                 (near.empty() ? "" : ", did you mean '" + near + "'?"));
    }
    if (!id || port == ports_.end()) return;
    const auto cable = fabric_.cable(*id, static_cast<std::uint32_t>(port - ports_.begin()));
    if (!cable) {
      const bool ends =
          std::none_of(axes_.begin(), axes_.end(), [](const HardwareAxis& a) { return a.name == "device"; });
      problem(key + ".port",
              "chip " + text_of(fault.at) + " has no link " + fault.port + (ends ? ": its axis ends there" : ""));
      return;
    }
    if (fault.down && !cable->has_detour) {
      problem(key + ".down",
              "nothing leads round '" + fault.port + "', only ICI links can be down: expected a capacity");
    }
    set(cable->link, fault, key);
    if (fault.both_directions && cable->back != cable->link) set(cable->back, fault, key);
  }

  void set(LinkId link, const LinkFault& fault, const std::string& key) {
    const auto [entry, is_new] = states_.try_emplace(link, LinkState{fault.part, fault.of, fault.down, key});
    if (!is_new) problem(key, "this link is given twice: see " + entry->second.key);
  }

  const ClusterSpec& spec_;
  const std::vector<HardwareAxis>& axes_;
  const Fabric& fabric_;
  std::vector<std::string> ports_;
  LinkStates states_;
  std::vector<Problem> problems_;
};

}  // namespace

LinkStates find_faults(const ClusterSpec& spec, const std::vector<HardwareAxis>& axes, const Fabric& healthy) {
  return FaultFinder(spec, axes, healthy).find();
}

std::vector<LinkId> links_of(const LinkStates& states) {
  std::vector<LinkId> links;
  for (const auto& [link, state] : states) links.push_back(link);
  return links;
}

void apply(const LinkStates& states, LinkId id, GraphLink& link) {
  const auto found = states.find(id);
  if (found == states.end()) return;
  const LinkState& state = found->second;
  link.down = state.down;
  const Int128 capacity = static_cast<Int128>(link.capacity) * state.part / state.of;
  link.capacity = state.down ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(capacity));
}

}  // namespace stepsim
