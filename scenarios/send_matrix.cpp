#include "scenarios/send_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scenarios/csv.h"
#include "sim/input_error.h"
#include "sim/int128.h"

namespace stepsim {
namespace {

constexpr std::size_t most_problems = 20;
constexpr std::size_t most_members = 4096;

struct Entry {
  std::optional<Fraction> share;
  std::optional<Bytes> size;
};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Both for 0; a size has a unit of bytes, a share none or %. Throws UnitError.
Entry entry_of(const std::string& text) {
  const bool in_bytes = text.find_first_of("Bb") != std::string::npos;
  if (in_bytes) {
    const Bytes size = parse_bytes(text);
    if (size < 0) throw UnitError("is negative");
    return {size == 0 ? std::optional<Fraction>(Fraction()) : std::nullopt, size};
  }
  const Fraction share = parse_fraction(text);
  if (share.numerator > share.denominator) throw UnitError("is more than the whole");
  return {share, share.numerator == 0 ? std::optional<Bytes>(0) : std::nullopt};
}

class MatrixReader {
 public:
  MatrixReader(const std::string& text, const std::string& file) : file_(file), records_(read_csv(text, file)) {}

  SendMatrix read() {
    read_header();
    for (std::size_t from = 0; from < matrix_.members; ++from) read_row(from);
    if (problems_.empty()) choose();
    if (!problems_.empty()) throw InputError(problems_);
    return matrix_;
  }

 private:
  [[nodiscard]] std::size_t members() const { return matrix_.members; }

  void problem(SourcePlace place, const std::string& key, const std::string& message) {
    if (problems_.size() < most_problems) problems_.push_back({std::move(place), key, message});
  }
  [[nodiscard]] SourcePlace place(std::size_t row, std::size_t field) const {
    return {file_, records_[row].line, records_[row].columns[field]};
  }
  static std::string key(std::size_t from, std::size_t to) { return fmt::format("from {} to {}", from, to); }

  void read_header() {
    matrix_.file = file_;
    const std::string expected = "expected the header line from,0,1,... with a column per member";
    if (records_.empty()) throw InputError({Problem{{file_, 1, 1}, "", "the file is empty: " + expected}});
    const std::vector<std::string>& header = records_[0].fields;
    for (std::size_t i = 0; i < header.size(); ++i) {
      const std::string wanted = i == 0 ? "from" : std::to_string(i - 1);
      if (trimmed(header[i]) == wanted) continue;
      throw InputError({Problem{place(0, i), "", fmt::format("{}: found '{}' for {}", expected, header[i], wanted)}});
    }
    const std::size_t count = header.size() - 1;
    if (count < 1 || count > most_members || records_.size() != count + 1) {
      throw InputError({Problem{{file_, records_.back().line, 1},
                                "",
                                fmt::format("expected as many rows as columns, up to {}, found {} rows of {}",
                                            most_members, records_.size() - 1, count)}});
    }
    matrix_.members = static_cast<std::uint32_t>(count);
    entries_.resize(count * count);
  }

  void read_row(std::size_t from) {
    const CsvRecord& record = records_[from + 1];
    if (record.fields.size() != members() + 1) {
      problem({file_, record.line, 1}, fmt::format("from {}", from),
              fmt::format("expected {} entries, found {}", members(), record.fields.size() - 1));
      return;
    }
    if (trimmed(record.fields[0]) != std::to_string(from)) {
      problem(place(from + 1, 0), "", fmt::format("expected the row from {}, found '{}'", from, record.fields[0]));
    }
    double sum = 0;
    for (std::size_t to = 0; to < members(); ++to) {
      const std::string text = trimmed(record.fields[to + 1]);
      try {
        const Entry& entry = entries_[from * members() + to] = entry_of(text);
        if (entry.share) sum += static_cast<double>(entry.share->numerator) / entry.share->denominator;
      } catch (const UnitError& error) {
        problem(place(from + 1, to + 1), key(from, to),
                fmt::format("expected a share of 0 to 1 or a size with its unit, found '{}'", text));
      }
    }
    if (sum > 1 + 1e-9) {
      problem({file_, record.line, 1}, fmt::format("from {}", from),
              fmt::format("the shares add up to {:.6g}: expected at most 1, what one member sends", sum));
    }
  }

  /// Sizes or shares, by the first entry that is not 0.
  void choose() {
    const auto first = std::find_if(entries_.begin(), entries_.end(),
                                    [](const Entry& one) { return one.share.has_value() != one.size.has_value(); });
    const bool sizes = first == entries_.end() || first->size.has_value();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (sizes ? entries_[i].size.has_value() : entries_[i].share.has_value()) {
        if (sizes) matrix_.sizes.push_back(*entries_[i].size);
        if (!sizes) matrix_.shares.push_back(*entries_[i].share);
        continue;
      }
      const std::size_t from = i / members();
      const std::size_t to = i % members();
      problem(place(from + 1, to + 1), key(from, to),
              sizes ? "expected a size with its unit, as those before it" : "expected a share, as those before it");
    }
  }

  const std::string& file_;
  std::vector<CsvRecord> records_;
  std::vector<Entry> entries_;
  SendMatrix matrix_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Bytes> SendMatrix::at(Bytes size) const {
  if (shares.empty()) return sizes;
  std::vector<Bytes> all;
  all.reserve(shares.size());
  for (const Fraction& share : shares) {
    const Int128 scaled = static_cast<Int128>(size) * share.numerator + share.denominator - 1;
    all.push_back(static_cast<Bytes>(scaled / share.denominator));
  }
  return all;
}

Bytes SendMatrix::largest_row() const {
  Bytes largest = 0;
  for (std::size_t from = 0; from * members < sizes.size(); ++from) {
    Bytes row = 0;
    for (std::size_t to = 0; to < members; ++to) {
      if (__builtin_add_overflow(row, sizes[from * members + to], &row))
        throw InputError({Problem{{file, 0, 0}, "", "a member sends more bytes than 63 bits can count"}});
    }
    largest = std::max(largest, row);
  }
  return largest;
}

SendMatrix read_send_matrix(const std::string& text, const std::string& file) {
  return MatrixReader(text, file).read();
}

}  // namespace stepsim
