// A formatted line for the recorder's log: a hook that is off, an adapter that is missing. Rare.
#pragma once

namespace plumbline::shim {

[[gnu::format(printf, 1, 2)]] void log_line(const char* format, ...) noexcept;

}  // namespace plumbline::shim
