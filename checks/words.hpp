// Sizes, durations and rank lists as a person reads them.
//
//   bytes_text(1536)              "1.5 KiB"
//   duration_text(83'000'000)     "83.0 ms"
//   ranks_text({0, 1, 2, 7})      "0-2,7"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::checks {

std::string bytes_text(std::uint64_t bytes);
std::string duration_text(std::uint64_t nanoseconds);
// Sorted and shortened to intervals; of more than `most` intervals only the first ones and the count are given.
std::string ranks_text(std::vector<std::int32_t> ranks, std::size_t most = 12);
// "rank 3", "ranks 0-2,7".
std::string ranks_phrase(const std::vector<std::int32_t>& ranks);

}  // namespace plumbline::checks
