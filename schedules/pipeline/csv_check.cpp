// csv_check.cpp: F, I, W and B of a schedule CSV as a whole order (csv_check.h).
//
// PyTorch checks some of this (_validate_schedule: all forwards of a stage, #I = #W, F before B or I, I before W, each
// stage on one rank); the rest would hang or fail there at run time.
#include "schedules/pipeline/csv_check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace stepsim {
namespace {

using Found = std::vector<CsvAction*>;

/// The compute actions, sorted by stage and microbatch; those of one keep the order of the file.
Found compute_actions(std::vector<std::vector<CsvAction>>& rows) {
  Found all;
  for (std::vector<CsvAction>& row : rows) {
    for (CsvAction& one : row) {
      if (one.what.kind == LoweredKind::compute) all.push_back(&one);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const CsvAction* a, const CsvAction* b) {
    return std::pair(a->what.action.stage, a->what.action.microbatch) <
           std::pair(b->what.action.stage, b->what.action.microbatch);
  });
  return all;
}

/// Calls do_group with the actions of each (stage, microbatch).
template <class DoGroup>
void for_groups(const Found& sorted, const DoGroup& do_group) {
  for (auto first = sorted.begin(); first != sorted.end();) {
    const Action& key = (*first)->what.action;
    const auto last = std::find_if(first, sorted.end(), [&](const CsvAction* one) {
      return one->what.action.stage != key.stage || one->what.action.microbatch != key.microbatch;
    });
    do_group(Found(first, last));
    first = last;
  }
}

CsvAction* find(const Found& group, ActionKind kind) {
  const auto at =
      std::find_if(group.begin(), group.end(), [&](const CsvAction* one) { return one->what.action.kind == kind; });
  return at == group.end() ? nullptr : *at;
}

std::string name(const Action& of, char letter) {
  return std::to_string(of.stage) + letter + std::to_string(of.microbatch);
}

std::string place(const CsvAction& one) {
  return "rank " + std::to_string(one.rank) + ", cell " + std::to_string(one.cell);
}

class Checker {
 public:
  explicit Checker(const CsvTable& table) : rows_(table.rows), problems_(table.file) {
    actions_ = compute_actions(rows_);
  }

  PipelineOrder order() {
    if (actions_.empty()) problems_.add_file("no F, I, W or B in the file: expected what each rank computes");
    problems_.raise();
    refuse_torch_labels();
    for_groups(actions_, [&](const Found& group) { check_group(group); });
    check_numbers();
    problems_.raise();
    PipelineOrder order;
    order.stages = actions_.back()->what.action.stage + 1;
    order.units = static_cast<std::int32_t>(microbatches_.size());
    place_stages(order);
    problems_.raise();
    for (const std::vector<CsvAction>& row : rows_) {
      RankOrder& list = order.ranks.emplace_back();
      for (const CsvAction& one : row) {
        if (one.what.kind == LoweredKind::compute) list.push_back(one.what.action);
      }
    }
    return order;
  }

 private:
  /// PyTorch 2.8's Schedule1F1B dumps its last rank with forwards 1..m.
  void refuse_torch_labels() {
    const std::int32_t last = actions_.back()->what.action.stage;
    std::set<std::int32_t> forwards;
    std::set<std::int32_t> backwards;
    const CsvAction* first = nullptr;
    for (const CsvAction* one : actions_) {
      if (one->what.action.stage != last) continue;
      if (one->what.action.kind == ActionKind::forward) {
        forwards.insert(one->what.action.microbatch);
        if (first == nullptr) first = one;
      } else {
        backwards.insert(one->what.action.microbatch);
      }
    }
    const auto m = static_cast<std::int32_t>(forwards.size());
    if (m == 0 || *forwards.begin() != 1 || *forwards.rbegin() != m) return;
    if (backwards.size() != forwards.size() || *backwards.begin() != 0 || *backwards.rbegin() != m - 1) return;
    problems_.add(*first, "the forwards of the last stage are numbered 1 to " + std::to_string(m) +
                              " and its backwards 0 to " + std::to_string(m - 1) +
                              ": PyTorch 2.8's Schedule1F1B writes its last rank so (only the dump is wrong, what it "
                              "runs is not); number these forwards from 0");
    problems_.raise();
  }

