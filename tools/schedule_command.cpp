#include <spdlog/spdlog.h>

#include <memory>

#include "schedules/pipeline/csv_padding.h"
#include "tools/commands.h"
#include "tools/console.h"
#include "tools/output_file.h"
#include "tools/schedule_gantt.h"
#include "tools/schedule_options.h"
#include "tools/schedule_report.h"

namespace stepsim {

namespace {

/// One result's way out: none, a file, or standard output, which one result may have for itself.
class Result {
 public:
  Result(const std::string& option, const std::string& target, std::string& owner) : on_stdout_(target == "-") {
    if (on_stdout_ && !owner.empty()) throw InputError(option, "standard output is taken by " + owner + " -");
    if (on_stdout_) owner = option;
    if (!target.empty() && !on_stdout_) file_ = std::make_unique<OutputFile>(option, target);
  }

  [[nodiscard]] bool wanted() const { return on_stdout_ || file_ != nullptr; }
  void write(const std::string& text) {
    if (on_stdout_) return print(text);
    file_->stream() << text;
    file_->commit();
  }

 private:
  bool on_stdout_;
  std::unique_ptr<OutputFile> file_;
};

std::string csv_text(const MadeSchedule& made, const std::string& form) {
  if (form == "communication") return write_pipeline_csv_with_communication(made.order);
  if (form == "compute") return write_pipeline_csv(made.order);
  if (made.family == nullptr) {
    if (!made.idle)
      throw InputError("--csv-form", "padded: " + made.name + " has sends and receives, and no idle slots");
    return write_pipeline_csv(made.order, *made.idle);
  }
  const std::optional<IdleSlots> idle = torch_idle_slots(made.name, made.sizes);
  if (!idle)
    throw InputError("--csv-form",
                     "padded: PyTorch leaves no idle slots in " + made.name + " (expected compute or communication)");
  return write_pipeline_csv(made.order, *idle);
}

std::string subtitle(const MadeSchedule& made, const PlayedOrder& played) {
  std::string text = sizes_text(made) + "; times ";
  return text + times_text(made.clock.costs) + "; makespan " + ticks_text(played.makespan);
}

/// Without a name, unless there is more that wants one.
ExitCode list_schedules(const ScheduleArguments& arguments) {
  const bool sizes = arguments.ranks || arguments.stages_per_rank || arguments.microbatches || arguments.group ||
                     arguments.segments || arguments.memory_limit;
  const bool results = !arguments.json.empty() || !arguments.csv.empty() || !arguments.svg.empty() || arguments.gantt;
  if (sizes || results) {
    throw InputError("NAME", "missing: expected a schedule (stepsim list schedules) or a CSV file");
  }
  return list_command({"schedules"});
}

}  // namespace

ExitCode schedule_command(const ScheduleArguments& arguments) {
  if (arguments.name.empty()) return list_schedules(arguments);
  std::string owner;  // of standard output
  Result json("--json", arguments.json, owner);
  Result csv("--csv", arguments.csv, owner);
  Result svg("--svg", arguments.svg, owner);
  const MadeSchedule made = make_schedule(arguments);
  for (const std::string& note : made.notes) spdlog::info("{}: {}", made.name, note);
  PlayedOrder played;
  try {
    played = play(made);
  } catch (const InputError& circle) {  // the order is whole, but cannot be played
    print_problems(circle);
    return ExitCode::failed;
  }
  if (csv.wanted()) csv.write(csv_text(made, arguments.csv_form));
  if (json.wanted()) json.write(schedule_json(made, played));
  const Gantt gantt = schedule_gantt(made.order, played, made.name, subtitle(made, played));
  if (svg.wanted()) svg.write(gantt_svg(gantt));
  if (!owner.empty()) {
    if (arguments.gantt) spdlog::warn("--gantt is left out: standard output is taken by {} -", owner);
    return ExitCode::ok;
  }
  const bool colour = colour_on_stdout();
  print(schedule_report(made, played, colour));
  if (arguments.gantt) print("\n" + gantt_text(gantt, columns_of_stdout(), colour));
  return ExitCode::ok;
}

}  // namespace stepsim
