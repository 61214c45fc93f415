#include "tools/command_line.h"

int main(int argc, char** argv) {
  return stepsim::command_line(argc, argv);
}
