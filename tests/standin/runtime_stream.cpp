// Stand-in CUDA runtime: streams, capture, graphs.
#include <cuda.h>

#include <atomic>
#include <utility>

#include "tests/standin/capture.hpp"
#include "tests/standin/runtime.hpp"

namespace plumbline::standin {
namespace {

// The one stream that captures in global mode, if any.
std::atomic<CUstream_st*> global_capture{nullptr};

bool captures(cudaStream_t stream) { return stream != nullptr && stream->capturing != nullptr; }

// A call that waits for a stream may not be made while that stream captures.
cudaError_t wait_for(cudaStream_t stream) {
  if (!captures(stream)) return cudaSuccess;
  stream->invalidated = true;
  return result(cudaErrorStreamCaptureUnsupported);
}

cudaError_t launch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (graph == nullptr) return result(cudaErrorInvalidValue);
  for (const auto& node : graph->nodes) enqueue(stream, node);
  return cudaSuccess;
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  if (captures(stream)) {
    stream->capturing->nodes.push_back(std::move(work));
  } else {
    work();
  }
  return cudaSuccess;
}

bool breaks_a_capture() {
  CUstream_st* capturing = global_capture.load();
  if (capturing != nullptr) capturing->invalidated = true;
  return capturing != nullptr;
}

}  // namespace plumbline::standin

using plumbline::standin::global_capture;
using plumbline::standin::result;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  plumbline::standin::use_device();
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return plumbline::standin::wait_for(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return plumbline::standin::wait_for(stream); }

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return plumbline::standin::enqueue(stream, [=] { function(data); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (stream == nullptr || stream->capturing != nullptr) return result(cudaErrorIllegalState);
  stream->capturing = new CUgraph_st;
  stream->invalidated = false;
  stream->global_mode = mode == cudaStreamCaptureModeGlobal;
  if (stream->global_mode) global_capture = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (stream == nullptr || stream->capturing == nullptr) return result(cudaErrorIllegalState);
  if (stream->global_mode) global_capture = nullptr;
  *graph = std::exchange(stream->capturing, nullptr);
  if (!stream->invalidated) return cudaSuccess;
  delete std::exchange(*graph, nullptr);
  return result(cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  CUstreamCaptureStatus asked{};
  cuStreamIsCapturing(stream, &asked);
  *status = static_cast<cudaStreamCaptureStatus>(asked);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{graph->nodes};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return plumbline::standin::launch(graph, stream);
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t graph, cudaStream_t stream) {
  return plumbline::standin::launch(graph, stream);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}

}  // extern "C"
