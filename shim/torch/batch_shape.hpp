// Shape of the batches, as the embedding of the tokens sees them.
#pragma once

namespace plumbline::shim::adapter {

// Before `indices` are looked up in `weight`, both at::Tensor. Of several embeddings the one with the largest
// vocabulary speaks; its size is told as facts. Any thread; needs no interpreter lock, and runs no Python.
void note_embedding(const void* weight, const void* indices) noexcept;

}  // namespace plumbline::shim::adapter
