#include "collectives/balance.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace stepsim {

namespace {

// Costs are ratios of about 1; what is smaller than this after elimination is rounding.
constexpr double negligible = 1e-12;

// Coefficients of columns and slacks, then the right-hand side. The last row is the objective.
struct Tableau {
  std::vector<std::vector<double>> row;
  std::vector<std::size_t> basis;  // the variable of each row
};

Tableau slack_basis(const std::vector<std::vector<double>>& cost) {
  const std::size_t rows = cost.size();
  const std::size_t columns = cost.front().size();
  Tableau t;
  t.row.assign(rows + 1, std::vector<double>(columns + rows + 1, 0.0));
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy(cost[r].begin(), cost[r].end(), t.row[r].begin());
    t.row[r][columns + r] = 1;
    t.row[r].back() = 1;
    t.basis.push_back(columns + r);
  }
  std::fill_n(t.row[rows].begin(), columns, 1.0);
  return t;
}

// Bland's rule: the first variable that improves; `none` at the optimum.
std::size_t entering(const Tableau& t, std::size_t none) {
  const std::vector<double>& objective = t.row.back();
  for (std::size_t v = 0; v + 1 < objective.size(); ++v) {
    if (objective[v] > negligible) return v;
  }
  return none;
}

// The row that limits the entering variable most; ties: the lowest variable.
std::size_t leaving(const Tableau& t, std::size_t variable) {
  std::size_t best = t.basis.size();
  double least = 0;
  for (std::size_t r = 0; r < t.basis.size(); ++r) {
    if (t.row[r][variable] <= negligible) continue;
    const double limit = t.row[r].back() / t.row[r][variable];
    const bool first = best == t.basis.size();
    if (first || limit < least || (limit == least && t.basis[r] < t.basis[best])) {
      best = r;
      least = limit;
    }
  }
  return best;
}

void pivot(Tableau& t, std::size_t r, std::size_t variable) {
  const double scale = t.row[r][variable];
  for (double& x : t.row[r]) x /= scale;
  for (std::size_t other = 0; other < t.row.size(); ++other) {
    const double factor = t.row[other][variable];
    if (other == r || factor == 0) continue;
    for (std::size_t c = 0; c < t.row[r].size(); ++c) t.row[other][c] -= factor * t.row[r][c];
  }
  t.basis[r] = variable;
}

}  // namespace

Balance balance(const std::vector<std::vector<double>>& cost) {
  const std::size_t columns = cost.front().size();
  Tableau t = slack_basis(cost);
  const std::size_t none = t.row.back().size();
  for (std::size_t v = entering(t, none); v != none; v = entering(t, none)) pivot(t, leaving(t, v), v);

  Balance found;
  found.weights.assign(columns, 0.0);
  for (std::size_t r = 0; r < t.basis.size(); ++r) {
    if (t.basis[r] < columns) found.weights[t.basis[r]] = t.row[r].back();
  }
  found.greatest = 1 / std::accumulate(found.weights.begin(), found.weights.end(), 0.0);
  for (double& w : found.weights) w *= found.greatest;
  return found;
}

}  // namespace stepsim
