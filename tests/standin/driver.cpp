// A stand-in for libcuda.so.1: the few driver functions that Plumbline and the stand-in runtime ask.
#include <cuda.h>

#include <cstdint>

#include "tests/standin/capture.hpp"

namespace {

// A context is its device's number plus one, as a handle.
thread_local CUcontext current_context = nullptr;

}  // namespace

extern "C" {

CUresult cuCtxSetCurrent(CUcontext context) {
  current_context = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current_context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  if (current_context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = static_cast<CUdevice>(reinterpret_cast<std::uintptr_t>(current_context)) - 1;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  if (stream == nullptr || stream->capturing == nullptr) {
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
  } else {
    *status = stream->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  }
  return CUDA_SUCCESS;
}

}  // extern "C"
