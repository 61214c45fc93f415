#include "schedules/pipeline/building_block.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "schedules/pipeline/table.h"

namespace stepsim {
namespace {

using Row = std::vector<VPass>;
using Counts = std::array<int, v_passes>;

constexpr int period = 6;

std::size_t index(VPass pass) {
  return static_cast<std::size_t>(pass);
}
bool is_forward(VPass pass) {
  return pass == VPass::f0 || pass == VPass::f1;
}
bool is_weight(VPass pass) {
  return pass == VPass::w1 || pass == VPass::w0;
}
/// From the rank before: the other three come from the rank after, or need no rank.
bool goes_there(VPass pass) {
  return pass == VPass::f0 || pass == VPass::i1;
}
VPass weight_of(VPass input) {
  return input == VPass::i1 ? VPass::w1 : VPass::w0;
}

int length(const Row& row) {
  return static_cast<int>(row.size());
}
VPass& cell(VRows& rows, int rank, int slot) {
  return rows[static_cast<std::size_t>(rank)][static_cast<std::size_t>(slot)];
}

int peak_of(const Row& row) {
  int held = 0;
  int peak = 0;
  for (const VPass pass : row) {
    if (is_forward(pass)) ++held;
    if (is_weight(pass)) --held;
    peak = std::max(peak, held);
  }
  return peak;
}

VRows repeat(const VBlock& block, int m) {
  const int p = static_cast<int>(block.size());
  VRows rows(block.size(), Row(static_cast<std::size_t>(period * (4 * p + m + 1)), VPass::idle));
  int next = period;
  const auto place = [&](int rank, VPass pass, int from) {
    const int slot = block[static_cast<std::size_t>(rank)][index(pass)];
    const int first = from + (slot - from % period + period) % period;
    for (int mb = 0; mb < m; ++mb) cell(rows, rank, first + period * mb) = pass;
    return first + 1;
  };
  for (const VPass pass : {VPass::f0, VPass::f1, VPass::i1, VPass::i0}) {
    for (int k = 0; k < p; ++k) {
      const int rank = goes_there(pass) ? k : p - 1 - k;
      next = place(rank, pass, next);
      if (!is_forward(pass)) place(rank, weight_of(pass), next);
    }
  }
  return rows;
}

/// Slots of what has been placed, by rank, pass and number.
class Placed {
 public:
  Placed(int ranks, int microbatches)
      : p_(ranks),
        m_(microbatches),
        slots_(ranks * v_passes, microbatches, -1),
        counts_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] int count(int rank, VPass pass) const { return counts_[static_cast<std::size_t>(rank)][index(pass)]; }
  /// Whether the rank has fewer than m of this kind.
  [[nodiscard]] bool more(int rank, VPass pass) const { return count(rank, pass) < m_; }

  void place(int rank, VPass pass, int slot) {
    slots_(rank * v_passes + static_cast<int>(pass), counts_[static_cast<std::size_t>(rank)][index(pass)]++) = slot;
  }

  [[nodiscard]] int slot(int rank, VPass pass, int number) const {
    return slots_(rank * v_passes + static_cast<int>(pass), number);
  }

  /// The rank that the next one of this kind takes its input from, or -1: its own.
  [[nodiscard]] int source(int rank, VPass pass) const {
    if (is_weight(pass)) return -1;
    if (goes_there(pass)) return rank - 1;
    return rank + 1 < p_ ? rank + 1 : -1;
  }

  /// The input that the rank itself makes, at the turns of the V and for W's.
  [[nodiscard]] bool made_here(int rank, VPass pass) const {
    const auto has = [&](VPass before) { return count(rank, before) > count(rank, pass); };
    switch (pass) {
      case VPass::i1:
        return has(VPass::f1);
      case VPass::f1:
        return has(VPass::f0);
      case VPass::i0:
      case VPass::w1:
        return has(VPass::i1);
      case VPass::w0:
        return has(VPass::i0);
      case VPass::f0:
      case VPass::idle:
        break;
    }
    return true;
  }

