// Work over many traces on a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace plumbline::reader {

// Calls work(0) … work(count - 1), each once, on up to `threads` threads (0: as many as there are cores), and returns
// when all are done. `work` must not throw.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace plumbline::reader
