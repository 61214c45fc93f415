// text_place.h: line and column of a byte of a text, for messages.
#pragma once

#include <algorithm>
#include <string>

#include "sim/input_error.h"

namespace stepsim {

inline SourcePlace place_in(const std::string& text, std::size_t offset, const std::string& file) {
  const std::size_t at = std::min(offset, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t column = before == std::string::npos ? at + 1 : at - before;
  return {file, static_cast<int>(line), static_cast<int>(column)};
}

}  // namespace stepsim