 private:
  int p_, m_;
  Table<int> slots_;
  std::vector<Counts> counts_ = {};
};

/// Everything as early as the order of each rank and the results of other ranks allow. None: an input comes too late.
std::optional<VRows> squeeze(const VRows& rows, int m) {
  const int p = static_cast<int>(rows.size());
  const std::size_t slots = rows[0].size();
  VRows squeezed(rows.size(), Row(slots, VPass::idle));
  Placed placed(p, m);
  std::vector<int> free(rows.size(), 0);
  const auto move = [&](int rank, VPass pass) {
    if (!placed.more(rank, pass)) return false;
    int& slot = free[static_cast<std::size_t>(rank)];
    const int from = placed.source(rank, pass);
    if (from >= 0) {
      const int made = placed.slot(from, pass, placed.count(rank, pass));
      if (made < 0) return false;
      slot = std::max(slot, made + 1);
    } else if (!is_weight(pass) && !placed.made_here(rank, pass)) {
      return false;
    }
    if (slot >= static_cast<int>(slots)) return false;
    cell(squeezed, rank, slot) = pass;
    placed.place(rank, pass, slot++);
    return true;
  };
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (int rank = 0; rank < p; ++rank) {
      const VPass pass = rows[static_cast<std::size_t>(rank)][slot];
      if ((goes_there(pass) || pass == VPass::w1) && !move(rank, pass)) return std::nullopt;
    }
    for (int rank = p - 1; rank >= 0; --rank) {
      const VPass pass = rows[static_cast<std::size_t>(rank)][slot];
      if ((pass == VPass::f1 || pass == VPass::i0 || pass == VPass::w0) && !move(rank, pass)) return std::nullopt;
    }
  }
  const auto last = static_cast<std::size_t>(*std::max_element(free.begin(), free.end()));
  for (Row& row : squeezed) row.resize(last);
  return squeezed;
}

/// What a rank does before its first i0, taken out of its row.
bool take_warm_up(Row& row, Counts& taken) {
  for (VPass& pass : row) {
    if (pass == VPass::i0) return true;
    if (pass == VPass::w0) return false;
    if (pass != VPass::idle) ++taken[index(pass)];
    pass = VPass::idle;
  }
  return true;
}

/// Before the first i1: up to half the peak f1's, by rank; f0's for the rest. Then i1, w1 and f1, later f0, by turns.
bool reorder_warm_up(VRows& rows, int m) {
  const int p = static_cast<int>(rows.size());
  const int peak = std::min(peak_held(rows), 2 * p);
  for (int rank = 0; rank < p; ++rank) {
    Row& row = rows[static_cast<std::size_t>(rank)];
    Counts left{};
    if (!take_warm_up(row, left)) return false;
    int second = std::min({rank + 1, peak / 2, m});
    int first = std::min(peak - second, m);
    int slot = rank;
    bool room = true;
    const auto put = [&](VPass pass, bool wanted) {
      if (wanted && left[index(pass)] > 0) {
        if (slot < length(row)) row[static_cast<std::size_t>(slot)] = pass;
        room = room && slot < length(row);
        --left[index(pass)];
        return true;
      }
      return false;
    };
    for (int k = 0; k < 2 * (p - 1 - rank); ++k, ++slot) first -= put(VPass::f0, first > 0) ? 1 : 0;
    for (int k = 0; k < rank + 1; ++k) {
      first -= put(VPass::f0, first > 0) ? 1 : 0;
      ++slot;
      second -= put(VPass::f1, second > 0) ? 1 : 0;
      ++slot;
    }
    const auto any = [&] { return std::any_of(left.begin(), left.end(), [](int count) { return count > 0; }); };
    while (any()) {
      put(VPass::i1, true);
      ++slot;
      put(VPass::w1, true);
      ++slot;
      if (!put(VPass::f1, true)) put(VPass::f0, true);
      ++slot;
    }
    if (!room) return false;
  }
  return true;
}

