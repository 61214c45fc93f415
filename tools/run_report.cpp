#include "tools/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "tools/format.h"
#include "tools/path_summary.h"
#include "tools/table.h"

namespace stepsim {

namespace {

constexpr int bar_cells = 24;
constexpr std::size_t most_links = 8;
constexpr std::size_t most_path_parts = 8;
constexpr double least_told = 0.001;  // of the step: a straggler wait worth a line

std::string title(const std::string& text, const std::string& note, bool colour) {
  return "\n" + paint(colour, Paint::bold, text) + (note.empty() ? "" : paint(colour, Paint::dim, "  " + note)) + "\n";
}

std::string note(const std::string& text, bool colour) {
  return "  " + paint(colour, Paint::dim, wrapped(text, 96, 2)) + "\n";
}

/// Computing is what one pays for; the rest is what one could save.
Paint paint_of(const std::string& part) {
  if (part.starts_with("exposed.")) return Paint::red;
  if (part.starts_with("bubble.") || part.starts_with("idle.") || part == "straggler") return Paint::yellow;
  return Paint::green;
}

const ClassBreakdown* most_common(const RunResult& result) {
  const ClassId who = most_common_class(result.breakdown);
  const auto found = std::find_if(result.breakdown.begin(), result.breakdown.end(),
                                  [&](const ClassBreakdown& one) { return one.who == who; });
  return found == result.breakdown.end() ? nullptr : &*found;
}

/// One line of the breakdown: what the shown class spends, and the classes that spend least and most.
struct Line {
  std::string name;
  Picoseconds time, least, most;
  std::string text, least_text, most_text;  // in the unit of the table
};

Line& line_called(std::vector<Line>& lines, const std::string& name) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.name == name; });
  if (found != lines.end()) return *found;
  const std::string zero = "0";
  return lines.emplace_back(Line{name, {}, {}, {}, zero, zero, zero});
}

/// Texts of a class add up to its step; a text is taken over only where another class really spends less or more.
void compare(const ClassBreakdown& other, const TimeUnit& unit, std::vector<Line>& lines) {
  std::vector<Picoseconds> times;
  for (const BreakdownPart& part : other.parts) times.push_back(part.time);
  const std::vector<std::string> texts = in_unit_exactly(times, unit, 3);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Line& line = line_called(lines, other.parts[i].name);
    if (times[i] > line.most) std::tie(line.most, line.most_text) = std::tie(times[i], texts[i]);
    if (times[i] < line.least) std::tie(line.least, line.least_text) = std::tie(times[i], texts[i]);
  }
  for (Line& line : lines) {  // a class without a part spends nothing on it
    const bool has =
        std::any_of(other.parts.begin(), other.parts.end(), [&](const auto& part) { return part.name == line.name; });
    if (!has && line.least > Picoseconds(0)) {
      line.least = Picoseconds(0);
      line.least_text = in_unit(line.least, unit, 3);
    }
  }
}

std::vector<Line> lines_of(const RunResult& result, const ClassBreakdown& shown, const TimeUnit& unit) {
  std::vector<Line> lines;
  std::vector<Picoseconds> times;
  for (const BreakdownPart& part : shown.parts) times.push_back(part.time);
  const std::vector<std::string> texts = in_unit_exactly(times, unit, 3);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lines.push_back({shown.parts[i].name, times[i], times[i], times[i], texts[i], texts[i], texts[i]});
  }
  for (const ClassBreakdown& other : result.breakdown) {
    if (other.who != shown.who) compare(other, unit, lines);
  }
  return lines;
}

std::string of_classes(const RunResult& result, const ClassBreakdown& shown) {
  std::uint64_t chips = 0;
  for (const ClassBreakdown& one : result.breakdown) chips += one.chips;
  if (result.breakdown.size() == 1)
    return fmt::format("alike on all {} chips", grouped(static_cast<std::int64_t>(chips)));
  return fmt::format("on {} of {} chips; least and most of all chips beside",
                     grouped(static_cast<std::int64_t>(shown.chips)), grouped(static_cast<std::int64_t>(chips)));
}

