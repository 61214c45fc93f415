// output_file.h: results go to their target in one move, or to standard output.
//
// A file is written beside its target under a passing name and renamed when it is complete, so that an
// interrupted or failed run leaves what was there before. What is wrong with the target is found before any
// work is done.
#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <string_view>

namespace stepsim {

class OutputFile {
 public:
  /// Opens. `key` is the option that named the target ("--json"), for the InputError when it cannot be
  /// written.
  OutputFile(const std::string& key, const std::string& target);
  ~OutputFile();  // removes what was not committed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] std::ostream& stream() { return stream_; }
  /// Renames to the target; throws std::runtime_error when something could not be written.
  void commit();

 private:
  std::string target_;
  std::string passing_;  // empty: the target is a device or pipe and is written directly
  std::ofstream stream_;
};

/// The target of --json (or of the option `key`): none, a file, or standard output, which then carries nothing else.
class JsonOutput {
 public:
  explicit JsonOutput(const std::string& target, const std::string& key = "--json");

  [[nodiscard]] bool wanted() const { return owns_stdout_ || file_ != nullptr; }
  [[nodiscard]] bool owns_stdout() const { return owns_stdout_; }
  void write(std::string_view text);

 private:
  bool owns_stdout_ = false;
  std::unique_ptr<OutputFile> file_;
};

/// Writes to standard output and flushes; throws std::runtime_error when that fails (a closed pipe, a full
/// disk).
void print(std::string_view text);

}  // namespace stepsim
