// compare_report.h: scenarios or schedules beside each other, as text, CSV and JSON (compare.schema.json).
#pragma once

#include <string>

#include "scenarios/compare.h"

namespace stepsim {

/// What the rows are, for their titles and what stands above them.
struct CompareSubject {
  const Scenario* scenario = nullptr;  // whose schedules are compared; null: the rows are scenarios
  bool fair = false;
};

std::string compare_report(const CompareSubject& subject, const CompareResult& result, bool colour);

/// A title line, then a line per row. What was not run has its reason in the last column.
std::string compare_csv(const CompareResult& result);

std::string compare_json(const CompareSubject& subject, const CompareResult& result);

/// What a fair comparison keeps equal, one phrase each.
std::vector<std::string> held_equal(const Scenario& scenario, const CompareResult& result);

}  // namespace stepsim
