#include "sim/time.h"
