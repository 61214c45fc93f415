// csv.h: tables as text, RFC 4180: fields in quotes may hold commas, line ends and doubled quotes.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

struct CsvRecord {
  std::vector<std::string> fields;
  int line = 0;              // where it begins
  std::vector<int> columns;  // where its fields begin, in bytes of their lines
};

/// All records but empty lines; a byte order mark is passed over. InputError for quotes that are not closed or do not end
/// a field.
std::vector<CsvRecord> read_csv(const std::string& text, const std::string& file);

}  // namespace stepsim