  void check_group(const Found& group) {
    check_doubles(group);
    const CsvAction* f = find(group, ActionKind::forward);
    const CsvAction* i = find(group, ActionKind::input_gradient);
    const CsvAction* w = find(group, ActionKind::weight_gradient);
    const CsvAction* b = find(group, ActionKind::backward);
    const Action& key = group.front()->what.action;
    if (f == nullptr)
      problems_.add(*group.front(),
                    to_string(group.front()->what) + " has no forward: " + name(key, 'F') + " is missing");
    if (b != nullptr && i != nullptr) {
      problems_.add(i->rank == b->rank && i->position < b->position ? *b : *i,
                    name(key, 'B') + " and " + name(key, 'I') + ": B is I and W at once, expected one or the other");
    } else if (i != nullptr && w == nullptr) {
      problems_.add(*i, name(key, 'I') + " has no weight gradient: " + name(key, 'W') + " is missing");
    } else if (w != nullptr && i == nullptr) {
      problems_.add(*w, name(key, 'W') + " has no input gradient: " + name(key, 'I') + " is missing");
    } else if (b == nullptr && i == nullptr) {
      problems_.add(*f, name(key, 'F') + " has no backward: " + name(key, 'B') + ", or " + name(key, 'I') + " and " +
                            name(key, 'W') + ", missing");
    }
    check_before(f, i != nullptr ? i : b);
    check_before(i, w);
  }

  void check_doubles(const Found& group) {
    for (std::size_t at = 1; at < group.size(); ++at) {
      const CsvAction* earlier = find(group, group[at]->what.action.kind);
      if (earlier != group[at])
        problems_.add(*group[at], to_string(group[at]->what) + " again: it is in " + place(*earlier));
    }
  }

  void check_before(const CsvAction* before, const CsvAction* after) {
    if (before == nullptr || after == nullptr || before->rank != after->rank || before->position < after->position)
      return;
    problems_.add(*after, to_string(after->what) + " stands before " + to_string(before->what) + " (cell " +
                              std::to_string(before->cell) + "), which it needs");
  }

  /// Stages and microbatches go from 0 without gaps, and every microbatch passes every stage.
  void check_numbers() {
    std::map<std::int32_t, Found> firsts;  // by microbatch: its first action on each stage
    std::map<std::int32_t, const CsvAction*> stages;
    for_groups(actions_, [&](const Found& group) {
      firsts[group.front()->what.action.microbatch].push_back(group.front());
      stages.emplace(group.front()->what.action.stage, group.front());
    });
    std::set<std::int32_t> numbers;
    for (const auto& [stage, first] : stages) numbers.insert(stage);
    for (const auto& [microbatch, found] : firsts) microbatches_.insert(microbatch);
    check_gaps("stage", "stages", numbers);
    check_gaps("microbatch", "microbatches", microbatches_);
    for (const auto& [microbatch, found] : firsts) {
      if (found.size() == stages.size() || problems_.full()) continue;
      if (2 * found.size() < stages.size()) {
        problems_.add(*found.front(), "microbatch " + std::to_string(microbatch) + " is on " +
                                          std::to_string(found.size()) + " of " + std::to_string(stages.size()) +
                                          " stages: expected on all");
        continue;
      }
      auto next = found.begin();
      for (const auto& [stage, first] : stages) {
        if (next != found.end() && (*next)->what.action.stage == stage) {
          ++next;
        } else {
          const Action missing = forward(stage, microbatch);
          problems_.add_row(first->rank, name(missing, 'F') + " and " + name(missing, 'B') + " are missing");
        }
      }
    }
  }

  void check_gaps(const std::string& one, const std::string& many, const std::set<std::int32_t>& numbers) {
    std::int32_t next = 0;
    for (const std::int32_t number : numbers) {
      if (number > next) {
        const std::string first = std::to_string(next);
        const std::string gap =
            number == next + 1 ? one + " " + first : many + " " + first + " to " + std::to_string(number - 1);
        problems_.add_file("no action of " + gap + ": expected every " + one + " from 0 to " +
                           std::to_string(*numbers.rbegin()));
      }
      next = number + 1;
    }
  }

