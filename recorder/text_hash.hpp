// Ids of texts and process groups: 64-bit hashes, alike on every rank and never 0.
#pragma once

#include <cstdint>
#include <string_view>

namespace plumbline::recorder {

std::uint64_t text_hash(std::string_view text) noexcept;

// From a group's name and its list of global ranks, as passed to define_group().
std::uint64_t group_hash(std::string_view name, std::string_view ranks) noexcept;

}  // namespace plumbline::recorder
