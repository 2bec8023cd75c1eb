// toml++, as every part of this program includes it: without exceptions, and with errors for all bad input. Some of its
// assertions fail on malformed text that the code behind them refuses; they are taken out, and with them the hints to
// the compiler that a release build makes of them.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(expression) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
