// Two questions to the CUDA driver that hooks may ask at any time: they synchronise nothing, are legal while a stream
// captures, and, since the runtime is not asked, leave its error state as it is.
#pragma once

namespace plumbline::shim::cuda {

// Whether what is put on the stream goes into a graph. The default stream cannot capture and is not asked about.
bool is_capturing(void* stream) noexcept;

// Device of the calling thread's context, -1 when it has none yet.
int current_device() noexcept;

}  // namespace plumbline::shim::cuda
