// class_report.h: why chips fell into the classes they did, for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/run.h"

namespace stepsim {

/// What tells a class of chips from others at first sight: "speed", "position along x in tensor", "link x+".
using ClassTraits = std::vector<std::pair<std::string, std::string>>;  // name, value; the same names for all classes

struct ClassDescription {
  ClassId who = 0;
  std::uint64_t chips = 0;
  ChipId member = 0;  // the lowest
  ClassTraits traits;
  ClassId nearest = 0;        // the class most like it (itself when there is no other)
  std::string told_apart_by;  // from the nearest: "position along x in tensor: 1 of 2, not 0 of 2"
};

/// The classes from `first` on, at most `count` of them.
std::vector<ClassDescription> describe_classes(const Assembly& assembly, ClassId first, std::size_t count);

/// Names of the traits in which classes differ; "distance to them" as well where those do not tell all classes apart.
std::vector<std::string> why_classes_differ(const Assembly& assembly);

}  // namespace stepsim
