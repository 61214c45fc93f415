// csv_check.h: whether the actions of a schedule CSV make a whole order.
#pragma once

#include "schedules/pipeline/csv_table.h"
#include "schedules/pipeline/order.h"

namespace stepsim {

/// Old letters made new ones, in the table. The number of B that are I.
std::size_t renew_letters(CsvTable& table);

/// The order of its F, I, W and B. InputError where actions are missing, doubled, on the wrong rank or in an impossible
/// order within their row. Every cell is read, and no table is larger than the file.
PipelineOrder order_of(const CsvTable& table);

/// Sends, receives, gathers and reductions against the order; InputError.
void check_communication(const CsvTable& table, const PipelineOrder& order);

}  // namespace stepsim
