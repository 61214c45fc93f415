#include "tools/command_line.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "sim/simulation.h"
#include "tools/commands.h"
#include "tools/version.h"

namespace stepsim {

namespace {

const char* const examples = R"(Examples:
  stepsim run scenarios/examples/llama3-70b-v5p-fsdp-tp.yaml
  stepsim run SCENARIO --set parallelism.batch=8Mi --json result.json --trace trace.json
  stepsim check SCENARIO --expect
  stepsim classes SCENARIO
  stepsim collective SCENARIO --op all_gather --group fsdp -b 1M -e 1G -f 4
  stepsim topology SCENARIO --svg cluster.svg --route 0 9
  stepsim schedule zb_h1 --ranks 4 --microbatches 8 --times F=10,I=12,W=8 --p2p 3 --gantt
  stepsim compare SCENARIO --schedules all --microbatches 16,32 --csv rows.csv
  stepsim list models

Exit codes: 0 done, 1 deadlock, unmet expectation or internal error, 2 wrong input, 3 does not fit memory.)";

/// What the command line asked for; filled in while it is parsed.
struct Request {
  RunArguments run;
  CheckArguments check;
  FlowsArguments flows;
  TopologyArguments topology;
  ClassesArguments classes;
  CollectiveArguments collective;
  ValidateArguments validate;
  ScheduleArguments schedule;
  CompareArguments compare;
  ListArguments list;
  std::function<ExitCode()> command;
};

void scenario_options(CLI::App* command, std::string& scenario, std::vector<std::string>& set, std::string& json) {
  command->add_option("SCENARIO", scenario, "scenario file (YAML)")->required();
  command->add_option("--set", set, "change a key of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--json", json, "write JSON to a file, or to standard output (-), which then has nothing else")
      ->type_name("FILE|-");
}

void add_run(CLI::App& app, Request& request) {
  CLI::App* command = app.add_subcommand("run", "simulate a scenario and report where the step time goes");
  RunArguments& run = request.run;
  scenario_options(command, run.scenario, run.set, run.json);
  command->add_option("--trace", run.trace, "write a Chrome / Perfetto trace (JSON) of the kept steps")
      ->type_name("FILE");
  command->add_flag("--gantt", run.gantt, "draw the pipeline of the step in the terminal");
  command->add_option("--svg", run.svg, "draw it as an SVG file")->type_name("FILE");
  command->add_option("--trace-classes", run.trace_classes, "chip classes in the trace at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1'000'000U));
  command->add_option("--steps", run.steps, "play so many steps (otherwise until two in a row are alike)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000U));
  command->add_option("--fold", run.fold, "auto: play one chip of each class of like ones; off: every chip")
      ->type_name("auto|off")
      ->check(CLI::IsMember({"auto", "off"}));
  command->add_flag("--allow-oom", run.allow_oom, "exit 0 even if the configuration does not fit memory");
  command->callback([&request] { request.command = [&request] { return run_command(request.run); }; });
}

void add_check(CLI::App& app, Request& request) {
  CLI::App* command =
      app.add_subcommand("check", "validate a scenario, print it with every default and its closed-form figures");
  CheckArguments& check = request.check;
  scenario_options(command, check.scenario, check.set, check.json);
  command->add_flag("--expect", check.expect, "simulate as well and check the scenario's expect: entries");
  command->callback([&request] { request.command = [&request] { return check_command(request.check); }; });
}

void add_flows(CLI::App& app, Request& request) {
  CLI::App* command = app.add_subcommand("flows", "play a task graph over links: the engine alone");
  command->add_option("CASE", request.flows.file, "task graph (JSON), - for standard input")->required();
  command->add_option("--json", request.flows.json, "write JSON to a file, or to standard output (-)")
      ->type_name("FILE|-");
  command->callback([&request] { request.command = [&request] { return flows_command(request.flows); }; });
}

void add_topology(CLI::App& app, Request& request) {
  CLI::App* command =
      app.add_subcommand("topology", "print the cluster of a scenario or system: chips, axes, links, bisection");
  TopologyArguments& topology = request.topology;
  scenario_options(command, topology.scenario, topology.set, topology.json);
  command->get_option("--json")->expected(0, 1)->default_str("-");
  command->add_option("--dot", topology.dot, "write the graph for Graphviz to a file, or to standard output (-)")
      ->type_name("FILE|-");
  command->add_option("--svg", topology.svg, "draw the cluster as SVG to a file, or to standard output (-)")
      ->type_name("FILE|-");
  command->add_option("--nccl-xml", topology.nccl_xml, "write a single host as an NCCL topology file, to a file or (-)")
      ->type_name("FILE|-");
  command->add_option("--smi", topology.smi, "write a single host as nvidia-smi topo -m prints it, to a file or (-)")
      ->type_name("FILE|-");
  command->add_option("--route", topology.route, "every route between two chips (id, or coordinates 1,3,2)")
      ->type_name("FROM TO")
      ->expected(2);
  command->add_flag("--links", topology.links, "list the links one by one");
  command->add_option("--most", topology.most, "links in the list at most")->type_name("N")->capture_default_str();
  command->callback([&request] { request.command = [&request] { return topology_command(request.topology); }; });
}

void add_classes(CLI::App& app, Request& request) {
  CLI::App* command = app.add_subcommand(
      "classes", "print which chips are alike, so that one is played for all, and what tells others apart");
  ClassesArguments& classes = request.classes;
  scenario_options(command, classes.scenario, classes.set, classes.json);
  command->add_option("--most", classes.most, "rows at most")->type_name("N")->capture_default_str();
  command->callback([&request] { request.command = [&request] { return classes_command(request.classes); }; });
}

void add_collective(CLI::App& app, Request& request) {
  CLI::App* command = app.add_subcommand("collective", "play one collective over a range of sizes: time, algbw, busbw");
  CollectiveArguments& one = request.collective;
  scenario_options(command, one.scenario, one.set, one.json);
  command->add_option("--op", one.op, "what is played")->capture_default_str()->check(CLI::IsMember(collective_ops()));
  command
      ->add_option("-g,--group", one.group,
                   "mesh axes of a group, joined by +; all groups play at once (otherwise all chips)")
      ->type_name("AXES");
  command
      ->add_option("--algorithm", one.algorithm,
                   "by name (stepsim list collectives); auto: the fastest; msccl:FILE: an MSCCL algorithm file")
      ->type_name("NAME");
  command->add_option("--protocol", one.protocol, "one of the system's (otherwise the fastest)")->type_name("NAME");
  command
      ->add_option(
          "--sends", one.sends,
          "ragged all_to_all: a CSV file, header from,0,1,... then for each member what it sends to 0, 1, ...: "
          "sizes with units (4 MiB), or shares (0.25, 25 %) of the size played, what one member sends")
      ->type_name("FILE.csv");
  command
      ->add_option("-b,--begin", one.begin,
                   "smallest size of the whole array (otherwise 32M); K, M, G are powers of 1024")
      ->type_name("SIZE");
  command->add_option("-e,--end", one.end, "largest size")->type_name("SIZE");
  command->add_option("-f,--factor", one.factor, "from one size to the next")
      ->capture_default_str()
      ->check(CLI::Range(2, 1 << 20));
  command->add_option("--compare", one.compare, "lay measured collectives beside it: a CSV file")->type_name("FILE");
  command->callback([&request] { request.command = [&request] { return collective_command(request.collective); }; });
}

void add_validate(CLI::App& app, Request& request) {
  CLI::App* command = app.add_subcommand("validate", "measured tables beside what the catalog's systems predict");
  ValidateArguments& one = request.validate;
  command->add_option("--collectives", one.collectives, "CSV file of measured collectives")
      ->type_name("FILE")
      ->required();
  command->add_option("--json", one.json, "write JSON to a file, or to standard output (-)")->type_name("FILE|-");
  command->add_flag("--markdown", one.markdown, "print tables for scenarios/catalog/README.md");
  command->callback([&request] { request.command = [&request] { return validate_command(request.validate); }; });
}

void schedule_sizes(CLI::App* command, ScheduleArguments& one) {
  command
      ->add_option("NAME", one.name,
                   "a schedule (stepsim list schedules), or a CSV file (-: standard input); none: list them")
      ->type_name("NAME|FILE.csv");
  command->add_option("--ranks", one.ranks, "pipeline ranks, p")->type_name("P");
  command->add_option("--stages-per-rank", one.stages_per_rank, "v (otherwise the schedule's own number, or 1)")
      ->type_name("V");
  command->add_option("--microbatches", one.microbatches, "m")->type_name("M");
  command->add_option("--group", one.group, "microbatches that pass a stage before the next chunk's turn")
      ->type_name("N");
  command->add_option("--segments", one.segments, "a microbatch's sequence is cut into")->type_name("K");
  command->add_option("--memory-limit", one.memory_limit, "automatic schedules keep to it, in units of --activation")
      ->type_name("L");
}

void schedule_clock(CLI::App* command, ScheduleArguments& one) {
  command->add_option("--times", one.times, "of an action, in any units: F=1,I=1,W=1, B=I+W, FB=F+B unless given")
      ->type_name("F=10,I=12,...");
  command->add_option("--p2p", one.p2p, "from rank to rank, in the same units")
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("--activation", one.activation,
                   "what is held after F (1 unless given), and of it from I until W (all)")
      ->type_name("F=4,W=2");
  command->add_option("--fused", one.fused, "fused pairs last FB, or F and then B")
      ->type_name("together|serial")
      ->capture_default_str()
      ->check(CLI::IsMember({"together", "serial"}));
  command->add_flag("--blocking", one.blocking, "a send stands until the peer has come to what takes it");
}

void add_schedule(CLI::App& app, Request& request) {
  CLI::App* command =
      app.add_subcommand("schedule", "a pipeline schedule alone, in abstract time: order, bubbles, peaks");
  ScheduleArguments& one = request.schedule;
  schedule_sizes(command, one);
  schedule_clock(command, one);
  command->add_option("--csv", one.csv, "write the order as PyTorch's CSV to a file, or to standard output (-)")
      ->type_name("FILE|-");
  command->add_option("--csv-form", one.csv_form, "compute only, with sends and receives, or with idle slots")
      ->type_name("compute|communication|padded")
      ->capture_default_str()
      ->check(CLI::IsMember({"compute", "communication", "padded"}));
  command->add_option("--json", one.json, "write JSON to a file, or to standard output (-)")->type_name("FILE|-");
  command->add_flag("--gantt", one.gantt, "draw it in the terminal");
  command->add_option("--svg", one.svg, "draw it as SVG to a file, or to standard output (-)")->type_name("FILE|-");
  command->callback([&request] { request.command = [&request] { return schedule_command(request.schedule); }; });
}

void add_compare(CLI::App& app, Request& request) {
  CLI::App* command = app.add_subcommand("compare", "pipeline schedules of one scenario, or scenarios, side by side");
  CompareArguments& one = request.compare;
  command->add_option("SCENARIO", one.scenarios, "scenario files (YAML): one with --schedules, else two or more")
      ->required();
  command->add_option("--schedules", one.schedules, "names, PyTorch CSV files, or all")
      ->type_name("A,B")
      ->delimiter(',');
  command->add_option("--microbatches", one.microbatches, "run with each of these (otherwise the scenario's)")
      ->type_name("M,N")
      ->delimiter(',');
  command
      ->add_option("--stages", one.stages,
                   "stages a rank, of schedules that take any number (otherwise the scenario's, at least 2)")
      ->type_name("V,W")
      ->delimiter(',');
  for (const char* list : {"--schedules", "--microbatches", "--stages"}) {
    command->get_option(list)->allow_extra_args(false);
  }
  command->add_flag("--fair", one.fair,
                    "of each schedule only the fastest that fits the memory; planners are given less if need be");
  command->add_option("--memory", one.memory, "with --fair: of a chip, at most its own")->type_name("SIZE");
  command->add_option("--set", one.set, "change a key of the scenarios; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--csv", one.csv, "write the rows as CSV to a file, or to standard output (-)")
      ->type_name("FILE|-");
  command->add_option("--json", one.json, "write JSON to a file, or to standard output (-)")->type_name("FILE|-");
  command->callback([&request] { request.command = [&request] { return compare_command(request.compare); }; });
}

void add_list(CLI::App& app, Request& request) {
  CLI::App* command = app.add_subcommand("list", "list the catalog and what is registered, with a line on each");
  command->add_option("WHAT", request.list.what, "one kind only")->check(CLI::IsMember(listed_things()));
  command->callback([&request] { request.command = [&request] { return list_command(request.list); }; });
}

void describe(CLI::App& app, Request& request) {
  app.set_version_flag("--version", "stepsim " + version());
  app.require_subcommand(1);
  app.footer(examples);
  add_run(app, request);
  add_check(app, request);
  add_flows(app, request);
  add_topology(app, request);
  add_classes(app, request);
  add_collective(app, request);
  add_validate(app, request);
  add_schedule(app, request);
  add_compare(app, request);
  add_list(app, request);
}

/// CLI11 has codes of its own; ours are 0 for help and version, 2 for wrong usage.
ExitCode usage(const CLI::App& app, const CLI::ParseError& error) {
  return app.exit(error) == 0 ? ExitCode::ok : ExitCode::input_error;
}

ExitCode guarded(const std::function<ExitCode()>& command) {
  try {
    return command();
  } catch (const InputError& error) {
    print_problems(error);
    return ExitCode::input_error;
  } catch (const TimeOverflow& error) {  // sizes and rates that lead beyond any sensible step
    spdlog::error("{}", error.what());
    return ExitCode::input_error;
  } catch (const Deadlock& error) {
    spdlog::error("deadlock: {}", error.what());
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
  }
  return ExitCode::failed;
}

void log_to_stderr() {
  auto logger = spdlog::stderr_color_st("stepsim");
  logger->set_pattern("stepsim: %^%l%$: %v");
  spdlog::set_default_logger(logger);
}

}  // namespace

int command_line(int argc, char** argv) {
  log_to_stderr();
  CLI::App app("How long does one training step take on this cluster, and where does the time go?", "stepsim");
  Request request;
  describe(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return static_cast<int>(usage(app, error));
  }
  return static_cast<int>(guarded(request.command));
}

}  // namespace stepsim
