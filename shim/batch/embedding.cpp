// Shape of the batch: what the model's embedding is given.
//
// at::_ops::embedding::call(weight, indices, padding_idx, scale_grad_by_freq, sparse) is where Python's calls enter
// torch's dispatcher. The Tensor that it returns and the SymInt by value both travel by address.
#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/adapter_loader.hpp"
#include "shim/core/real_function.hpp"

namespace plumbline::shim {
namespace {

using Embedding = void*(void* result, const void* weight, const void* indices, void* padding_idx, bool, bool);

// Torch calls it, so torch has it: only a process that is not torch's could come here.
void* no_embedding(void* result, const void*, const void*, void*, bool, bool) { return result; }

constinit RealFunction<Embedding> real{
    {"_ZN2at4_ops9embedding4callERKNS_6TensorES4_N3c106SymIntEbb", "libtorch_cpu.so", kHookEmbedding}, no_embedding};

}  // namespace
}  // namespace plumbline::shim

extern "C" [[gnu::visibility("default")]] void* _ZN2at4_ops9embedding4callERKNS_6TensorES4_N3c106SymIntEbb(
    void* result, const void* weight, const void* indices, void* padding_idx, bool scale_grad_by_freq, bool sparse) {
  using namespace plumbline::shim;
  if (is_open()) {
    plumbline::recorder::hook_fired(kHookEmbedding);
    if (const PlumblineAdapter* adapter = loaded_adapter()) adapter->note_embedding(weight, indices);
  }
  return real.get(__builtin_return_address(0))(result, weight, indices, padding_idx, scale_grad_by_freq, sparse);
}
