#include "tools/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/format.h"

namespace stepsim {

namespace {

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds with every picosecond.
std::string microseconds(Picoseconds time) {
  return fmt::format("{}.{:06}", time.count() / 1'000'000, time.count() % 1'000'000);
}

class Writer {
 public:
  Writer(std::ostream& out, const TraceInput& input) : out_(out), input_(input), program_(input.program) {}

  void write();

 private:
  void event(const std::string& fields);
  void name(std::uint32_t process, std::uint32_t thread, const char* what, const std::string& text);
  void names(ClassId who);
  void steps();
  void ops(ClassId who, std::uint32_t step);
  void span(ClassId who, std::uint32_t step, OpId id);
  void waits(std::uint32_t classes);
  void memory(std::uint32_t classes);
  void sending(ClassId who);
  void link_use();
  void counter(std::uint32_t process, const std::string& name, Picoseconds at, const std::string& unit, double value);

  [[nodiscard]] Picoseconds kept_from() const;
  /// Steps of which every class has ended are kept from first_kept on; what was begun after them is left out.
  [[nodiscard]] std::uint32_t kept_to() const {
    const Timeline& timeline = input_.timeline;
    return std::min(timeline.steps, timeline.first_kept + static_cast<std::uint32_t>(timeline.times.size()));
  }
  /// Processes: 1 + class; 0 is the whole cluster.
  static std::uint32_t process_of(ClassId who) { return who + 1; }
  static std::uint32_t thread_of(StreamId stream) { return stream + 1; }

  std::ostream& out_;
  const TraceInput& input_;
  const StepProgram& program_;
  bool first_ = true;
};

void Writer::event(const std::string& fields) {
  out_ << (first_ ? "\n" : ",\n") << '{' << fields << '}';
  first_ = false;
}

void Writer::name(std::uint32_t process, std::uint32_t thread, const char* what, const std::string& text) {
  event(fmt::format(R"("ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}})", process, thread, what,
                    json_string(text)));
}

Picoseconds Writer::kept_from() const {
  const std::uint32_t first = input_.timeline.first_kept;
  return first == 0 ? Picoseconds(0) : input_.timeline.step_end[first - 1];
}

void Writer::names(ClassId who) {
  const std::uint64_t chips = program_.chips_of[who];
  name(process_of(who), 0, "process_name", fmt::format("class {} ({} {})", who, chips, chips == 1 ? "chip" : "chips"));
  std::set<StreamId> used;
  for (const Op& op : program_.run_by(who).ops) used.insert(op.stream);
  for (const StreamId stream : used) name(process_of(who), thread_of(stream), "thread_name", program_.streams[stream]);
}

void Writer::steps() {
  name(0, 0, "process_name", "cluster");
  name(0, 1, "thread_name", "steps");
  Picoseconds start = kept_from();
  for (std::uint32_t step = input_.timeline.first_kept; step < kept_to(); ++step) {
    const Picoseconds end = input_.timeline.step_end[step];
    event(fmt::format(R"("ph":"X","pid":0,"tid":1,"name":"step {}","ts":{},"dur":{})", step, microseconds(start),
                      microseconds(end - start)));
    start = end;
  }
}

std::string category(OpKind kind) {
  switch (kind) {
    case OpKind::compute:
      return "compute";
    case OpKind::collective:
      return "collective";
    case OpKind::transfer:
      return "transfer";
    case OpKind::marker:
      break;
  }
  return "marker";
}

void Writer::span(ClassId who, std::uint32_t step, OpId id) {
  const Op& op = program_.run_by(who).ops[id];
  const OpTimes& times = input_.timeline.at(step, who, id);
  if (times.start == times.end) return;
  std::string label = program_.names[op.tag.label];
  if (label.empty()) label = program_.names[op.tag.phase];
  const std::string& phase = program_.names[op.tag.phase];
  std::string args = fmt::format(R"("step":{})", step);
  if (!phase.empty()) args += fmt::format(R"(,"phase":{})", json_string(phase));
  if (op.tag.layer >= 0) args += fmt::format(R"(,"layer":{})", op.tag.layer);
  if (op.tag.microbatch >= 0) args += fmt::format(R"(,"microbatch":{})", op.tag.microbatch);
  if (op.kind == OpKind::collective) {
    const Collective& collective = program_.collectives[op.collective];
    args += fmt::format(R"(,"axis":{},"kind":{},"array_bytes":{})", json_string(program_.names[op.tag.axis]),
                        json_string(program_.names[collective.kind]), collective.array);
  }
  if (op.kind == OpKind::transfer) args += fmt::format(R"(,"bytes":{})", op.bytes);
  event(fmt::format(R"("ph":"X","pid":{},"tid":{},"cat":"{}","name":{},"ts":{},"dur":{},"args":{{{}}})",
                    process_of(who), thread_of(op.stream), category(op.kind), json_string(label),
                    microseconds(times.start), microseconds(times.end - times.start), args));
}

