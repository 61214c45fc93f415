#include <nlohmann/json.hpp>

#include "tools/commands.h"
#include "tools/flow_case.h"
#include "tools/format.h"
#include "tools/json_text.h"
#include "tools/output_file.h"
#include "tools/table.h"

namespace stepsim {

namespace {

std::string flows_table(const FlowCase& flow_case, const std::vector<TaskTimes>& times) {
  Table table({{"task", Align::left}, {"start ps"}, {"drained ps"}, {"delivered ps"}, {"done ps"}});
  for (std::size_t i = 0; i < times.size(); ++i) {
    const FlowTask& task = flow_case.tasks[i];
    const std::string end = grouped(times[i].end.count());
    if (task.computes) {
      table.row({task.id, grouped(times[i].start.count()), "", "", end});
    } else {
      table.row({task.id, grouped(times[i].start.count()), grouped(times[i].drained.count()), end});
    }
  }
  return table.text(colour_on_stdout());
}

/// Times in picoseconds, under the names that "after" uses for them.
std::string flows_json(const FlowCase& flow_case, const std::vector<TaskTimes>& times) {
  nlohmann::ordered_json tasks = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < times.size(); ++i) {
    nlohmann::ordered_json& task = tasks[flow_case.tasks[i].id];
    task["start"] = times[i].start.count();
    if (!flow_case.tasks[i].computes) task["drained"] = times[i].drained.count();
    task[flow_case.tasks[i].computes ? "done" : "delivered"] = times[i].end.count();
  }
  return nlohmann::ordered_json{{"tasks", tasks}}.dump(2) + "\n";
}

}  // namespace

ExitCode flows_command(const FlowsArguments& arguments) {
  const FlowCase flow_case = parse_flow_case(read_input(arguments.file), arguments.file);
  JsonOutput json(arguments.json);
  const std::vector<TaskTimes> times = play(flow_case);
  if (json.wanted()) json.write(flows_json(flow_case, times));
  if (!json.owns_stdout()) print(flows_table(flow_case, times));
  return ExitCode::ok;
}

}  // namespace stepsim
