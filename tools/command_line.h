// command_line.h: the program: reads the command line, runs one command, turns errors into messages and exit codes.
#pragma once

namespace stepsim {

/// Exit codes: 0 done; 1 a deadlock, an unmet expectation or an internal error; 2 wrong input or usage; 3 does not
/// fit memory.
int command_line(int argc, char** argv);

}  // namespace stepsim
