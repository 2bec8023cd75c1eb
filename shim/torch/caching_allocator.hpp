// PyTorch's CUDA caching allocator: blocks, segments and the requests that fail.
#pragma once

namespace plumbline::shim::adapter {

// Attaches to the allocator once it is initialised, which happens when the job first uses CUDA; until then, and ever
// after, a call costs one load. An adapter built without CUDA reports that once.
void follow_caching_allocator() noexcept;

}  // namespace plumbline::shim::adapter
