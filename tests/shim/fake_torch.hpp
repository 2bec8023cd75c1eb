// As much of c10d as the preload object touches: the same names, so the same symbols and the same calling convention,
// and the same way of working (gloo's work objects, its worker thread, collectives made of others).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace at {
struct Tensor {
  std::int64_t elements = 0;
};
}  // namespace at

namespace c10 {
namespace detail {
template <class T>
struct intrusive_target_default_null_type {};
}  // namespace detail

template <class T, class Null = detail::intrusive_target_default_null_type<T>>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  explicit intrusive_ptr(T* target) : target_(target) {}
  intrusive_ptr(const intrusive_ptr& other) : target_(other.target_) {
    if (target_ != nullptr) target_->references.fetch_add(1);
  }
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~intrusive_ptr() {
    if (target_ != nullptr && target_->references.fetch_sub(1) == 1) delete target_;
  }
  T* operator->() const { return target_; }
  T* get() const { return target_; }
  T* release() { return std::exchange(target_, nullptr); }

 private:
  T* target_ = nullptr;
};
}  // namespace c10

namespace c10d {

struct AllreduceOptions {};
struct AllreduceCoalescedOptions {};
struct ReduceOptions {};
struct BroadcastOptions {};
struct AllgatherOptions {};
struct ReduceScatterOptions {};
struct AllToAllOptions {};
struct GatherOptions {};
struct ScatterOptions {};
struct BarrierOptions {};

class Work {
 public:
  virtual ~Work() = default;
  virtual bool wait(std::chrono::milliseconds timeout);
  std::atomic<int> references{1};

