// comparison.h: measured collectives beside predicted ones, as text, JSON and Markdown.
#pragma once

#include <string>
#include <vector>

#include "scenarios/measured.h"

namespace stepsim {

/// One line per row, what was left out and why, and a line on the errors of each system and of all.
std::string comparison_report(const std::vector<Comparison>& rows, bool colour);

/// {"rows": [{id, measured_s, predicted_s, error} or {id, skipped}], "summary": {rows, run, mean_abs_error, ...}}
std::string comparison_json(const std::vector<Comparison>& rows);

/// Tables for scenarios/catalog/README.md: errors by system, then all rows.
std::string comparison_markdown(const std::vector<Comparison>& rows);

}  // namespace stepsim
