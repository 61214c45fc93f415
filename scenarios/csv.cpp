#include "scenarios/csv.h"

#include <utility>

#include "sim/input_error.h"

namespace stepsim {
namespace {

class CsvReader {
 public:
  CsvReader(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {
    if (text.starts_with("\xEF\xBB\xBF")) at_ = line_start_ = 3;  // byte order mark
  }

  std::vector<CsvRecord> read() {
    while (at_ < text_.size()) {
      CsvRecord record{{}, line_, {}};
      do {
        record.columns.push_back(static_cast<int>(at_ - line_start_) + 1);
        record.fields.push_back(field());
      } while (next(','));
      next('\r');
      if (!next('\n') && at_ < text_.size()) fail("expected a comma or the end of the line after a quoted field");
      new_line();
      if (record.fields.size() > 1 || !record.fields[0].empty()) records_.push_back(std::move(record));
    }
    return records_;
  }

 private:
  bool next(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // at_ stands behind a line end.
  void new_line() {
    ++line_;
    line_start_ = at_;
  }

  std::string field() {
    std::string value;
    if (!next('"')) {
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') value += text_[at_++];
      return value;
    }
    const int begin = line_;
    while (at_ < text_.size()) {
      if (next('"')) {
        if (!next('"')) return value;
        value += '"';
        continue;
      }
      value += text_[at_];
      if (text_[at_++] == '\n') new_line();
    }
    line_ = begin;
    fail("a quoted field is not closed");
  }

  [[noreturn]] void fail(const std::string& what) const { throw InputError({Problem{{file_, line_, 1}, "", what}}); }

  const std::string& text_;
  std::string file_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  std::vector<CsvRecord> records_;
};

}  // namespace

std::vector<CsvRecord> read_csv(const std::string& text, const std::string& file) {
  return CsvReader(text, file).read();
}

}  // namespace stepsim
