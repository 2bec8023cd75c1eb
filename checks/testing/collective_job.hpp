// One collective as its ranks would have recorded and captured it, for the tests of what looks at captured collectives.
//
//   CollectiveJob job(directory.path(), 2);
//   const auto call = job.call(Op::kAllReduce, ReduceOp::kSum);
//   job.put(call, 0, "in", floats({1, 2}));
//   job.put(call, 0, "out", floats({4, 6}));
//   job.finish();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks::testing {

struct Content {
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::uint8_t> bytes{};    // of all elements, or of those at `places`
  std::vector<std::uint64_t> places{};  // of a sample
  std::uint64_t count = 0;              // elements of the tensor
  std::uint64_t blocks = 1;
  std::vector<std::uint64_t> hashes{};  // of the blocks
  std::string more{};                   // of the detail: ,"changed":true
  std::int64_t step = 0;
};
Content floats(const std::vector<float>& values, std::uint64_t blocks = 1);
// Of which hashes alone were kept.
Content hashed(const std::vector<std::uint64_t>& hashes);

class CollectiveJob {
 public:
  CollectiveJob(const std::string& directory, int ranks, std::string_view backend = "gloo");

  struct Call {
    Op op;
    ReduceOp reduce;
    int peer;
    std::uint64_t seq;
    std::vector<std::uint64_t> ids;  // by rank
  };
  Call call(Op op, ReduceOp reduce = ReduceOp::kNone, int root = -1);
  // A message from rank 0 to rank 1.
  Call message();
  // Side: "in" or "out".
  void put(const Call& call, int rank, const std::string& side, const Content& content);
  void finish();

 private:
  std::uint64_t group_ = 0;
  std::vector<std::unique_ptr<FakeRank>> ranks_;
  std::vector<std::unique_ptr<CaptureJob>> captures_;
  std::uint64_t calls_ = 0;
  std::uint64_t messages_ = 0;
};

}  // namespace plumbline::checks::testing