Picoseconds straggler_time(const ClassBreakdown& one) {
  for (const BreakdownPart& part : one.parts) {
    if (part.name == "straggler") return part.time;
  }
  return Picoseconds(0);
}

/// Who waits longest for late chips, and who the others wait for.
std::string straggler_note(const RunResult& result, const TimeUnit& unit, bool colour) {
  if (result.breakdown.size() < 2) return "";
  const auto [least, most] =
      std::minmax_element(result.breakdown.begin(), result.breakdown.end(),
                          [](const auto& a, const auto& b) { return straggler_time(a) < straggler_time(b); });
  if (share(straggler_time(*most), result.step_time) < least_told) return "";
  double sum = 0;
  double chips = 0;
  for (const ClassBreakdown& one : result.breakdown) {
    sum += static_cast<double>(one.chips) * to_seconds(straggler_time(one));
    chips += static_cast<double>(one.chips);
  }
  const auto chip = [&](const ClassBreakdown& one) {
    return place_text(result.assembly.cluster->coordinates(result.assembly.symmetry->first(one.who)));
  };
  return note(fmt::format("straggler wait: {} on average; least on chip {} ({} {}), most on chip {} ({} {})",
                          seconds_text(sum / chips), chip(*least), in_unit(straggler_time(*least), unit, 3), unit.name,
                          chip(*most), in_unit(straggler_time(*most), unit, 3), unit.name),
              colour);
}

std::string pipeline_note(const PipelineFigures& figures) {
  return fmt::format(
      "pipeline bubble: {} of all chips' time without compute; {} of the longest rank's beyond the most work of one "
      "(zero-bubble papers); waiting for a peer in warm-up {}, steady {}, drain {}; sends exposed {}; at most {} "
      "microbatches kept by a rank",
      percent_text(figures.wall_bubble), percent_text(figures.rank_bubble), percent_text(figures.warm_up),
      percent_text(figures.steady), percent_text(figures.drain), time_text(figures.exposed_sends),
      significant(figures.activation_microbatches, 3));
}

std::string giga(double bytes_per_s) {
  return significant(bytes_per_s / 1e9, 3);
}

}  // namespace

std::string headline(const Scenario& scenario, const RunResult& result, bool colour) {
  Table table({{"step time"}, {"tokens/s"}, {"tokens/s/chip"}, {"model TFLOP/s/chip"}, {"MFU"}, {"peak memory/chip"}});
  const MemoryReport& memory = result.memory;
  const Cell peak(bytes_text(static_cast<double>(memory.peak)), memory.fits ? Paint::bold : Paint::red);
  table.row({Cell(time_text(result.step_time), Paint::bold), Cell(count_text(result.tokens_per_s), Paint::bold),
             Cell(significant(result.tokens_per_s_per_chip, 4), Paint::bold),
             Cell(significant(result.model_flops_per_s_per_chip / 1e12, 4), Paint::bold),
             Cell(percent_text(result.mfu), Paint::bold), peak});
  std::string text = title("Step", "", colour) + table.text(colour);
  if (result.step_time_without_faults) {
    const Picoseconds healthy = *result.step_time_without_faults;
    text += note(
        fmt::format("without the faults: {}; they cost {} ({})", time_text(healthy),
                    time_text(result.step_time - healthy), percent_text(share(result.step_time - healthy, healthy))),
        colour);
  }
  if (result.pipeline) text += note(pipeline_note(*result.pipeline), colour);
  const auto flops = scenario.cluster.chip.flops.find(scenario.strategy.dtype);
  if (flops != scenario.cluster.chip.flops.end()) {
    text += note(fmt::format("MFU of the dense {} peak, {} TFLOP/s; model FLOP: {}", scenario.strategy.dtype,
                             significant(flops->second / 1e12, 4), result.flop_formula),
                 colour);
  }
  return text;
}

