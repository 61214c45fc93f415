#include "tools/flow_case.h"

#include <algorithm>
#include <map>
#include <optional>

#include "scenarios/units.h"
#include "tools/json_text.h"

namespace stepsim {

namespace {

std::int64_t picoseconds(const std::string& text) {
  return parse_time(text).count();
}

using Parse = std::int64_t (*)(const std::string&);

/// Reads a case and gathers what is wrong with it. A part that is wrong reads as a default; the case is then
/// refused.
class Reader {
 public:
  FlowCase read(const JsonValue& root);

  std::vector<Problem> problems;

 private:
  void wrong(const SourcePlace& place, const std::string& key, const std::string& message) {
    problems.push_back({place, key, message});
  }
  bool is(const JsonValue& value, const std::string& key, JsonKind kind);
  void known_keys(const JsonValue& object, const std::string& key, const std::vector<std::string>& known);
  const JsonValue* member(const JsonValue& object, const std::string& key, const std::string& name, JsonKind kind);
  std::int64_t quantity(const JsonValue& value, const std::string& key, Parse parse);
  std::int64_t quantity_of(const JsonValue& object, const std::string& key, const std::string& name, Parse parse);
  FlowLink link(const JsonMember& member);
  void link_names(const JsonValue& links);
  void task_names(const JsonValue& tasks);
  std::string task_key(std::size_t i, const JsonValue& task) const;
  FlowTask task(const JsonValue& value, const std::string& key);
  void flow(const JsonValue& value, const std::string& key, FlowTask& task);
  std::optional<std::uint32_t> named(const JsonValue& value, const std::string& key, const std::string& what,
                                     const std::map<std::string, std::uint32_t>& ids);
  std::optional<FlowDependency> dependency(const JsonValue& value, const std::string& key);
  std::optional<Event> event(const JsonValue& value, const std::string& key, bool computes);
  void circles(const JsonValue& tasks, const FlowCase& flow_case);

