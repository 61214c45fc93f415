// input_error.h: what is wrong with an input, where it stands, and what would be right.
//
// Every check of a user's input reports through this type, several problems at once; the command line prints
// one line per problem ("file:line:column: key: message") and exits 2.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace stepsim {

/// A place in an input file. line and column count from 1; 0 means "the file as a whole".
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
};

/// One thing that is wrong. key: the dotted key ("cluster.shape"), may be empty. message: what was expected, what
/// was found and what would be valid.
struct Problem {
  SourcePlace place;
  std::string key;
  std::string message;
};

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Problem> problems);
  /// A problem without a place; the loader adds the place where it knows it.
  InputError(std::string key, std::string message);

  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// "file:line:column: key: message", leaving out what is not known.
std::string to_string(const Problem& problem);

/// The candidate nearest to `word` by edit distance, or empty when none is near (distance > 2 and > a third of it).
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace stepsim
