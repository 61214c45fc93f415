#include "tools/comparison.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/console.h"
#include "tools/format.h"
#include "tools/table.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

/// Rows of one system, in the order of their first appearance.
std::vector<std::pair<std::string, std::vector<Comparison>>> by_system(const std::vector<Comparison>& rows) {
  std::vector<std::pair<std::string, std::vector<Comparison>>> all;
  std::map<std::string, std::size_t> known;
  for (const Comparison& row : rows) {
    if (!row.skipped.empty()) continue;
    const auto [entry, is_new] = known.try_emplace(row.system, all.size());
    if (is_new) all.push_back({row.system, {}});
    all[entry->second].second.push_back(row);
  }
  return all;
}

std::string signed_percent(double error) {
  return fmt::format("{:+.1f} %", 100 * error);
}

std::string size_text(const Comparison& row) {
  return row.row.bytes > 0 ? bytes_text(static_cast<double>(row.row.bytes)) : "large";
}

std::string summary_line(const std::string& name, const std::vector<Comparison>& rows) {
  const ComparisonSummary summary = summarize(rows);
  return fmt::format("{}: {} of {} rows; absolute error median {:.1f} %, mean {:.1f} %, worst {:.1f} %", name,
                     summary.run, summary.rows, 100 * summary.median, 100 * summary.mean, 100 * summary.worst);
}

}  // namespace

std::string comparison_report(const std::vector<Comparison>& rows, bool colour) {
  Table table({{"id", Align::left},
               {"system", Align::left},
               {"op", Align::left},
               {"ranks"},
               {"size"},
               {"measured"},
               {"predicted"},
               {"error"},
               {"algorithm", Align::left}});
  std::map<std::string, std::size_t> left_out;
  for (const Comparison& row : rows) {
    if (!row.skipped.empty()) {
      ++left_out[row.skipped];
      continue;
    }
    table.row({row.row.id, row.system, row.row.collective, std::to_string(row.row.ranks), size_text(row),
               seconds_text(row.measured), seconds_text(row.predicted), signed_percent(row.error), row.method});
  }
  std::string text = table.text(colour) + "\n";
  for (const auto& [reason, count] : left_out) text += fmt::format("left out {}: {}\n", count, reason);
  for (const auto& [system, own] : by_system(rows)) text += summary_line(system, own) + "\n";
  return text + paint(colour, Paint::bold, summary_line("all", rows)) + "\n";
}

std::string comparison_json(const std::vector<Comparison>& rows) {
  Json json{{"rows", Json::array()}};
  for (const Comparison& row : rows) {
    Json one{{"id", row.row.id}};
    if (row.skipped.empty()) {
      one.update({{"system", row.system},
                  {"measured_s", row.measured},
                  {"predicted_s", row.predicted},
                  {"error", row.error},
                  {"algorithm", row.method}});
    } else {
      one["skipped"] = row.skipped;
    }
    json["rows"].push_back(one);
  }
  const ComparisonSummary summary = summarize(rows);
  json["summary"] = {{"rows", summary.rows},
                     {"run", summary.run},
                     {"mean_abs_error", summary.mean},
                     {"median_abs_error", summary.median},
                     {"worst_abs_error", summary.worst}};
  return json.dump(2) + "\n";
}

std::string comparison_markdown(const std::vector<Comparison>& rows) {
  std::string text = "| system | rows | median error | mean | worst |\n|---|---|---|---|---|\n";
  const auto line = [&](const std::string& name, const std::vector<Comparison>& own) {
    const ComparisonSummary summary = summarize(own);
    text += fmt::format("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % |\n", name, summary.run, 100 * summary.median,
                        100 * summary.mean, 100 * summary.worst);
  };
  for (const auto& [system, own] : by_system(rows)) line(system, own);
  line("all", rows);
  text += "\n| row | system | op | ranks | size | measured | predicted | error | algorithm |\n";
  text += "|---|---|---|---|---|---|---|---|---|\n";
  for (const Comparison& row : rows) {
    if (!row.skipped.empty()) continue;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.row.id, row.system, row.row.collective,
                        row.row.ranks, size_text(row), seconds_text(row.measured), seconds_text(row.predicted),
                        signed_percent(row.error), row.method);
  }
  return text;
}

}  // namespace stepsim