  std::map<std::string, std::uint32_t> link_ids_;
  std::map<std::string, std::uint32_t> task_ids_;
  std::vector<bool> computes_;  // per task
};

bool Reader::is(const JsonValue& value, const std::string& key, JsonKind kind) {
  if (value.kind == kind) return true;
  wrong(value.place, key, "expected " + to_string(kind) + ", found " + to_string(value.kind));
  return false;
}

void Reader::known_keys(const JsonValue& object, const std::string& key, const std::vector<std::string>& known) {
  for (const JsonMember& member : object.members) {
    if (std::find(known.begin(), known.end(), member.name) != known.end()) continue;
    std::string all;
    for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
    const std::string near = nearest(member.name, known);
    const std::string hint = near.empty() ? "" : ", did you mean '" + near + "'?";
    wrong(member.place, key + member.name, "unknown key" + hint + " (known: " + all + ")");
  }
}

const JsonValue* Reader::member(const JsonValue& object, const std::string& key, const std::string& name,
                                JsonKind kind) {
  const JsonValue* found = object.find(name);
  if (found == nullptr) wrong(object.place, key + name, "missing, expected " + to_string(kind));
  return found != nullptr && is(*found, key + name, kind) ? found : nullptr;
}

std::int64_t Reader::quantity(const JsonValue& value, const std::string& key, Parse parse) {
  if (value.kind != JsonKind::number && value.kind != JsonKind::string) {
    wrong(value.place, key, "expected a number, found " + to_string(value.kind));
    return 0;
  }
  try {
    const std::int64_t number = parse(value.text);
    if (number < 0) wrong(value.place, key, "must not be negative, found " + value.text);
    return number;
  } catch (const UnitError& error) {
    const std::string what = error.what();
    const bool quotes = what.find(value.text) != std::string::npos;
    wrong(value.place, key, quotes ? what : "'" + value.text + "' " + what);
    return 0;
  }
}

std::int64_t Reader::quantity_of(const JsonValue& object, const std::string& key, const std::string& name,
                                 Parse parse) {
  const JsonValue* value = object.find(name);
  if (value != nullptr) return quantity(*value, key + name, parse);
  wrong(object.place, key + name, "missing, expected a number");
  return 0;
}

FlowLink Reader::link(const JsonMember& member) {
  FlowLink link{member.name, 1, {}};
  const std::string key = "links." + member.name + ".";
  if (!is(member.value, "links." + member.name, JsonKind::object)) return link;
  known_keys(member.value, key, {"capacity", "latency"});
  const std::size_t before = problems.size();
  link.capacity = quantity_of(member.value, key, "capacity", parse_rate);
  link.latency = Picoseconds(quantity_of(member.value, key, "latency", picoseconds));
  if (problems.size() == before && (link.capacity < 1 || link.capacity > max_capacity)) {
    wrong(member.value.find("capacity")->place, key + "capacity",
          "expected 1 to " + std::to_string(max_capacity) + " bytes/s, found " + std::to_string(link.capacity));
  }
  return link;
}

void Reader::link_names(const JsonValue& links) {
  for (const JsonMember& member : links.members) {
    link_ids_.emplace(member.name, static_cast<std::uint32_t>(link_ids_.size()));
  }
}

std::string Reader::task_key(std::size_t i, const JsonValue& task) const {
  const JsonValue* id = task.find("id");
  const bool named = id != nullptr && id->kind == JsonKind::string;
  return "tasks[" + std::to_string(i) + "]" + (named ? " '" + id->text + "'" : "") + ".";
}

/// Ids come first, since a task may wait for one that is listed behind it.
void Reader::task_names(const JsonValue& tasks) {
  for (std::size_t i = 0; i < tasks.items.size(); ++i) {
    const JsonValue& task = tasks.items[i];
    computes_.push_back(task.find("time") != nullptr);
    const std::string key = "tasks[" + std::to_string(i) + "]";
    if (!is(task, key, JsonKind::object)) continue;
    const JsonValue* id = member(task, key + ".", "id", JsonKind::string);
    if (id != nullptr && !task_ids_.emplace(id->text, static_cast<std::uint32_t>(i)).second) {
      wrong(id->place, key + ".id", "there is another task '" + id->text + "'");
    }
  }
}

std::optional<std::uint32_t> Reader::named(const JsonValue& value, const std::string& key, const std::string& what,
                                           const std::map<std::string, std::uint32_t>& ids) {
  if (!is(value, key, JsonKind::string)) return std::nullopt;
  const auto found = ids.find(value.text);
  if (found != ids.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, id] : ids) known.push_back(name);
  const std::string near = nearest(value.text, known);
  const std::string hint = near.empty() ? "" : ", did you mean '" + near + "'?";
  wrong(value.place, key, "there is no " + what + " '" + value.text + "'" + hint);
  return std::nullopt;
}

std::optional<Event> Reader::event(const JsonValue& value, const std::string& key, bool computes) {
  if (!is(value, key, JsonKind::string)) return std::nullopt;
  if (computes && value.text == "done") return Event::end;
  if (!computes && value.text == "delivered") return Event::end;
  if (!computes && value.text == "drained") return Event::drained;
  wrong(value.place, key,
        (computes ? "a computation is 'done'" : "a flow is 'drained' or 'delivered'") + std::string(", found '") +
            value.text + "'");
  return std::nullopt;
}

std::optional<FlowDependency> Reader::dependency(const JsonValue& value, const std::string& key) {
  if (!is(value, key, JsonKind::array)) return std::nullopt;
  if (value.items.size() != 2) {
    wrong(value.place, key, "expected [task, event], found " + std::to_string(value.items.size()) + " entries");
    return std::nullopt;
  }
  const auto task = named(value.items[0], key, "task", task_ids_);
  if (!task) return std::nullopt;
  const auto when = event(value.items[1], key, computes_[*task]);
  if (!when) return std::nullopt;
  return FlowDependency{*task, *when};
}

void Reader::flow(const JsonValue& value, const std::string& key, FlowTask& task) {
  task.bytes = quantity_of(value, key, "bytes", parse_bytes);
  const JsonValue* route = member(value, key, "route", JsonKind::array);
  for (std::size_t i = 0; route != nullptr && i < route->items.size(); ++i) {
    const auto id = named(route->items[i], key + "route[" + std::to_string(i) + "]", "link", link_ids_);
    if (id) task.route.push_back(*id);
  }
}

FlowTask Reader::task(const JsonValue& value, const std::string& key) {
  FlowTask task;
  known_keys(value, key, {"id", "after", "at", "bytes", "route", "time"});
  if (const JsonValue* id = value.find("id")) task.id = id->text;
  if (value.find("at") != nullptr) {
    task.at = Picoseconds(quantity_of(value, key, "at", picoseconds));
  }
  const JsonValue* time = value.find("time");
  task.computes = time != nullptr;
  const bool flows = value.find("bytes") != nullptr || value.find("route") != nullptr;
  if (task.computes && flows)
    wrong(time->place, key + "time", "a task has either a time or bytes and a route, found both");
  if (task.computes) {
    task.time = Picoseconds(quantity(*time, key + "time", picoseconds));
  } else {
    flow(value, key, task);
  }
  const JsonValue* after = value.find("after");
  if (after == nullptr || !is(*after, key + "after", JsonKind::array)) return task;
  for (std::size_t i = 0; i < after->items.size(); ++i) {
    const auto waits_for = dependency(after->items[i], key + "after[" + std::to_string(i) + "]");
    if (waits_for) task.after.push_back(*waits_for);
  }
  return task;
}

/// One circle among tasks that never come free: every one of them waits for another, so walking on must
/// return.
std::vector<std::uint32_t> circle(const FlowCase& flow_case, const std::vector<std::uint32_t>& order) {
  const std::size_t n = flow_case.tasks.size();
  std::vector<bool> free(n, false);
  for (const std::uint32_t task : order) free[task] = true;
  std::uint32_t at = static_cast<std::uint32_t>(std::find(free.begin(), free.end(), false) - free.begin());
  std::vector<std::uint32_t> walk;
  std::vector<bool> seen(n, false);
  while (!seen[at]) {
    seen[at] = true;
    walk.push_back(at);
    const auto& after = flow_case.tasks[at].after;
    at = std::find_if(after.begin(), after.end(), [&](const FlowDependency& d) { return !free[d.task]; })->task;
  }
  walk.erase(walk.begin(), std::find(walk.begin(), walk.end(), at));
  return walk;
}

void Reader::circles(const JsonValue& tasks, const FlowCase& flow_case) {
  const std::vector<std::uint32_t> order = in_order(flow_case);
  if (order.size() == flow_case.tasks.size()) return;
  const std::vector<std::uint32_t> stuck = circle(flow_case, order);
  std::string text = "'" + flow_case.tasks[stuck[0]].id + "'";
  for (std::size_t i = 1; i <= stuck.size(); ++i)
    text += " waits for '" + flow_case.tasks[stuck[i % stuck.size()]].id + "'";
  wrong(tasks.items[stuck[0]].place, "tasks[" + std::to_string(stuck[0]) + "].after",
        "tasks wait for each other in a circle and would never start (deadlock): " + text);
}

FlowCase Reader::read(const JsonValue& root) {
  FlowCase flow_case;
  if (!is(root, "", JsonKind::object)) return flow_case;
  known_keys(root, "", {"links", "tasks", "name", "why", "source", "description", "tolerance_ps", "expected_ps"});
  const JsonValue* links = member(root, "", "links", JsonKind::object);
  const JsonValue* tasks = member(root, "", "tasks", JsonKind::array);
  if (links == nullptr || tasks == nullptr) return flow_case;
  link_names(*links);
  task_names(*tasks);
  for (const JsonMember& one : links->members) flow_case.links.push_back(link(one));
  for (std::size_t i = 0; i < tasks->items.size(); ++i) {
    const JsonValue& value = tasks->items[i];
    const bool object = value.kind == JsonKind::object;  // else it has been reported already
    flow_case.tasks.push_back(object ? task(value, task_key(i, value)) : FlowTask());
  }
  if (problems.empty()) circles(*tasks, flow_case);
  return flow_case;
}

}  // namespace

std::vector<std::uint32_t> in_order(const FlowCase& flow_case) {
  const std::size_t n = flow_case.tasks.size();
  std::vector<std::vector<std::uint32_t>> behind(n);
  std::vector<std::size_t> missing(n);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < n; ++i) {
    missing[i] = flow_case.tasks[i].after.size();
    for (const FlowDependency& dependency : flow_case.tasks[i].after) behind[dependency.task].push_back(i);
    if (missing[i] == 0) order.push_back(i);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const std::uint32_t next : behind[order[at]]) {
      if (--missing[next] == 0) order.push_back(next);
    }
  }
  return order;
}

FlowCase parse_flow_case(const std::string& text, const std::string& file) {
  Reader reader;
  FlowCase flow_case = reader.read(read_json(text, file));
  if (!reader.problems.empty()) throw InputError(reader.problems);
  return flow_case;
}

}  // namespace stepsim