 protected:
  void finish(std::exception_ptr error);

  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false;
  std::exception_ptr error_;
};

using Tensors = std::vector<at::Tensor>;
using TensorLists = std::vector<Tensors>;
using WorkPtr = c10::intrusive_ptr<Work>;
using Counts = std::vector<std::int64_t>;

class Backend {
 public:
  virtual ~Backend() = default;
  virtual WorkPtr allreduce(Tensors&, const AllreduceOptions&) = 0;
  virtual WorkPtr allreduce_sparse(Tensors&, const AllreduceOptions&) = 0;
  virtual WorkPtr allreduce_coalesced(Tensors&, const AllreduceCoalescedOptions&) = 0;
  virtual WorkPtr reduce(Tensors&, const ReduceOptions&) = 0;
  virtual WorkPtr broadcast(Tensors&, const BroadcastOptions&) = 0;
  virtual WorkPtr allgather(TensorLists&, Tensors&, const AllgatherOptions&) = 0;
  virtual WorkPtr _allgather_base(at::Tensor&, at::Tensor&, const AllgatherOptions&) = 0;
  virtual WorkPtr allgather_coalesced(TensorLists&, Tensors&, const AllgatherOptions&) = 0;
  virtual WorkPtr allgather_into_tensor_coalesced(Tensors&, Tensors&, const AllgatherOptions&) = 0;
  virtual WorkPtr reduce_scatter(Tensors&, TensorLists&, const ReduceScatterOptions&) = 0;
  virtual WorkPtr _reduce_scatter_base(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) = 0;
  virtual WorkPtr reduce_scatter_tensor_coalesced(Tensors&, Tensors&, const ReduceScatterOptions&) = 0;
  virtual WorkPtr alltoall(Tensors&, Tensors&, const AllToAllOptions&) = 0;
  virtual WorkPtr alltoall_base(at::Tensor&, at::Tensor&, Counts&, Counts&, const AllToAllOptions&) = 0;
  virtual WorkPtr gather(TensorLists&, Tensors&, const GatherOptions&) = 0;
  virtual WorkPtr scatter(Tensors&, TensorLists&, const ScatterOptions&) = 0;
  virtual WorkPtr send(Tensors&, int to, int tag) = 0;
  virtual WorkPtr recv(Tensors&, int from, int tag) = 0;
  virtual WorkPtr recvAnysource(Tensors&, int tag) = 0;
  virtual WorkPtr barrier(const BarrierOptions&) = 0;
  virtual void monitoredBarrier(const BarrierOptions&, bool all_ranks) = 0;
  // The names of torch 2.15.
  virtual WorkPtr all_gather_single(at::Tensor&, at::Tensor&, const AllgatherOptions&) = 0;
  virtual WorkPtr all_gather_single_coalesced(Tensors&, Tensors&, const AllgatherOptions&) = 0;
  virtual WorkPtr reduce_scatter_single(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) = 0;
  virtual WorkPtr reduce_scatter_single_coalesced(Tensors&, Tensors&, const ReduceScatterOptions&) = 0;
  virtual WorkPtr all_to_all_single(at::Tensor&, at::Tensor&, Counts&, Counts&, const AllToAllOptions&) = 0;
  virtual WorkPtr gather_single(at::Tensor&, at::Tensor&, const GatherOptions&) = 0;
};

#define FAKE_BACKEND_METHODS                                                                              \
  WorkPtr allreduce(Tensors&, const AllreduceOptions&) override;                                          \
  WorkPtr allreduce_sparse(Tensors&, const AllreduceOptions&) override;                                   \
  WorkPtr allreduce_coalesced(Tensors&, const AllreduceCoalescedOptions&) override;                       \
  WorkPtr reduce(Tensors&, const ReduceOptions&) override;                                                \
  WorkPtr broadcast(Tensors&, const BroadcastOptions&) override;                                          \
  WorkPtr allgather(TensorLists&, Tensors&, const AllgatherOptions&) override;                            \
  WorkPtr _allgather_base(at::Tensor&, at::Tensor&, const AllgatherOptions&) override;                    \
  WorkPtr allgather_coalesced(TensorLists&, Tensors&, const AllgatherOptions&) override;                  \
  WorkPtr allgather_into_tensor_coalesced(Tensors&, Tensors&, const AllgatherOptions&) override;          \
  WorkPtr reduce_scatter(Tensors&, TensorLists&, const ReduceScatterOptions&) override;                   \
  WorkPtr _reduce_scatter_base(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) override;           \
  WorkPtr reduce_scatter_tensor_coalesced(Tensors&, Tensors&, const ReduceScatterOptions&) override;      \
  WorkPtr alltoall(Tensors&, Tensors&, const AllToAllOptions&) override;                                  \
  WorkPtr alltoall_base(at::Tensor&, at::Tensor&, Counts&, Counts&, const AllToAllOptions&) override;     \
  WorkPtr gather(TensorLists&, Tensors&, const GatherOptions&) override;                                  \
  WorkPtr scatter(Tensors&, TensorLists&, const ScatterOptions&) override;                                \
  WorkPtr send(Tensors&, int to, int tag) override;                                                       \
  WorkPtr recv(Tensors&, int from, int tag) override;                                                     \
  WorkPtr recvAnysource(Tensors&, int tag) override;                                                      \
  WorkPtr all_gather_single(at::Tensor&, at::Tensor&, const AllgatherOptions&) override;                  \
  WorkPtr all_gather_single_coalesced(Tensors&, Tensors&, const AllgatherOptions&) override;              \
  WorkPtr reduce_scatter_single(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) override;          \
  WorkPtr reduce_scatter_single_coalesced(Tensors&, Tensors&, const ReduceScatterOptions&) override;      \
  WorkPtr all_to_all_single(at::Tensor&, at::Tensor&, Counts&, Counts&, const AllToAllOptions&) override; \
  WorkPtr gather_single(at::Tensor&, at::Tensor&, const GatherOptions&) override;                         \
  WorkPtr barrier(const BarrierOptions&) override;

// Executes on a thread of its own. An empty list of tensors is refused by an exception of the call, a negative number
// of elements fails while it is executed, and receiving from rank -2 fails while it is waited for.
class ProcessGroupGloo : public Backend {
 public:
  class AsyncWork : public Work {
   public:
    explicit AsyncWork(std::int64_t elements) : elements_(elements) {}
    static void execute(const c10::intrusive_ptr<AsyncWork>& work);

   private:
    void run() const;
    void finishWorkGloo();
    void finishWorkGlooError(const std::exception_ptr& error);

    std::int64_t elements_;
  };

  class SendWork : public Work {
   public:
    bool wait(std::chrono::milliseconds timeout) override;
  };

  class RecvWork : public Work {
   public:
    explicit RecvWork(bool arrives) : arrives_(arrives) {}
    bool wait(std::chrono::milliseconds timeout) override;

   private:
    bool arrives_;
  };

  ProcessGroupGloo();
  ~ProcessGroupGloo() override;

  FAKE_BACKEND_METHODS
  void monitoredBarrier(const BarrierOptions&, bool all_ranks) override;

 private:
  WorkPtr start(std::int64_t elements);
  void enqueue(c10::intrusive_ptr<AsyncWork> work);
  void run_loop();

  std::mutex mutex_;
  std::condition_variable queue_changed_;
  std::deque<c10::intrusive_ptr<AsyncWork>> queue_;
  bool stopping_ = false;
  std::thread worker_;
};

// Launches and returns, as a backend of a device does.
class ProcessGroupNCCL : public Backend {
 public:
  FAKE_BACKEND_METHODS
  void monitoredBarrier(const BarrierOptions&, bool /*all_ranks*/) override {}
};

}  // namespace c10d