void Writer::ops(ClassId who, std::uint32_t step) {
  for (OpId id = 0; id < program_.run_by(who).ops.size(); ++id) span(who, step, id);
}

/// Inside the span of the collective that waits.
void Writer::waits(std::uint32_t classes) {
  for (const Wait& wait : input_.timeline.waits) {
    const bool kept = wait.step >= input_.timeline.first_kept && wait.step < kept_to();
    if (!kept || wait.who >= classes || wait.start == wait.end) continue;
    const Op& op = program_.run_by(wait.who).ops[wait.op];
    event(fmt::format(R"("ph":"X","pid":{},"tid":{},"cat":"wait","name":"waiting for peers","ts":{},"dur":{})",
                      process_of(wait.who), thread_of(op.stream), microseconds(wait.start),
                      microseconds(wait.end - wait.start)));
  }
}

void Writer::counter(std::uint32_t process, const std::string& name, Picoseconds at, const std::string& unit,
                     double value) {
  event(fmt::format(R"("ph":"C","pid":{},"tid":0,"name":{},"ts":{},"args":{{{}:{}}})", process, json_string(name),
                    microseconds(at), json_string(unit), value));
}

void Writer::memory(std::uint32_t classes) {
  for (const MemorySample& sample : input_.timeline.memory) {
    if (sample.who >= classes || sample.at < kept_from()) continue;
    counter(process_of(sample.who), "memory", sample.at, "bytes", static_cast<double>(sample.bytes));
  }
}

/// The rate at which open collectives of each axis send, as steps at their starts and ends.
void Writer::sending(ClassId who) {
  std::map<std::string, std::map<Picoseconds, double>> changes;  // by axis and time, bytes/s
  for (std::uint32_t step = input_.timeline.first_kept; step < kept_to(); ++step) {
    for (OpId id = 0; id < program_.run_by(who).ops.size(); ++id) {
      const Op& op = program_.run_by(who).ops[id];
      const OpTimes& times = input_.timeline.at(step, who, id);
      if (op.kind != OpKind::collective || times.start == times.end) continue;
      const Collective& collective = program_.collectives[op.collective];
      const Bytes sent = bytes_sent(program_, collective, who);
      const double rate = static_cast<double>(sent) / to_seconds(times.end - times.start);
      auto& axis = changes[program_.names[op.tag.axis]];
      axis[times.start] += rate;
      axis[times.end] -= rate;
    }
  }
  for (const auto& [axis, at] : changes) {
    double rate = 0;
    for (const auto& [time, change] : at) {
      rate += change;
      const double shown = rate < 1 ? 0 : rate;  // what is left of sums that cancel
      counter(process_of(who), "sending " + axis, time, "GB/s", shown / 1e9);
    }
  }
}

/// Mean share of each kept step in which the links of a kind were in use.
void Writer::link_use() {
  const auto& totals = input_.timeline.links_at_end;
  Picoseconds start = kept_from();
  for (std::uint32_t step = input_.timeline.first_kept; step < kept_to() && step < totals.size(); ++step) {
    const Picoseconds end = input_.timeline.step_end[step];
    std::map<std::string, std::pair<double, double>> kinds;  // shares and number of links
    for (std::size_t link = 0; link < totals[step].size() && link < input_.link_kinds.size(); ++link) {
      const Picoseconds before = step == 0 ? Picoseconds(0) : totals[step - 1][link].busy;
      auto& [sum, links] = kinds[input_.link_kinds[link]];
      sum += share(totals[step][link].busy - before, end - start);
      ++links;
    }
    for (const auto& [kind, use] : kinds) {
      counter(0, "links " + kind, start, "busy %", 100 * share(use.first, use.second));
      counter(0, "links " + kind, end, "busy %", 0);
    }
    start = end;
  }
}

void Writer::write() {
  const std::uint32_t classes = std::min(input_.classes, input_.timeline.classes);
  out_ << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"classes\":" << input_.timeline.classes
       << ",\"classes_traced\":" << classes << "},\"traceEvents\":[";
  steps();
  for (ClassId who = 0; who < classes; ++who) {
    names(who);
    for (std::uint32_t step = input_.timeline.first_kept; step < kept_to(); ++step) ops(who, step);
    sending(who);
  }
  waits(classes);
  memory(classes);
  link_use();
  out_ << "\n]}\n";
}

}  // namespace

void write_trace(std::ostream& out, const TraceInput& input) {
  Writer(out, input).write();
}

}  // namespace stepsim
