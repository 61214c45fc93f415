#include "tools/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stepsim {

namespace {

bool set_in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool colour_on_stdout() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::strcmp(terminal, "dumb") == 0;
  return isatty(STDOUT_FILENO) != 0 && !dumb && !set_in_environment("NO_COLOR");
}

std::size_t columns_of_stdout() {
  if (const char* set = std::getenv("COLUMNS"); set != nullptr) {
    const long value = std::strtol(set, nullptr, 10);
    if (value > 0 && value <= 10'000) return static_cast<std::size_t>(value);
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

Progress::Progress(const std::string& text) : text_(text) {
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "%s ...", text_.c_str());
}

void Progress::show(std::uint32_t steps, double share) const {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\x1b[K%s: step %u, %.0f %%", text_.c_str(), steps, 100 * share);
}

void Progress::show_rows(std::size_t done, std::size_t of) const {
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\x1b[K%s: %zu of %zu", text_.c_str(), done, of);
}

Progress::~Progress() {
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\x1b[K");
}

void print_problems(const InputError& error) {
  for (const Problem& problem : error.problems()) std::fprintf(stderr, "%s\n", to_string(problem).c_str());
}

}  // namespace stepsim
