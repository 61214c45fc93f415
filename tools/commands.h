// commands.h: what each subcommand is given, and what it does. Each lies in a file of its own name.
//
// A command prints to standard output and returns the exit code; InputError and other errors leave it as exceptions
// (command_line.cpp turns them into messages and codes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/console.h"

namespace stepsim {

struct Scenario;
struct RunResult;

/// run(), with a line on the terminal meanwhile that says how far it is.
RunResult run_and_show(Scenario scenario);

struct RunArguments {
  std::string scenario;
  std::vector<std::string> set;  // "key=value"
  std::string json;              // a file, "-" for standard output, or empty
  std::string trace;             // a file, or empty
  std::string svg;               // likewise: the pipeline drawn
  bool gantt = false;
  std::uint32_t trace_classes = 64;
  std::uint32_t steps = 0;  // 0: until two steps are alike
  std::string fold;         // "auto", "off", or empty: as the scenario says
  bool allow_oom = false;
};
ExitCode run_command(const RunArguments& arguments);

struct CheckArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::string json;
  bool expect = false;
};
ExitCode check_command(const CheckArguments& arguments);

struct FlowsArguments {
  std::string file;
  std::string json;
};
ExitCode flows_command(const FlowsArguments& arguments);

struct TopologyArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::string json;
  std::string dot;
  std::string svg;
  std::string nccl_xml;            // of a single host: a topology file of NCCL
  std::string smi;                 // and the matrix of nvidia-smi topo -m
  std::vector<std::string> route;  // from, to; or empty
  bool links = false;              // list them one by one
  std::size_t most = 64;           // of them
};
ExitCode topology_command(const TopologyArguments& arguments);

struct ClassesArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::string json;
  std::size_t most = 32;  // rows
};
ExitCode classes_command(const ClassesArguments& arguments);

struct CollectiveArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::string json;
  std::string op = "all_reduce";
  std::string group;      // mesh axes, "fsdp+tensor"; empty: all chips
  std::string algorithm;  // "auto", or empty: as usual on the network
  std::string protocol;   // empty: the fastest
  std::string sends;      // a CSV file of a ragged all-to-all, or empty
  std::string begin;      // empty: 32M
  std::string end;        // empty: begin
  std::int64_t factor = 2;
  std::string compare;  // a CSV file of measured collectives, or empty
};
ExitCode collective_command(const CollectiveArguments& arguments);
/// What --op may be.
std::vector<std::string> collective_ops();

struct ValidateArguments {
  std::string collectives;  // a CSV file of measured collectives
  std::string json;
  bool markdown = false;
};
ExitCode validate_command(const ValidateArguments& arguments);

struct ScheduleArguments {
  std::string name;  // of the registry or a CSV file; empty: list them
  std::optional<int> ranks, stages_per_rank, microbatches, group, segments;
  std::optional<double> memory_limit;
  std::string times;  // "F=10,W=8"
  std::string p2p = "0";
  std::string activation;          // "F=4,W=2"
  std::string fused = "together";  // or "serial"
  bool blocking = false;
  std::string json, csv, svg;        // a file, "-" for standard output, or empty
  std::string csv_form = "compute";  // "communication", "padded"
  bool gantt = false;
};
ExitCode schedule_command(const ScheduleArguments& arguments);

struct CompareArguments {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;
  std::vector<std::string> schedules;  // empty: the scenarios as they are
  std::vector<std::int64_t> microbatches;
  std::vector<int> stages;
  bool fair = false;
  std::string memory;  // empty: the chip's
  std::string csv;     // files, "-" for standard output, or empty
  std::string json;
};
ExitCode compare_command(const CompareArguments& arguments);

struct ListArguments {
  std::string what;  // "chips", ..., empty: everything
};
ExitCode list_command(const ListArguments& arguments);
/// What can be listed, in order.
std::vector<std::string> listed_things();

}  // namespace stepsim