  /// The rank that has most of a stage's actions, of the microbatches [first, last).
  [[nodiscard]] std::vector<std::int32_t> most(std::int32_t stages, std::int32_t first, std::int32_t last) const {
    std::vector<std::map<std::int32_t, std::int32_t>> votes(static_cast<std::size_t>(stages));
    for (const CsvAction* one : actions_) {
      const Action& action = one->what.action;
      if (action.microbatch >= first && action.microbatch < last) {
        ++votes[static_cast<std::size_t>(action.stage)][one->rank];
      }
    }
    std::vector<std::int32_t> ranks;
    for (const auto& of : votes) {
      ranks.push_back(std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) {
                        return a.second < b.second;
                      })->first);
    }
    return ranks;
  }

  void place_stages(PipelineOrder& order) {
    const auto ranks = static_cast<std::int32_t>(rows_.size());
    order.rank_of = {most(order.stages, 0, order.units)};
    if (order.stages == ranks && order.units % 2 == 0 && ranks % 2 == 0) {
      const std::vector<std::int32_t> down = most(order.stages, 0, order.units / 2);
      const std::vector<std::int32_t> up = most(order.stages, order.units / 2, order.units);
      if (up == mirrored(down, ranks)) order.rank_of = {down, up};
    }
    std::set<std::pair<std::int32_t, std::int32_t>> said;  // stage, rank
    for (const CsvAction* one : actions_) {
      const Action& action = one->what.action;
      const std::int32_t home = order.rank(action.stage, action.microbatch);
      if (one->rank == home || !said.insert({action.stage, one->rank}).second) continue;
      const std::string stage = to_string(action) + ": stage " + std::to_string(action.stage);
      const std::string there = " is on rank " + std::to_string(home);
      if (order.copies() == 2) {
        problems_.add(*one, stage + " of microbatch " + std::to_string(action.microbatch) + there +
                                ": two copies, microbatches from " + std::to_string(order.units / 2) +
                                " on go the other way");
      } else {
        problems_.add(*one, stage + there +
                                ": expected it on one rank (or in two copies, each with half of the "
                                "microbatches, on mirrored ranks)");
      }
    }
    if (said.empty()) check_shares(order);
  }

  void check_shares(const PipelineOrder& order) {
    std::vector<std::int32_t> share(rows_.size(), 0);
    for (const auto& placement : order.rank_of) {
      for (const std::int32_t rank : placement) ++share[static_cast<std::size_t>(rank)];
    }
    const auto all = static_cast<std::int32_t>(rows_.size());
    if (order.stages % all != 0) {
      problems_.add_file(std::to_string(order.stages) + " stages on " + std::to_string(all) +
                         " ranks: expected a multiple of the ranks");
      return;
    }
    const std::int32_t expected = order.stages / all * order.copies();
    for (std::int32_t rank = 0; rank < all; ++rank) {
      const std::int32_t found = share[static_cast<std::size_t>(rank)];
      if (found != expected) {
        problems_.add_row(rank, "holds " + std::to_string(found) + " of " + std::to_string(order.stages) +
                                    " stages: expected " + std::to_string(expected) + " on every rank");
      }
    }
  }

  std::vector<std::vector<CsvAction>> rows_;
  CsvProblems problems_;
  Found actions_;
  std::set<std::int32_t> microbatches_;
};

}  // namespace

std::size_t renew_letters(CsvTable& table) {
  std::size_t renewed = 0;
  for_groups(compute_actions(table.rows), [&](const Found& group) {
    if (find(group, ActionKind::input_gradient) != nullptr || find(group, ActionKind::weight_gradient) == nullptr)
      return;
    for (CsvAction* one : group) {
      if (one->what.action.kind != ActionKind::backward) continue;
      one->what.action.kind = ActionKind::input_gradient;
      ++renewed;
    }
  });
  return renewed;
}

PipelineOrder order_of(const CsvTable& table) {
  return Checker(table).order();
}

}  // namespace stepsim
