// Exit statuses of run-reader; scripts rely on them.
#pragma once

namespace plumbline::tools {

inline constexpr int kExitFine = 0;
inline constexpr int kExitFindings = 1;
inline constexpr int kExitUsage = 2;         // wrong command line, or nothing readable
inline constexpr int kExitInconclusive = 3;  // a verdict is open, or part of the data is lost

}  // namespace plumbline::tools
