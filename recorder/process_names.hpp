// What the recorder's life cycle needs of the texts and groups that this process has named.
#pragma once

#include <cstdint>

namespace plumbline::recorder {

// This process's global rank as its first process group says; -1 before there is one.
std::int32_t rank_from_groups() noexcept;

// A new recording knows no text yet: for start(), before anything is recorded.
void forget_named_things() noexcept;

}  // namespace plumbline::recorder