std::string breakdown_table(const RunResult& result, bool colour) {
  const ClassBreakdown* shown = most_common(result);
  if (shown == nullptr) return "";
  const TimeUnit unit = time_unit(result.step_time);
  const bool several = result.breakdown.size() > 1;
  std::vector<Column> columns = {
      {"part", Align::left}, {unit.name}, {"share"}, {std::string(bar_cells, ' '), Align::left}};
  if (several) columns.insert(columns.end(), {{"least " + unit.name}, {"most " + unit.name}});
  Table table(columns);
  for (const Line& line : lines_of(result, *shown, unit)) {
    const double of_step = share(line.time, result.step_time);
    std::vector<Cell> row = {line.name, line.text, percent_text(of_step),
                             Cell(bar(of_step, bar_cells), paint_of(line.name))};
    if (several) row.insert(row.end(), {line.least_text, line.most_text});
    table.row(row);
  }
  table.rule();
  table.row({"step", Cell(in_unit(result.step_time, unit, 3), Paint::bold),
             percent_text(share(result.step_time, result.step_time))});
  return title("Where the step goes", of_classes(result, *shown), colour) + table.text(colour) +
         straggler_note(result, unit, colour);
}

namespace {

std::string collective_times(const RunResult& result, bool colour) {
  Picoseconds longest;
  for (const CollectiveReport& use : result.collectives) longest = std::max(longest, use.issued);
  const TimeUnit unit = time_unit(longest);
  Table table(
      {{"time, " + unit.name, Align::left}, {"count"}, {"issued"}, {"hidden"}, {"exposed"}, {"overlap"}, {"slack"}});
  for (const CollectiveReport& use : result.collectives) {
    const Paint how = use.exposed > Picoseconds(0) ? Paint::red : Paint::plain;
    table.row({use.axis + " " + use.kind, grouped(use.count), in_unit(use.issued, unit, 3),
               in_unit(use.hidden, unit, 3), Cell(in_unit(use.exposed, unit, 3), how),
               percent_text(share(use.overlapped, use.communicating)), in_unit(use.slack, unit, 3)});
  }
  return table.text(colour);
}

/// The methods by name, that of the largest arrays first.
std::string methods_text(const CollectiveReport& use) {
  std::vector<std::string> names;
  for (const MethodUse& one : use.methods) {
    if (std::find(names.begin(), names.end(), one.pick.method) == names.end()) names.push_back(one.pick.method);
  }
  return fmt::format("{}", fmt::join(names, "; "));
}

std::string collective_rates(const RunResult& result, bool colour) {
  Table table({{"rate, GB/s", Align::left},
               {"sent"},
               {"achieved"},
               {"limit"},
               {"of limit"},
               {"to be hidden"},
               {"done by", Align::left}});
  for (const CollectiveReport& use : result.collectives) {
    table.row({use.axis + " " + use.kind, bytes_text(static_cast<double>(use.sent)), giga(use.achieved),
               giga(use.limit), percent_text(share(use.achieved, use.limit)),
               use.required > 0 ? giga(use.required) : "no slack", methods_text(use)});
  }
  return table.text(colour);
}

}  // namespace

std::string collectives_table(const RunResult& result, bool colour) {
  if (result.collectives.empty()) return title("Communication", "none", colour);
  return title("Communication", "per chip and step", colour) + collective_times(result, colour) + "\n" +
         collective_rates(result, colour);
}