/// Takes out the last i1's and i0's, and W's enough; the last f1's slot, or -1.
int take_cool_down(Row& row, int rank, int peak, int most_i1, int most_i0, Counts& taken) {
  int last_f1 = -1;
  for (int slot = length(row) - 1; slot >= 0; --slot) {
    VPass& pass = row[static_cast<std::size_t>(slot)];
    if (pass == VPass::f1 && last_f1 < 0) last_f1 = slot;
    const bool taken_i1 = pass == VPass::i1 && taken[index(pass)] < std::min(rank + 1, most_i1);
    const bool taken_i0 = pass == VPass::i0 && taken[index(pass)] < most_i0;
    if (!taken_i1 && !taken_i0) continue;
    ++taken[index(pass)];
    pass = VPass::idle;
  }
  const auto count = [&](VPass pass) { return taken[index(pass)]; };
  for (int slot = length(row) - 1; slot >= 0; --slot) {
    const bool enough = count(VPass::w1) >= count(VPass::i1) && count(VPass::w0) >= count(VPass::i0) &&
                        count(VPass::w1) + count(VPass::w0) >= peak;
    if (enough) break;
    VPass& pass = row[static_cast<std::size_t>(slot)];
    if (!is_weight(pass)) continue;
    ++taken[index(pass)];
    pass = VPass::idle;
  }
  return last_f1;
}

/// W's that are missing, in the free slots after the last W and at the end; those of chunk 1 first.
void add_weights(Row& row) {
  int last = length(row) - 1;
  while (last >= 0 && !is_weight(row[static_cast<std::size_t>(last)])) --last;
  int w1 = 0;
  int w0 = 0;
  for (int slot = 0; slot < length(row); ++slot) {
    VPass& pass = row[static_cast<std::size_t>(slot)];
    w1 += pass == VPass::i1 ? 1 : pass == VPass::w1 ? -1 : 0;
    w0 += pass == VPass::i0 ? 1 : pass == VPass::w0 ? -1 : 0;
    if (pass != VPass::idle || slot <= last) continue;
    if (w1 > 0) {
      pass = VPass::w1;
      --w1;
    } else if (w0 > 0) {
      pass = VPass::w0;
      --w0;
    }
  }
  row.insert(row.end(), static_cast<std::size_t>(std::max(w1, 0)), VPass::w1);
  row.insert(row.end(), static_cast<std::size_t>(std::max(w0, 0)), VPass::w0);
}

/// After rank 0's last f1: i0's every other slot back from where they can start, i1's likewise, W's in between.
bool reorder_cool_down(VRows& rows, int m) {
  const int p = static_cast<int>(rows.size());
  const int peak = peak_held(rows);
  if (peak > 2 * p) return false;
  const int most_i0 = std::min((peak + 1) / 2, m);
  const int most_i1 = std::min(peak - most_i0, m);
  int start = -1;
  std::size_t longest = 0;
  for (int rank = 0; rank < p; ++rank) {
    Row& row = rows[static_cast<std::size_t>(rank)];
    Counts taken{};
    const int last_f1 = take_cool_down(row, rank, peak, most_i1, most_i0, taken);
    if (rank == 0) start = last_f1;
    const auto inside = [&](int slot) { return slot >= 0 && slot < length(row); };
    for (int k = 0; k < taken[index(VPass::i0)]; ++k) {
      const int slot = start - rank + 2 * p - 2 * k;
      if (!inside(slot) || row[static_cast<std::size_t>(slot)] != VPass::idle) return false;
      row[static_cast<std::size_t>(slot)] = VPass::i0;
    }
    for (int k = 0; k < taken[index(VPass::i1)]; ++k) {
      const int slot = start + 1 + rank - 2 * k;
      if (!inside(slot)) return false;
      row[static_cast<std::size_t>(slot)] = VPass::i1;
    }
    add_weights(row);
    longest = std::max(longest, row.size());
  }
  for (Row& row : rows) row.resize(longest, VPass::idle);
  return true;
}

