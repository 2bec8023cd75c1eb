// What the parts of the stand-in CUDA runtime share.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

namespace plumbline::standin {

// Keeps the error for cudaGetLastError, as the runtime does, and returns it. Success leaves an older error in place.
cudaError_t result(cudaError_t code);

// Every call that needs a device makes device 0 current on a thread that has none.
void use_device();

// Runs the work, or adds it to the graph that the stream captures.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

// True when a call that may not happen during a capture happens during one; the capture is then broken.
bool breaks_a_capture();

}  // namespace plumbline::standin
