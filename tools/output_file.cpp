#include "tools/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "sim/input_error.h"

namespace stepsim {

namespace {

namespace fs = std::filesystem;

/// Follows links, so that a linked target is replaced and not the link.
fs::path resolved(const fs::path& target) {
  std::error_code error;
  const fs::path real = fs::canonical(target, error);
  return error ? target : real;
}

void check_target(const std::string& key, const fs::path& target) {
  std::error_code error;
  if (target.empty()) throw InputError(key, "expected a file name or -, found an empty one");
  if (fs::is_directory(target, error))
    throw InputError(key, "'" + target.string() + "' is a directory, expected a file");
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    throw InputError(
        key, "there is no directory '" + folder.string() + "' to write '" + target.filename().string() + "' in");
  }
}

/// mkstemp makes the file private; give it what a plain open would.
void usual_permissions(int descriptor) {
  const mode_t mask = umask(0);
  umask(mask);
  // A file system without permissions may refuse: the file is usable all the same.
  [[maybe_unused]] const int result = fchmod(descriptor, 0666 & ~mask);
}

std::string passing_file(const std::string& key, const fs::path& target) {
  std::string name = target.string() + ".XXXXXX";
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) throw InputError(key, "cannot write '" + target.string() + "': " + std::strerror(errno));
  usual_permissions(descriptor);
  close(descriptor);
  return name;
}

}  // namespace

OutputFile::OutputFile(const std::string& key, const std::string& target) : target_(resolved(target).string()) {
  check_target(key, target_);
  std::error_code error;
  const bool device = fs::exists(target_, error) && !fs::is_regular_file(target_, error);
  if (!device) passing_ = passing_file(key, target_);
  stream_.open(device ? target_ : passing_, std::ios::binary | std::ios::trunc);
  if (!stream_) {
    if (!device) fs::remove(passing_, error);
    throw InputError(key, "cannot write '" + target_ + "'");
  }
}

OutputFile::~OutputFile() {
  std::error_code error;
  if (!passing_.empty()) fs::remove(passing_, error);
}

void OutputFile::commit() {
  stream_.close();
  if (!stream_) throw std::runtime_error("could not write all of '" + target_ + "'");
  if (!passing_.empty()) fs::rename(passing_, target_);
  passing_.clear();
}

JsonOutput::JsonOutput(const std::string& target, const std::string& key) : owns_stdout_(target == "-") {
  if (!target.empty() && !owns_stdout_) file_ = std::make_unique<OutputFile>(key, target);
}

void JsonOutput::write(std::string_view text) {
  if (file_ == nullptr) return print(text);
  file_->stream() << text;
  file_->commit();
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("could not write to standard output");
  }
}

}  // namespace stepsim
