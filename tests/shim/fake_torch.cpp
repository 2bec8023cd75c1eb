#include "tests/shim/fake_torch.hpp"

#include <stdexcept>

namespace c10d {
namespace {

template <class List>
void require_some(const List& list) {
  if (list.empty()) throw std::invalid_argument("requires a non-empty tensor list");
}

}  // namespace

bool Work::wait(std::chrono::milliseconds /*timeout*/) {
  std::unique_lock lock(mutex_);
  done_changed_.wait(lock, [this] { return done_; });
  if (error_) std::rethrow_exception(error_);
  return true;
}

void Work::finish(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  done_ = true;
  error_ = std::move(error);
  done_changed_.notify_all();
}

void ProcessGroupGloo::AsyncWork::execute(const c10::intrusive_ptr<AsyncWork>& work) {
  try {
    work->run();
  } catch (...) {
    work->finishWorkGlooError(std::current_exception());
    return;
  }
  work->finishWorkGloo();
}

void ProcessGroupGloo::AsyncWork::run() const {
  if (elements_ < 0) throw std::runtime_error("Connection closed by peer");
}

void ProcessGroupGloo::AsyncWork::finishWorkGloo() { finish(nullptr); }
void ProcessGroupGloo::AsyncWork::finishWorkGlooError(const std::exception_ptr& error) { finish(error); }

bool ProcessGroupGloo::SendWork::wait(std::chrono::milliseconds /*timeout*/) { return true; }

bool ProcessGroupGloo::RecvWork::wait(std::chrono::milliseconds /*timeout*/) {
  if (!arrives_) throw std::runtime_error("Timed out waiting for a message");
  return true;
}

ProcessGroupGloo::ProcessGroupGloo() : worker_([this] { run_loop(); }) {}

ProcessGroupGloo::~ProcessGroupGloo() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  queue_changed_.notify_all();
  worker_.join();
}

void ProcessGroupGloo::run_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    queue_changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const c10::intrusive_ptr<AsyncWork> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    AsyncWork::execute(work);
    lock.lock();
  }
}

void ProcessGroupGloo::enqueue(c10::intrusive_ptr<AsyncWork> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  queue_changed_.notify_all();
}

WorkPtr ProcessGroupGloo::start(std::int64_t elements) {
  c10::intrusive_ptr<AsyncWork> work(new AsyncWork(elements));
  c10::intrusive_ptr<AsyncWork> queued = work;
  enqueue(std::move(queued));
  return WorkPtr(work.release());
}

WorkPtr ProcessGroupGloo::allreduce(Tensors& tensors, const AllreduceOptions&) {
  require_some(tensors);
  return start(tensors[0].elements);
}
WorkPtr ProcessGroupGloo::allreduce_sparse(Tensors& tensors, const AllreduceOptions& options) {
  return allreduce(tensors, options);
}
WorkPtr ProcessGroupGloo::allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions&) {
  require_some(tensors);
  return start(tensors[0].elements);
}
WorkPtr ProcessGroupGloo::reduce(Tensors& tensors, const ReduceOptions&) { return start(tensors.at(0).elements); }
WorkPtr ProcessGroupGloo::broadcast(Tensors& tensors, const BroadcastOptions&) { return start(tensors.at(0).elements); }
WorkPtr ProcessGroupGloo::allgather(TensorLists&, Tensors& inputs, const AllgatherOptions&) {
  return start(inputs.at(0).elements);
}
WorkPtr ProcessGroupGloo::_allgather_base(at::Tensor&, at::Tensor& input, const AllgatherOptions& options) {
  TensorLists outputs;
  Tensors inputs{input};
  return allgather(outputs, inputs, options);
}
WorkPtr ProcessGroupGloo::allgather_coalesced(TensorLists&, Tensors& inputs, const AllgatherOptions&) {
  return start(inputs.at(0).elements);
}
WorkPtr ProcessGroupGloo::allgather_into_tensor_coalesced(Tensors&, Tensors& inputs, const AllgatherOptions&) {
  return start(inputs.at(0).elements);
}
WorkPtr ProcessGroupGloo::reduce_scatter(Tensors& outputs, TensorLists&, const ReduceScatterOptions& options) {
  return reduce_scatter_tensor_coalesced(outputs, outputs, options);
}
WorkPtr ProcessGroupGloo::_reduce_scatter_base(at::Tensor&, at::Tensor& input, const ReduceScatterOptions& options) {
  Tensors inputs{input};
  return reduce_scatter_tensor_coalesced(inputs, inputs, options);
}
WorkPtr ProcessGroupGloo::reduce_scatter_tensor_coalesced(Tensors&, Tensors& inputs, const ReduceScatterOptions&) {
  require_some(inputs);
  WorkPtr last;
  for (const at::Tensor& input : inputs) {
    Tensors one{input};
    last = allreduce(one, {});
  }
  return last;
}
WorkPtr ProcessGroupGloo::alltoall(Tensors&, Tensors&, const AllToAllOptions&) {
  throw std::runtime_error("Backend gloo does not support alltoall");
}
WorkPtr ProcessGroupGloo::alltoall_base(at::Tensor&, at::Tensor& input, Counts&, Counts&, const AllToAllOptions&) {
  return start(input.elements);
}
WorkPtr ProcessGroupGloo::gather(TensorLists&, Tensors& inputs, const GatherOptions&) {
  return start(inputs.at(0).elements);
}
WorkPtr ProcessGroupGloo::scatter(Tensors& outputs, TensorLists&, const ScatterOptions&) {
  return start(outputs.at(0).elements);
}
WorkPtr ProcessGroupGloo::send(Tensors& tensors, int, int) {
  require_some(tensors);
  return WorkPtr(new SendWork);
}
WorkPtr ProcessGroupGloo::recv(Tensors& tensors, int from, int) {
  require_some(tensors);
  return WorkPtr(new RecvWork(from != -2));
}
WorkPtr ProcessGroupGloo::recvAnysource(Tensors& tensors, int) {
  require_some(tensors);
  return WorkPtr(new RecvWork(true));
}
WorkPtr ProcessGroupGloo::all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& options) {
  return _allgather_base(output, input, options);
}
WorkPtr ProcessGroupGloo::all_gather_single_coalesced(Tensors&, Tensors& inputs, const AllgatherOptions&) {
  return start(inputs.at(0).elements);
}
WorkPtr ProcessGroupGloo::reduce_scatter_single(at::Tensor& output, at::Tensor& input,
                                                const ReduceScatterOptions& options) {
  return _reduce_scatter_base(output, input, options);
}
WorkPtr ProcessGroupGloo::reduce_scatter_single_coalesced(Tensors& outputs, Tensors& inputs,
                                                          const ReduceScatterOptions& options) {
  return reduce_scatter_tensor_coalesced(outputs, inputs, options);
}
WorkPtr ProcessGroupGloo::all_to_all_single(at::Tensor&, at::Tensor& input, Counts&, Counts&, const AllToAllOptions&) {
  return start(input.elements);
}
WorkPtr ProcessGroupGloo::gather_single(at::Tensor&, at::Tensor&, const GatherOptions&) {
  throw std::runtime_error("Backend gloo does not support gather_single");
}
WorkPtr ProcessGroupGloo::barrier(const BarrierOptions&) { return start(0); }

