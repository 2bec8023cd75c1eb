// Stand-in CUDA runtime: devices, versions, errors.
#include <cuda.h>

#include <cstdint>
#include <cstdlib>

#include "tests/standin/runtime.hpp"

namespace plumbline::standin {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

int device_count() {
  const char* count = std::getenv("PLUMBLINE_STANDIN_DEVICES");
  return count != nullptr ? std::atoi(count) : 8;
}

}  // namespace

cudaError_t result(cudaError_t code) {
  if (code != cudaSuccess) last_error = code;
  return code;
}

void use_device() {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  if (context == nullptr) cuCtxSetCurrent(reinterpret_cast<CUcontext>(std::uintptr_t{1}));
}

}  // namespace plumbline::standin

using plumbline::standin::result;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = plumbline::standin::device_count();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= plumbline::standin::device_count()) return result(cudaErrorInvalidDevice);
  cuCtxSetCurrent(reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1));
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  if (cuCtxGetDevice(device) != CUDA_SUCCESS) *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return plumbline::standin::breaks_a_capture() ? result(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = plumbline::standin::last_error;
  plumbline::standin::last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return plumbline::standin::last_error; }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    default:
      return "another error of the stand-in runtime";
  }
}

}  // extern "C"
