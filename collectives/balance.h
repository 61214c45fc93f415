// balance.h: weights of alternatives that make the greatest cost least.
//
// minimise t subject to sum_p cost[r][p] w_p <= t for every row r, sum_p w_p = 1, w >= 0: the value of a small matrix
// game. With x = w / t it is the linear program: maximise sum x, cost x <= 1, x >= 0, whose slack basis is feasible;
// the simplex method with Bland's rule (which always ends) solves it.
//
// Source: Dantzig 1951 (games as linear programs); Bland 1977.
#pragma once

#include <vector>

namespace stepsim {

struct Balance {
  std::vector<double> weights;  // per column, adding up to 1
  double greatest = 0;          // t
};

/// cost[row][column] >= 0, with a positive entry in every column.
Balance balance(const std::vector<std::vector<double>>& cost);

}  // namespace stepsim