/// Few microbatches leave memory free: the first W's of each rank go to its end while the peak allows.
void release_weights(VRows& rows, int peak) {
  int least = peak_of(rows[0]);
  for (const Row& row : rows) least = std::min(least, peak_of(row));
  for (Row& row : rows) {
    int held = peak_of(row);
    Row later;
    for (std::size_t slot = 0; slot < row.size() && held < peak; ++slot) {
      if (!is_weight(row[slot])) continue;
      later.push_back(std::exchange(row[slot], VPass::idle));
      ++held;
    }
    later.resize(static_cast<std::size_t>(std::max(0, peak - least)), VPass::idle);
    row.insert(row.end(), later.begin(), later.end());
  }
}

void keep_first(VRows& rows, int m) {
  for (Row& row : rows) {
    Counts counts{};
    for (VPass& pass : row) {
      if (pass != VPass::idle && counts[index(pass)]++ >= m) pass = VPass::idle;
    }
  }
}

/// Fills each free slot, from left to right, with the next pass of the rank whose input is there and for which no more
/// is held than at the peak; other passes stay where they are.
class Filler {
 public:
  Filler(VRows& rows, int m)
      : rows_(rows),
        p_(static_cast<int>(rows.size())),
        slots_(length(rows[0])),
        peak_(peak_held(rows)),
        placed_(p_, m),
        held_(rows.size(), 0),
        last_(rows.size()) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      last_[r].fill(-1);
      for (int slot = 0; slot < slots_; ++slot) {
        const VPass pass = rows[r][static_cast<std::size_t>(slot)];
        if (pass != VPass::idle) last_[r][index(pass)] = slot;
      }
    }
  }

  void fill() {
    for (int slot = 0; slot < slots_; ++slot) {
      for (int rank = 0; rank < p_; ++rank) {
        if (cell(rows_, rank, slot) == VPass::idle) {
          const int from = found(rank, slot);
          if (from < 0) continue;
          std::swap(cell(rows_, rank, slot), cell(rows_, rank, from));
        }
        const VPass pass = cell(rows_, rank, slot);
        placed_.place(rank, pass, slot);
        held_[static_cast<std::size_t>(rank)] += is_forward(pass) ? 1 : is_weight(pass) ? -1 : 0;
      }
    }
  }

 private:
  /// The slot of the pass that can come here, or -1.
  int found(int rank, int slot) {
    const Counts& last = last_[static_cast<std::size_t>(rank)];
    unsigned available = 0;  // by kind: the next one is still to be looked at
    for (std::size_t kind = 0; kind < v_passes; ++kind) available |= last[kind] > slot ? 1U << kind : 0U;
    int change = 0;
    int most = 0;
    const Row& row = rows_[static_cast<std::size_t>(rank)];
    for (int from = slot + 1; from < slots_ && available != 0; ++from) {
      const VPass pass = row[static_cast<std::size_t>(from)];
      if (pass == VPass::idle) continue;
      const int most_before = most;
      change += is_forward(pass) ? 1 : is_weight(pass) ? -1 : 0;
      most = std::max(most, change);
      const unsigned bit = 1U << index(pass);
      if ((available & bit) == 0) continue;
      available &= ~bit;
      if (is_forward(pass) && held_[static_cast<std::size_t>(rank)] + most_before >= peak_) continue;
      if (there(rank, pass, slot)) return from;
    }
    return -1;
  }

  [[nodiscard]] bool there(int rank, VPass pass, int slot) const {
    const int from = placed_.source(rank, pass);
    if (from < 0) return placed_.made_here(rank, pass);
    const int made = placed_.slot(from, pass, placed_.count(rank, pass));
    return made >= 0 && made < slot;
  }

  VRows& rows_;
  int p_, slots_, peak_;
  Placed placed_;
  std::vector<int> held_;
  std::vector<Counts> last_;  // slot of the last of each kind at first
};

