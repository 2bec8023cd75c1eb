#include "checks/testing/collective_job.hpp"

#include <fmt/format.h>

#include "reader/names.hpp"

namespace plumbline::checks::testing {

Content floats(const std::vector<float>& values, std::uint64_t blocks) {
  Content content;
  content.bytes = bytes_of(values);
  content.count = values.size();
  content.blocks = blocks;
  return content;
}

Content hashed(const std::vector<std::uint64_t>& hashes) {
  Content content;
  content.count = 1000 * hashes.size();
  content.blocks = hashes.size();
  content.hashes = hashes;
  content.places = {0};  // an amount between all and none: no element is kept
  content.bytes = {0, 0, 0, 0};
  return content;
}

CollectiveJob::CollectiveJob(const std::string& directory, int ranks, std::string_view backend) {
  std::string list;
  for (int rank = 0; rank < ranks; ++rank) list += fmt::format("{}{}", rank > 0 ? "," : "", rank);
  for (int rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<FakeRank>(directory, rank, ranks));
    captures_.push_back(std::make_unique<CaptureJob>(directory, rank));
    group_ = ranks_.back()->group("0", "default_pg", list, rank, backend);
  }
}

CollectiveJob::Call CollectiveJob::call(Op op, ReduceOp reduce, int root) {
  Call call{op, reduce, root, calls_++, {}};
  for (auto& rank : ranks_) {
    CallDetails details;
    details.reduce = reduce;
    details.peer = root;
    details.site = "train.py:12 in step";
    const double ms = 10 * static_cast<double>(calls_);
    call.ids.push_back(rank->call(ms, group_, op, details));
    rank->end(ms + 1, call.ids.back());
  }
  return call;
}

CollectiveJob::Call CollectiveJob::message() {
  Call call{Op::kSend, ReduceOp::kNone, 1, messages_++, {}};
  for (std::size_t i = 0; i < 2; ++i) {
    CallDetails details;
    details.peer = i == 0 ? 1 : 0;
    call.ids.push_back(ranks_[i]->call(500, group_, i == 0 ? Op::kSend : Op::kRecv, details));
    ranks_[i]->end(501, call.ids.back());
  }
  return call;
}

void CollectiveJob::put(const Call& call, int rank, const std::string& side, const Content& content) {
  const auto index = static_cast<std::size_t>(rank);
  Op op = call.op;
  if (op == Op::kSend && rank == 1) op = Op::kRecv;
  TensorPlace place;
  place.key = call.ids[index];
  place.indices = content.places;
  place.blocks = content.hashes;
  place.detail = fmt::format(
      R"({{"op":{},"reduce":{},"group":"{}","seq":{},"peer":{},"tensor":0,"tensors":1,"blocks":{}{}}})",
      static_cast<int>(op), static_cast<int>(call.reduce), group_, call.seq, call.peer, content.blocks, content.more);
  captures_[index]->tensor("collective." + side, std::string(reader::name_of(op)), content.step, content.dtype,
                           {content.count}, content.bytes, place);
}

void CollectiveJob::finish() {
  for (auto& rank : ranks_) rank->exit(0);
  for (auto& capture : captures_) capture->finish();
}

}  // namespace plumbline::checks::testing
