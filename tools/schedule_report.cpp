#include "tools/schedule_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/pipeline/limits.h"
#include "tools/format.h"
#include "tools/schedule_options.h"
#include "tools/table.h"

namespace stepsim {

namespace {

std::string counted(int count, const char* what) {
  return fmt::format("{} {}{}", grouped(count), what, count == 1 ? "" : "s");
}

std::string planned_text(const MadeSchedule& made) {
  std::string text = made.family->complexity;
  if (made.planned == PlannedWith::given_costs) text += "; with the times, p2p and activations given here";
  if (made.planned == PlannedWith::equal_costs) {
    text +=
        fmt::format("; with equal costs (F = I = W, no p2p) as published, whatever --times says: {} plans with them",
                    made.family->cost_driven_twin);
  }
  return text;
}

std::string clock_text(const MadeSchedule& made) {
  std::string text = times_text(made.clock.costs);
  if (made.clock.fused == FusedPairs::serial) text += "; fused pairs as F, then B";
  if (made.clock.blocking_sends) text += "; sends block";
  if (!made.lowered.empty()) text += "; sends and receives as the file has them";
  return text;
}

std::string figures(const MadeSchedule& made, const PlayedOrder& played, bool colour) {
  Table table({{"", Align::left}, {"", Align::left}});
  const auto figure = [&](const std::string& name, const std::string& value) {
    table.row({Cell(name, Paint::dim), Cell(value)});
  };
  figure("sizes", sizes_text(made));
  if (made.family != nullptr) {
    figure("placement", made.family->placement);
    figure("source", made.family->source);
    figure(made.planned == PlannedWith::rule ? "making it" : "planning it", planned_text(made));
  }
  figure("times", clock_text(made));
  figure("makespan", ticks_text(played.makespan));
  Ticks busiest = 0;
  for (const PlayedRank& rank : played.ranks) busiest = std::max(busiest, rank.busy);
  figure("bubble", fmt::format("{} of all ranks' time until the makespan is idle", percent_text(played.bubble())));
  figure("rank bubble",
         fmt::format("{} of the longest span of a rank, {}, is beyond the most work of one, {} (the rate of the "
                     "zero-bubble papers)",
                     percent_text(played.rank_bubble()), ticks_text(played.longest_rank), ticks_text(busiest)));
  return table.text(colour);
}

/// "5 (2.5)": activations of a chunk, and what share of whole microbatches they are.
std::string peak_text(std::int32_t peak, double share) {
  std::string whole = fmt::format("{:.2f}", peak * share);
  whole.erase(whole.find_last_not_of('0') + 1);
  if (whole.back() == '.') whole.pop_back();
  return fmt::format("{} ({})", peak, whole);
}

std::string stages_of(const PipelineOrder& order, std::size_t rank) {
  std::string text;
  for (const auto& rank_of : order.rank_of) {
    std::string stages;
    for (std::size_t stage = 0; stage < rank_of.size(); ++stage) {
      if (rank_of[stage] == static_cast<std::int32_t>(rank))
        stages += (stages.empty() ? "" : ", ") + std::to_string(stage);
    }
    text += (text.empty() ? "" : " | ") + stages;
  }
  return text;
}

std::string ranks_text(const MadeSchedule& made, const PlayedOrder& played, bool colour) {
  const ActivationUnits& activation = made.sizes.activation;
  const bool held = activation.after_forward != 1 || activation.after_input != 1;
  std::vector<Column> columns = {{"rank"}, {"stages", Align::left}, {"start"},  {"end"}, {"busy"},
                                 {"idle"}, {"peak until W"},        {"until I"}};
  if (held) columns.push_back({"peak held"});
  Table table(columns);
  const double share = microbatches_per_activation(made.order);
  for (std::size_t r = 0; r < played.ranks.size(); ++r) {
    const PlayedRank& rank = played.ranks[r];
    std::vector<Cell> cells = {std::to_string(r),
                               stages_of(made.order, r),
                               ticks_text(rank.start),
                               ticks_text(rank.end),
                               ticks_text(rank.busy),
                               ticks_text(played.makespan - rank.busy),
                               peak_text(rank.peak_until_weight, share),
                               peak_text(rank.peak_until_input, share)};
    if (held) cells.emplace_back(fmt::format("{:.10g}", most_held(made.order.ranks[r], activation)));
    table.row(cells);
  }
  return table.text(colour) + "  " +
         paint(colour, Paint::dim,
               wrapped("peaks: most activations of a chunk alive from F until W (or B) and until I (or B), and in "
                       "brackets as whole microbatches of a rank",
                       98, 2)) +
         "\n";
}

}  // namespace

std::string sizes_text(const MadeSchedule& made) {
  const PipelineSizes& sizes = made.sizes;
  std::string text =
      fmt::format("{}, {} each{}, {}", counted(sizes.ranks, "rank"), counted(sizes.stages_per_rank, "stage"),
                  made.stages_by_default ? " (default)" : "", counted(sizes.microbatches, "microbatch"));
  if (sizes.microbatches != 1) text.insert(text.size() - 1, "e");
  if (made.order.copies() == 2) text += ", two copies of the model";
  if (sizes.group > 0) text += fmt::format(", groups of {}", sizes.group);
  if (sizes.segments > 1) text += fmt::format(", {} segments of each", sizes.segments);
  if (sizes.memory_limit) text += fmt::format(", memory limit {:.10g}", *sizes.memory_limit);
  return text;
}

std::string schedule_report(const MadeSchedule& made, const PlayedOrder& played, bool colour) {
  std::string text = paint(colour, Paint::bold, made.name);
  if (made.family != nullptr) {
    for (const auto& entry : pipeline_families().entries()) {
      if (entry.name == made.name) text += ": " + entry.description;
    }
  }
  return text + "\n" + figures(made, played, colour) + "\n" + ranks_text(made, played, colour);
}

}  // namespace stepsim