/// W's in the order of their I's. False: not m of each kind, or a W without an I.
bool relabel_weights(VRows& rows, int m) {
  for (Row& row : rows) {
    Counts counts{};
    std::deque<VPass> pending;
    for (VPass& pass : row) {
      if (pass == VPass::idle) continue;
      ++counts[index(pass)];
      if (pass == VPass::i1 || pass == VPass::i0) pending.push_back(weight_of(pass));
      if (!is_weight(pass)) continue;
      if (pending.empty()) return false;
      pass = pending.front();
      pending.pop_front();
    }
    if (std::any_of(counts.begin(), counts.end(), [m](int count) { return count != m; })) return false;
  }
  return true;
}

/// Every pass after what it waits for.
bool is_valid(const VRows& rows, int m) {
  const int p = static_cast<int>(rows.size());
  Placed placed(p, m);
  for (int slot = 0; slot < length(rows[0]); ++slot) {
    for (int rank = 0; rank < p; ++rank) {
      const VPass pass = rows[static_cast<std::size_t>(rank)][static_cast<std::size_t>(slot)];
      if (pass == VPass::idle) continue;
      const int from = placed.source(rank, pass);
      const int number = placed.count(rank, pass);
      if (!placed.more(rank, pass) || !placed.made_here(rank, pass)) return false;
      if (from >= 0 && (placed.slot(from, pass, number) < 0 || placed.slot(from, pass, number) >= slot)) return false;
      placed.place(rank, pass, slot);
    }
  }
  return true;
}

}  // namespace

BlockRow with_weights(BlockRow row) {
  const auto taken = [&](int slot) { return std::find(row.begin(), row.end(), slot) != row.end(); };
  row[index(VPass::w1)] = row[index(VPass::w0)] = -1;
  for (const VPass input : {VPass::i1, VPass::i0}) {
    int slot = row[index(input)];
    while (taken(slot)) slot = (slot + 1) % period;
    row[index(weight_of(input))] = slot;
  }
  return row;
}

int peak_held(const VRows& rows) {
  int peak = 0;
  for (const Row& row : rows) peak = std::max(peak, peak_of(row));
  return peak;
}

BuiltRows build_rows(const VBlock& block, int microbatches, double most) {
  const int p = static_cast<int>(block.size());
  const int m = microbatches;
  const int enough = std::max(m, 2 * p);  // the warm-up below is made for no fewer
  VRows rows = repeat(block, enough);
  int peak = peak_held(rows);
  if ((m == enough && peak > most) || peak > 2 * p) return {std::nullopt, peak};
  const auto squeezed = [&](int count) {
    std::optional<VRows> shorter = squeeze(rows, count);
    if (shorter) rows = std::move(*shorter);
    return shorter.has_value();
  };
  if (!squeezed(enough) || !reorder_warm_up(rows, enough) || !squeezed(enough)) return {};
  const int reordered = peak_held(rows);
  if (reordered > peak) return {std::nullopt, peak};
  if (m < enough) {
    keep_first(rows, m);
    if (m <= p && 2 * m <= most) release_weights(rows, std::min(2 * p, reordered));
    if (!squeezed(m)) return {};
    peak = peak_held(rows);
    if (peak > most) return {std::nullopt, peak};
  }
  if (!reorder_cool_down(rows, m) || !squeezed(m)) return {};
  Filler(rows, m).fill();
  if (!relabel_weights(rows, m)) return {};
  if (peak_held(rows) > peak) return {std::nullopt, peak};
  if (!is_valid(rows, m)) return {std::nullopt, peak_held(rows)};
  const int held = peak_held(rows);
  return {std::move(rows), held};
}

}  // namespace stepsim
