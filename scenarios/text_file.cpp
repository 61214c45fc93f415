// text_file.cpp: reads an input file as text, refusing what cannot be a scenario before the parser sees it.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "scenarios/yaml_tree.h"

namespace stepsim {
namespace {

[[noreturn]] void refuse(SourcePlace place, const std::string& message) {
  throw InputError({Problem{std::move(place), "", message}});
}

/// Length of the UTF-8 sequence that starts at `at`; 0 when there is none (or it is a control character).
std::size_t sequence_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char first = byte(at);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t length = first >= 0xf5 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

void check_text(const std::string& text, const std::string& file) {
  int line = 1;
  int column = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) {
      const int byte = static_cast<unsigned char>(text[at]);
      refuse({file, line, column}, "expected a YAML text in UTF-8, found the byte " + std::to_string(byte));
    }
    column = text[at] == '\n' ? 1 : column + static_cast<int>(length);
    line += text[at] == '\n' ? 1 : 0;
    at += length;
  }
}

}  // namespace

std::string read_bytes(const std::string& file, const std::string& what, std::size_t most) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) refuse({file, 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse({file, 0, 0}, "expected " + what + ", found a directory");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse({file, 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
  std::string text(most + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most) {
    refuse({file, 0, 0}, "expected " + what + " of at most " + std::to_string(most >> 20) + " MiB, found a larger one");
  }
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // byte order mark
  return text;
}

std::string read_text(const std::string& file) {
  std::string text = read_bytes(file, "a YAML file");
  check_text(text, file);
  return text;
}

}  // namespace stepsim