void ProcessGroupGloo::monitoredBarrier(const BarrierOptions&, bool) {
  Tensors token{at::Tensor{1}};
  send(token, 0, 0)->wait(std::chrono::milliseconds(0));
  recv(token, 0, 0)->wait(std::chrono::milliseconds(0));
}

namespace {

class DeviceWork : public Work {
 public:
  DeviceWork() { finish(nullptr); }
};
WorkPtr launched() { return WorkPtr(new DeviceWork); }

}  // namespace

WorkPtr ProcessGroupNCCL::allreduce(Tensors&, const AllreduceOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::allreduce_sparse(Tensors&, const AllreduceOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::allreduce_coalesced(Tensors&, const AllreduceCoalescedOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::reduce(Tensors&, const ReduceOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::broadcast(Tensors&, const BroadcastOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::allgather(TensorLists&, Tensors&, const AllgatherOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::_allgather_base(at::Tensor&, at::Tensor&, const AllgatherOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::allgather_coalesced(TensorLists&, Tensors&, const AllgatherOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::allgather_into_tensor_coalesced(Tensors&, Tensors&, const AllgatherOptions&) {
  return launched();
}
WorkPtr ProcessGroupNCCL::reduce_scatter(Tensors&, TensorLists&, const ReduceScatterOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::_reduce_scatter_base(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) {
  return launched();
}
WorkPtr ProcessGroupNCCL::reduce_scatter_tensor_coalesced(Tensors&, Tensors&, const ReduceScatterOptions&) {
  return launched();
}
WorkPtr ProcessGroupNCCL::alltoall(Tensors&, Tensors&, const AllToAllOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::alltoall_base(at::Tensor&, at::Tensor&, Counts&, Counts&, const AllToAllOptions&) {
  return launched();
}
WorkPtr ProcessGroupNCCL::gather(TensorLists&, Tensors&, const GatherOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::scatter(Tensors&, TensorLists&, const ScatterOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::send(Tensors&, int, int) { return launched(); }
WorkPtr ProcessGroupNCCL::recv(Tensors&, int, int) { return launched(); }
WorkPtr ProcessGroupNCCL::recvAnysource(Tensors&, int) { return launched(); }
WorkPtr ProcessGroupNCCL::all_gather_single(at::Tensor&, at::Tensor&, const AllgatherOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::all_gather_single_coalesced(Tensors&, Tensors&, const AllgatherOptions&) {
  return launched();
}
WorkPtr ProcessGroupNCCL::reduce_scatter_single(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) {
  return launched();
}
WorkPtr ProcessGroupNCCL::reduce_scatter_single_coalesced(Tensors&, Tensors&, const ReduceScatterOptions&) {
  return launched();
}
WorkPtr ProcessGroupNCCL::all_to_all_single(at::Tensor&, at::Tensor&, Counts&, Counts&, const AllToAllOptions&) {
  return launched();
}
WorkPtr ProcessGroupNCCL::gather_single(at::Tensor&, at::Tensor&, const GatherOptions&) { return launched(); }
WorkPtr ProcessGroupNCCL::barrier(const BarrierOptions&) { return launched(); }

}  // namespace c10d

// The job finds its backends without linking this library, as Python finds torch.
extern "C" c10d::Backend* fake_gloo() { return new c10d::ProcessGroupGloo; }
extern "C" c10d::Backend* fake_nccl() { return new c10d::ProcessGroupNCCL; }
