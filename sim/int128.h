// int128.h: the compiler's 128-bit integers under a name that -Wpedantic accepts.
#pragma once

namespace stepsim {

__extension__ typedef __int128 Int128;

}  // namespace stepsim