std::string links_table(const RunResult& result, bool colour) {
  if (result.links.empty()) return "";
  Table table({{"links", Align::left},
               {"number"},
               {"capacity each"},
               {"carried"},
               {"busy"},
               {"busiest"},
               {"fullest"},
               {"flows at most"}});
  for (std::size_t i = 0; i < result.links.size() && i < most_links; ++i) {
    const LinkClassUse& use = result.links[i];
    table.row({use.kind, grouped(static_cast<std::int64_t>(use.links)), rate_text(use.capacity),
               bytes_text(static_cast<double>(use.bytes)), percent_text(use.busy), percent_text(use.busiest),
               percent_text(use.fullest), grouped(use.peak_flows)});
  }
  const std::size_t left_out = result.links.size() - std::min(result.links.size(), most_links);
  const std::string more = left_out > 0 ? fmt::format("; {} more in --json", left_out) : "";
  return title("Busiest links", "by kind and direction; fullest: carried of what one could" + more, colour) +
         table.text(colour);
}

std::string memory_table(const RunResult& result, bool colour) {
  const MemoryReport& memory = result.memory;
  Table table({{"part", Align::left}, {"size"}, {"share"}, {std::string(bar_cells, ' '), Align::left}});
  for (const auto& [name, bytes] : memory.parts) {
    const double of_peak = share(static_cast<double>(bytes), static_cast<double>(memory.peak));
    table.row({name, bytes_text(static_cast<double>(bytes)), percent_text(of_peak),
               Cell(bar(of_peak, bar_cells), Paint::cyan)});
  }
  const double of_capacity = share(static_cast<double>(memory.peak), static_cast<double>(memory.capacity));
  table.rule();
  table.row({"peak", Cell(bytes_text(static_cast<double>(memory.peak)), Paint::bold),
             memory.parts.empty() ? "" : percent_text(1)});
  const std::string fit =
      fmt::format("{} of {}, the fullest chip at its peak{}", percent_text(of_capacity),
                  bytes_text(static_cast<double>(memory.capacity)), memory.fits ? "" : ": DOES NOT FIT");
  return title("Memory", fit, colour) + table.text(colour);
}

std::string critical_path_table(const RunResult& result, bool colour) {
  const auto stretches = path_stretches(result.assembly.plan.program, result.critical_path);
  const std::vector<PathPart> parts = path_parts(stretches);
  if (parts.empty()) return "";
  const TimeUnit unit = time_unit(result.step_time);
  Table table({{"what", Align::left},
               {unit.name},
               {"share"},
               {std::string(bar_cells, ' '), Align::left},
               {"contention"},
               {"stretches"},
               {"longest"}});
  for (std::size_t i = 0; i < parts.size() && i < most_path_parts; ++i) {
    const PathPart& part = parts[i];
    const double of_step = share(part.time, result.step_time);
    table.row({part.name, in_unit(part.time, unit, 3), percent_text(of_step),
               Cell(bar(of_step, bar_cells), Paint::cyan), in_unit(part.contention, unit, 3), grouped(part.stretches),
               in_unit(part.longest, unit, 3)});
  }
  const std::size_t left_out = parts.size() - std::min(parts.size(), most_path_parts);
  const std::string more = left_out > 0 ? fmt::format("; {} more in --json", left_out) : "";
  return title("Critical path", "what released what, back from the end of the step" + more, colour) +
         table.text(colour);
}

std::string run_report(const Scenario& scenario, const RunResult& result, bool colour) {
  const Counters& counters = result.timeline.counters;
  const std::string steps = result.timeline.periodic ? "steps until two were alike" : "steps, not periodic";
  std::string text = subject(scenario, result.assembly, colour) + headline(scenario, result, colour);
  text += breakdown_table(result, colour) + collectives_table(result, colour) + links_table(result, colour);
  text += memory_table(result, colour) + critical_path_table(result, colour);
  text += "\n" + paint(colour, Paint::bold, wrapped(result.bottleneck, 98, 0)) + "\n";
  text += paint(
      colour, Paint::dim,
      fmt::format("played {} {}: {} transfers, {} events, {} rate solves", result.timeline.steps, steps,
                  count_text(static_cast<double>(counters.transfers)), count_text(static_cast<double>(counters.events)),
                  count_text(static_cast<double>(counters.rate_solves))));
  return text + "\n";
}

}  // namespace stepsim
