// load_faults.cpp: `faults:` -> the faults of a ClusterSpec: slow chips, degraded links and links that are down.
//
//   faults:
//     chips:  [{at: [3, 0, 5], slowdown: 1.1}]           # or speed: 0.9
//     links:  [{at: [0, 0, 0], port: x+, capacity: 0.5}]  # one direction
//     cables: [{at: [0, 0, 0], port: x+, down: true}]     # both
#include <functional>

#include "scenarios/load_sections.h"

namespace stepsim {
namespace {

constexpr Range coordinate{0, 1 << 20};

ChipFault read_chip(Section& entry) {
  ChipFault fault;
  fault.at = entry.counts("at", coordinate, std::nullopt);
  const std::string chosen = entry.one_of("slowdown", "speed");
  if (chosen == "slowdown") {
    const Fraction slowdown = entry.fraction("slowdown", 1, 1000);
    fault.slower = slowdown.numerator;
    fault.than = slowdown.denominator;
  } else if (chosen == "speed") {
    const Fraction speed = entry.fraction("speed", 0.001, 1);
    fault.slower = speed.denominator;
    fault.than = speed.numerator;
  } else {
    entry.problem("slowdown", "missing: expected a number such as 1.1, or as 'speed' one such as 0.9");
  }
  return fault;
}

LinkFault read_link(Section& entry, bool both_directions) {
  LinkFault fault;
  fault.at = entry.counts("at", coordinate, std::nullopt);
  fault.port = entry.text("port", std::nullopt);
  fault.both_directions = both_directions;
  fault.down = entry.flag("down", false);
  if (fault.down) {
    entry.unused({"capacity"}, "with down: true");
  } else if (entry.find("capacity") == nullptr) {
    entry.problem("capacity", "missing: expected the share that is left such as 0.5, or down: true");
  } else {
    const Fraction share = entry.fraction("capacity", 1e-6, 1);
    fault.part = share.numerator;
    fault.of = share.denominator;
  }
  return fault;
}

void read_list(Section& faults, const std::string& name, const std::string& form,
               const std::function<void(Section& entry)>& read) {
  const YamlValue* list = faults.find(name);
  if (list == nullptr) return;
  if (list->kind != YamlValue::Kind::list) {
    faults.problem(name, "expected a list of " + form + ", found " + describe(*list));
    return;
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const YamlValue& item = list->items[i];
    Section entry(faults.findings(), item, faults.full(name) + "." + std::to_string(i), item.place);
    if (!entry.usable()) continue;
    read(entry);
    entry.done();
  }
}

}  // namespace

void read_faults(Section& root, ClusterSpec& cluster) {
  const std::optional<YamlValue> value = section_value(root, "faults", false);
  Section faults(root.findings(), *value, "faults", section_place(root, "faults"));
  read_list(faults, "chips", "{at, slowdown}",
            [&](Section& entry) { cluster.chip_faults.push_back(read_chip(entry)); });
  read_list(faults, "links", "{at, port, capacity}",
            [&](Section& entry) { cluster.link_faults.push_back(read_link(entry, false)); });
  read_list(faults, "cables", "{at, port, capacity}",
            [&](Section& entry) { cluster.link_faults.push_back(read_link(entry, true)); });
  faults.done();
}

}  // namespace stepsim
