// csv_communication.cpp: sends, receives, gathers and reductions of a schedule CSV (csv_check.h).
//
// A SEND names the sender's stage, a RECV the receiver's: F goes from stage s to s + 1, B from s to s - 1.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "schedules/pipeline/circle.h"
#include "schedules/pipeline/csv_check.h"

namespace stepsim {
namespace {

bool forwards(LoweredKind kind) {
  return kind == LoweredKind::send_forward || kind == LoweredKind::receive_forward;
}
bool sends(LoweredKind kind) {
  return kind == LoweredKind::send_forward || kind == LoweredKind::send_backward;
}

class Communication {
 public:
  Communication(const CsvTable& table, const PipelineOrder& order)
      : table_(table), order_(order), problems_(table.file) {}

  void check() {
    collect();
    for (const std::vector<CsvAction>& row : table_.rows) {
      for (const CsvAction& one : row) {
        if (one.what.kind == LoweredKind::compute) {
          if (!transfers_.empty() || gathers_) check_result(one);
        } else if (has_microbatch(one.what.kind)) {
          check_transfer(one);
        }
      }
      check_gathers(row);
      check_reductions(row);
    }
    problems_.raise();
  }

 private:
  using Key = std::tuple<LoweredKind, std::int32_t, std::int32_t>;
  static Key key(const LoweredAction& one) { return {one.kind, one.action.stage, one.action.microbatch}; }

  void collect() {
    for (const std::vector<CsvAction>& row : table_.rows) {
      for (const CsvAction& one : row) {
        if (one.what.kind == LoweredKind::compute) {
          computed_[computed_key(one.what.action)] = &one;
          continue;
        }
        gathers_ = gathers_ || one.what.kind == LoweredKind::unshard || one.what.kind == LoweredKind::reshard;
        if (!has_microbatch(one.what.kind)) continue;
        const auto [at, added] = transfers_.emplace(key(one.what), &one);
        if (!added) {
          problems_.add(one, to_string(one.what) + " again: it is in rank " + std::to_string(at->second->rank) +
                                 ", cell " + std::to_string(at->second->cell));
        }
      }
    }
  }

  static std::tuple<bool, std::int32_t, std::int32_t> computed_key(const Action& action) {
    // W is entered, too, under a microbatch that no result has.
    const bool weights = action.kind == ActionKind::weight_gradient;
    return {action.kind == ActionKind::forward, action.stage, weights ? -1 - action.microbatch : action.microbatch};
  }

  /// Stage and microbatch are there, and the stage is on this rank.
  bool check_home(const CsvAction& one) {
    const Action& action = one.what.action;
    const bool unit = has_microbatch(one.what.kind);
    if (action.stage >= order_.stages) {
      problems_.add(one, to_string(one.what) + ": there is no stage " + std::to_string(action.stage) +
                             ", expected 0 to " + std::to_string(order_.stages - 1));
      return false;
    }
    if (unit && action.microbatch >= order_.units) {
      problems_.add(one, to_string(one.what) + ": there is no microbatch " + std::to_string(action.microbatch) +
                             ", expected 0 to " + std::to_string(order_.units - 1));
      return false;
    }
    for (std::int32_t copy = 0; copy < order_.copies(); ++copy) {
      if (unit && copy != order_.copy_of(action.microbatch)) continue;
      if (order_.rank_of[static_cast<std::size_t>(copy)][static_cast<std::size_t>(action.stage)] == one.rank)
        return true;
    }
    const std::int32_t home = order_.rank(action.stage, unit ? action.microbatch : 0);
    problems_.add(one, to_string(one.what) + ": stage " + std::to_string(action.stage) + " is on rank " +
                           std::to_string(home) + ", expected there");
    return false;
  }

  void check_transfer(const CsvAction& one) {
    if (!check_home(one)) return;
    const LoweredAction other = partner(one.what);
    const std::int32_t stage = one.what.action.stage;
    if (other.action.stage < 0 || other.action.stage >= order_.stages) {
      problems_.add(one, to_string(one.what) + ": stage " + std::to_string(stage) + " is the " +
                             (stage == 0 ? "first" : "last") + ", expected no such " +
                             (sends(one.what.kind) ? "send" : "receive"));
      return;
    }
    const std::int32_t peer = order_.rank(other.action.stage, other.action.microbatch);
    if (peer == one.rank) {
      problems_.add(one, to_string(one.what) + ": stages " + std::to_string(stage) + " and " +
                             std::to_string(other.action.stage) + " are both on rank " + std::to_string(peer) +
                             ", expected neither send nor receive");
      return;
    }
    if (!transfers_.contains(key(other))) {
      problems_.add(one, to_string(one.what) + " has no " + (sends(one.what.kind) ? "receive: " : "send: ") +
                             to_string(other) + " of rank " + std::to_string(peer) + " is missing");
    }
    check_side(one);
  }

