#pragma once

namespace plumbline::recorder {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace plumbline::recorder
