// How much is recorded.
#pragma once

#include <cstdint>

namespace plumbline::recorder {

enum class Level : std::uint8_t { kOff, kWatch, kDiagnose };

}  // namespace plumbline::recorder