  /// A send stands behind its action, a receive before it.
  void check_side(const CsvAction& one) {
    const Action wanted = forwards(one.what.kind) ? forward(one.what.action.stage, one.what.action.microbatch)
                                                  : backward(one.what.action.stage, one.what.action.microbatch);
    const CsvAction& action = *computed_.at(computed_key(wanted));
    const bool behind = one.position > action.position;
    if (behind == sends(one.what.kind)) return;
    problems_.add(one, to_string(one.what) + " stands " + (behind ? "behind " : "before ") + to_string(action.what) +
                           " (cell " + std::to_string(action.cell) + "), expected " + (behind ? "before" : "behind") +
                           " it");
  }

  /// What leaves the rank is sent.
  void check_result(const CsvAction& one) {
    const std::optional<Action> taker = consumer(order_, one.what.action);
    if (!taker) return;
    const std::int32_t to = order_.rank(taker->stage, taker->microbatch);
    if (to == one.rank) return;
    LoweredAction send = one.what;
    send.kind = one.what.action.kind == ActionKind::forward ? LoweredKind::send_forward : LoweredKind::send_backward;
    const LoweredAction receive = partner(send);
    if (transfers_.contains(key(send)) || transfers_.contains(key(receive))) return;  // one of them: said there
    problems_.add(one, to_string(one.what) + " is not sent: " + to_string(send) + " and " + to_string(receive) +
                           " of rank " + std::to_string(to) + " are missing");
  }

  void check_gathers(const std::vector<CsvAction>& row) {
    if (!gathers_) return;
    std::map<std::int32_t, bool> gathered;
    std::map<std::int32_t, bool> said;
    for (const CsvAction& one : row) {
      const std::int32_t stage = one.what.action.stage;
      const bool now = gathered[stage];
      const std::string of = to_string(one.what) + ": stage " + std::to_string(stage);
      if (one.what.kind == LoweredKind::unshard && check_home(one)) {
        if (now) problems_.add(one, of + " is gathered already");
        gathered[stage] = true;
      } else if (one.what.kind == LoweredKind::reshard && check_home(one)) {
        if (!now) problems_.add(one, of + " is not gathered here: expected an UNSHARD before");
        gathered[stage] = false;
      } else if (one.what.kind == LoweredKind::compute && !now && !std::exchange(said[stage], true)) {
        problems_.add(one, of + " is not gathered here: expected an UNSHARD before");
      }
    }
  }

  void check_reductions(const std::vector<CsvAction>& row) {
    std::map<std::int32_t, const CsvAction*> reduced;
    for (const CsvAction& one : row) {
      const std::int32_t stage = one.what.action.stage;
      const auto before = reduced.find(stage);
      if (one.what.kind == LoweredKind::reduce_gradients && check_home(one)) {
        if (before != reduced.end()) {
          problems_.add(one, to_string(one.what) + " again: it is in cell " + std::to_string(before->second->cell));
        }
        reduced.emplace(stage, &one);
      } else if (one.what.kind == LoweredKind::compute && before != reduced.end() &&
                 (one.what.action.kind == ActionKind::weight_gradient ||
                  one.what.action.kind == ActionKind::backward)) {
        problems_.add(one, to_string(one.what) + " stands behind " + to_string(before->second->what) + " (cell " +
                               std::to_string(before->second->cell) + "): expected before it");
      }
    }
  }

  const CsvTable& table_;
  const PipelineOrder& order_;
  CsvProblems problems_;
  std::map<Key, const CsvAction*> transfers_;
  std::map<std::tuple<bool, std::int32_t, std::int32_t>, const CsvAction*> computed_;
  bool gathers_ = false;
};

}  // namespace

void check_communication(const CsvTable& table, const PipelineOrder& order) {
  Communication(table, order).check();
}

}  // namespace stepsim
