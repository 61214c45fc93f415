// registry.h: things that users add, by name (topologies, collective algorithms, partitioners).
//
// A room fills its registry in one explicit function, in a fixed order; a name given twice is an error, and an
// unknown name is answered with the nearest one and the full list.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/input_error.h"

namespace stepsim {

template <class T>
class Registry {
 public:
  struct Entry {
    std::string name;
    std::string description;  // one line, printed by the command line
    T value;
  };

  void add(std::string name, std::string description, T value) {
    if (find(name) != nullptr) throw std::logic_error("registered twice: " + name);
    entries_.push_back({std::move(name), std::move(description), std::move(value)});
  }

  [[nodiscard]] const T* find(const std::string& name) const {
    for (const Entry& entry : entries_) {
      if (entry.name == name) return &entry.value;
    }
    return nullptr;
  }

  /// The entry called `name`; throws InputError(key, ...) naming the nearest and all known names.
  [[nodiscard]] const T& at(const std::string& key, const std::string& name) const {
    if (const T* found = find(name)) return *found;
    std::string known;
    for (const Entry& entry : entries_) known += (known.empty() ? "" : ", ") + entry.name;
    const std::string near = nearest(name, names());
    throw InputError(key, "unknown name '" + name + "'" + (near.empty() ? "" : ", did you mean '" + near + "'?") +
                              " (known: " + known + ")");
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries_) all.push_back(entry.name);
    return all;
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace stepsim
