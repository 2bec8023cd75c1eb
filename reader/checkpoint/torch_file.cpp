#include "reader/checkpoint/torch_file.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "reader/checkpoint/safetensors.hpp"
#include "reader/checkpoint/value_walk.hpp"
#include "reader/checkpoint/zip_directory.hpp"
#include "reader/import/pickle.hpp"
#include "reader/import/pickle_objects.hpp"
#include "reader/import/pickle_opcodes.hpp"

namespace plumbline::reader {
namespace {

using imports::PlainData;
using imports::Value;

// Values laid out for each byte of the pickle: a shared value takes two bytes more.
constexpr std::uint64_t kValuesPerByte = 4;
// Tensors that do not lie in their storage row by row are copied, beyond the size of the file at most so much.
constexpr std::uint64_t kMostCopied = std::uint64_t{64} << 20;

std::optional<DType> dtype_of_storage(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, DType>, 12> kStorages = {{
      {"torch.FloatStorage", DType::kF32},
      {"torch.BFloat16Storage", DType::kBF16},
      {"torch.HalfStorage", DType::kF16},
      {"torch.DoubleStorage", DType::kF64},
      {"torch.LongStorage", DType::kI64},
      {"torch.IntStorage", DType::kI32},
      {"torch.ShortStorage", DType::kI16},
      {"torch.CharStorage", DType::kI8},
      {"torch.ByteStorage", DType::kU8},
      {"torch.BoolStorage", DType::kBool},
      {"torch.ComplexFloatStorage", DType::kC64},
      {"torch.storage.UntypedStorage", DType::kU8},
  }};
  for (const auto& [storage, dtype] : kStorages) {
    if (storage == name) return dtype;
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> whole_numbers(const PlainData& data, Value list) {
  std::vector<std::uint64_t> numbers;
  for (const Value item : data.items(list)) {
    const auto number = data.integer(item);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(static_cast<std::uint64_t>(*number));
  }
  return numbers;
}

struct Layout {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> stride;  // in elements
  std::uint64_t offset = 0;           // in elements
};

bool is_contiguous(const Layout& layout) {
  std::uint64_t expected = 1;
  for (std::size_t i = layout.shape.size(); i > 0; --i) {
    if (layout.shape[i - 1] == 1) continue;
    if (layout.stride[i - 1] != expected) return false;
    expected *= layout.shape[i - 1];
  }
  return true;
}

class TorchTensors {
 public:
  TorchTensors(const PlainData& data, const ZipDirectory& zip, std::size_t file, Checkpoint& to)
      : data_(data), zip_(zip), file_(file), to_(to) {}

  // Nothing when the object is no tensor, or one that cannot be read, which is then told.
  std::optional<Tensor> tensor(Value object, const std::string& name) {
    const std::string_view function = data_.class_name(object);
    const auto arguments = data_.arguments(object);
    if (function == imports::kPersistent) {
      const auto whole = storage(object);
      return whole ? std::optional(whole->second) : std::nullopt;
    }
    const bool typed = function == "torch._utils._rebuild_tensor_v2";
    const bool untyped = function == "torch._utils._rebuild_tensor_v3";
    if (!typed && !untyped) {
      if (function.starts_with("torch._utils._rebuild_")) unread(name, "is a tensor of a kind that is not read");
      return std::nullopt;
    }
    constexpr std::size_t kDType = 6;
    if (arguments.size() < (untyped ? kDType + 1 : 4)) return unread(name, "is described by too few arguments");
    const auto found = storage(arguments[0]);
    if (!found) return unread(name, "has a storage that is not in the file");
    Tensor tensor = found->second;
    if (untyped) {
      const auto dtype = dtype_of_torch(data_.name(arguments[kDType]));
      if (!dtype) return unread(name, "has an element type that is not known");
      tensor.dtype = *dtype;
    }
    const auto offset = data_.integer(arguments[1]);
    auto shape = whole_numbers(data_, arguments[2]);
    auto stride = whole_numbers(data_, arguments[3]);
    if (!offset || *offset < 0 || !shape || !stride || shape->size() != stride->size()) {
      return unread(name, "has a shape or stride that makes no sense");
    }
    const Layout layout{std::move(*shape), std::move(*stride), static_cast<std::uint64_t>(*offset)};
    if (!place(layout, tensor))
      return unread(name, "of shape " + shape_text(layout.shape) + " does not fit its storage");
    return tensor;
  }

 private:
  std::nullopt_t unread(const std::string& name, const std::string& what) {
    const std::string& file = to_.files[file_].name;
    to_.problems.push_back(
        {ProblemKind::kUnreadTensor, file, name, file + ": " + imports::shown(name) + " " + what + "; save it again."});
    return std::nullopt;
  }

  // ('storage', class, key, device, elements): the dtype and all bytes of the member data/<key>.
  std::optional<std::pair<std::string_view, Tensor>> storage(Value object) const {
    const auto id = data_.arguments(object);
    if (data_.class_name(object) != imports::kPersistent || id.size() < 3 || data_.text(id[0]) != "storage") {
      return std::nullopt;
    }
    const auto dtype = dtype_of_storage(data_.name(id[1]));
    const std::string_view key = data_.text(id[2]);
    const ZipMember* member = zip_.find("data/" + std::string(key));
    if (!dtype || member == nullptr) return std::nullopt;
    Tensor tensor;
    tensor.dtype = *dtype;
    tensor.bytes = member->bytes.first(member->bytes.size() / size_of(*dtype) * size_of(*dtype));
    tensor.shape = {tensor.elements()};
    tensor.storage =
        1 + static_cast<std::uint64_t>(member - zip_.members().data()) + (static_cast<std::uint64_t>(file_) << 32);
    return std::pair(key, std::move(tensor));
  }

  // Narrows the storage to the tensor; what is not contiguous is copied.
  bool place(const Layout& layout, Tensor& tensor) {
    std::uint64_t count = 0;
    if (!element_count(layout.shape, count)) return false;
    const std::size_t size = size_of(tensor.dtype);
    const std::uint64_t stored = tensor.bytes.size() / size;
    tensor.shape = layout.shape;
    if (count == 0) {
      tensor.bytes = {};
      return true;
    }
    std::uint64_t last = layout.offset;
    for (std::size_t i = 0; i < layout.shape.size(); ++i) {
      const std::uint64_t steps = layout.shape[i] - 1;
      if (steps != 0 && layout.stride[i] > stored / steps) return false;
      last += steps * layout.stride[i];
    }
    if (layout.offset >= stored || last >= stored) return false;
    if (is_contiguous(layout)) {
      tensor.bytes = tensor.bytes.subspan(layout.offset * size, count * size);
      return true;
    }
    copied_ += count * size;
    if (copied_ > to_.files[file_].mapped->bytes().size() + kMostCopied) return false;
    auto copy = std::make_shared<std::vector<std::byte>>(count * size);
    std::vector<std::uint64_t> index(layout.shape.size());
    for (std::uint64_t element = 0; element < count; ++element) {
      std::uint64_t from = layout.offset;
      for (std::size_t i = 0; i < index.size(); ++i) from += index[i] * layout.stride[i];
      std::memcpy(copy->data() + element * size, tensor.bytes.data() + from * size, size);
      for (std::size_t i = index.size(); i > 0 && ++index[i - 1] == layout.shape[i - 1]; --i) index[i - 1] = 0;
    }
    tensor.bytes = *copy;
    to_.kept.push_back(std::move(copy));
    return true;
  }

  const PlainData& data_;
  const ZipDirectory& zip_;
  std::size_t file_;
  Checkpoint& to_;
  std::uint64_t copied_ = 0;
};

}  // namespace

Status read_torch_file(const std::string& path, std::span<const std::byte> bytes, std::size_t file,
                       const std::string& prefix, Checkpoint& to) {
  const Result<ZipDirectory> zip = ZipDirectory::read(path, bytes);
  if (!zip.ok()) return zip.status();
  const ZipMember* pickle = zip->find("data.pkl");
  if (pickle == nullptr) {
    return {Code::kForeign, path + " is a zip file, and none of torch.save: it holds no data.pkl."};
  }
  if (const ZipMember* order = zip->find("byteorder"); order != nullptr && !order->bytes.empty()) {
    if (order->bytes[0] != std::byte{'l'}) {
      return {Code::kForeign, path + " was saved on a big-endian machine, which is not read; save it again elsewhere."};
    }
  }
  const auto* first = reinterpret_cast<const std::uint8_t*>(pickle->bytes.data());
  Result<PlainData> data = imports::read_pickle(path, {first, first + pickle->bytes.size()}, imports::Objects::kAsData);
  if (!data.ok()) return data.status();
  // Texts, and the arrays of numpy among them, lie in the data: it is kept as long as the checkpoint.
  const auto shared = std::make_shared<PlainData>(std::move(*data));
  to.kept.push_back(shared);
  TorchTensors tensors(*shared, *zip, file, to);
  ValueWalk walk(
      *shared, file, kValuesPerByte * pickle->bytes.size(),
      [&](Value object, const std::string& name) { return tensors.tensor(object, name); }, to);
  walk.lay_out(shared->root(), prefix);
  return {};
}

}  // namespace plumbline::reader
