// process.h: starts the program itself and catches what it says.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stepsim {

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "stepsim.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Outcome {
  int code = -1;  // 128 + signal when it was killed
  std::string out;
  std::string err;
};

/// `stepsim ARGUMENTS` through the shell.
inline Outcome stepsim(const std::string& arguments, const std::string& environment = "") {
  const Folder folder;
  const std::string command = environment + " '" STEPSIM_BINARY "' " + arguments + " >'" + folder.file("out") +
                              "' 2>'" + folder.file("err") + "' </dev/null";
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, text_of(folder.file("out")), text_of(folder.file("err"))};
}

inline std::string data(const std::string& name) {
  return STEPSIM_SOURCE_DIR "/tests/tools/data/" + name;
}

}  // namespace stepsim
