// `.metadata` of torch.distributed.checkpoint, as PyTorch pickles it.
//
//   write_file(path, distributed_metadata({{"model.w", {"model", "w"}, {2, 3}}},
//                                         {{"model.w", {0, 0}, "__0_0.distcp", 0, 700}}));
#pragma once

#include <string>
#include <vector>

namespace plumbline::reader::testing {

struct StoredTensor {
  std::string name;
  std::vector<std::string> path;  // in the state_dict, two words
  std::vector<int> shape;
};

struct StoredPart {
  std::string tensor;
  std::vector<int> offset;
  std::string file;
  int at = 0;
  int length = 0;
};

std::string distributed_metadata(const std::vector<StoredTensor>& tensors, const std::vector<StoredPart>& parts);

}  // namespace plumbline::reader::testing
