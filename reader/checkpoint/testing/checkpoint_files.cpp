#include "reader/checkpoint/testing/checkpoint_files.hpp"

#include <bit>
#include <fstream>
#include <random>

#include "reader/checkpoint/safetensors.hpp"

namespace plumbline::reader::testing {
namespace {

std::string little_endian(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// Protocol 2, with the calls that torch.save writes.
class TorchPickle {
 public:
  std::string of(const Node& root) {
    out_ = "\x80\x02";
    std::visit(*this, root.value);
    return out_ + ".";
  }
  const std::vector<std::string>& storages() const { return storages_; }

  void operator()(std::monostate) { out_ += 'N'; }
  void operator()(bool value) { out_ += value ? '\x88' : '\x89'; }
  void operator()(std::int64_t value) { out_ += "\x8a\x08" + little_endian(static_cast<std::uint64_t>(value), 8); }
  void operator()(double value) {
    std::string bits = little_endian(std::bit_cast<std::uint64_t>(value), 8);
    out_ += 'G' + std::string(bits.rbegin(), bits.rend());
  }
  void operator()(const std::string& value) { out_ += 'X' + little_endian(value.size(), 4) + value; }
  void operator()(const Node::List& list) {
    out_ += "](";
    for (const Node& one : list) std::visit(*this, one.value);
    out_ += 'e';
  }
  void operator()(const Node::Dict& dict) {
    out_ += "ccollections\nOrderedDict\n)R(";
    for (const auto& [key, value] : dict) {
      std::visit(*this, key.value);
      std::visit(*this, value.value);
    }
    out_ += 'u';
  }
  void operator()(const TensorData& tensor) {
    out_ += "ctorch._utils\n_rebuild_tensor_v3\n((";
    (*this)(std::string("storage"));
    out_ += "ctorch.storage\nUntypedStorage\n";
    (*this)(std::to_string(storages_.size()));
    (*this)(std::string("cpu"));
    (*this)(static_cast<std::int64_t>(tensor.bytes.size()));
    out_ += "tQK";
    out_ += '\0';
    std::vector<std::uint64_t> stride(tensor.shape.size(), 1);
    for (std::size_t i = stride.size(); i > 1; --i) stride[i - 2] = stride[i - 1] * tensor.shape[i - 1];
    for (const std::span<const std::uint64_t> numbers :
         {std::span<const std::uint64_t>(tensor.shape), std::span<const std::uint64_t>(stride)}) {
      out_ += '(';
      for (const std::uint64_t number : numbers) (*this)(static_cast<std::int64_t>(number));
      out_ += 't';
    }
    out_ += "\x89}ctorch\n" + std::string(torch_name(tensor.dtype)) + "\ntR";
    storages_.push_back(text_of(tensor.bytes));
  }

 private:
  static std::string_view torch_name(DType dtype) {
    for (const std::string_view name :
         {"float32", "bfloat16", "float16", "float64", "int64", "int32", "uint8", "bool", "float8_e4m3fn"}) {
      if (dtype_of_torch(name) == dtype) return name;
    }
    return "complex32";
  }

  std::string out_;
  std::vector<std::string> storages_;
};

}  // namespace

TensorData tensor(std::string name, std::vector<std::uint64_t> shape, unsigned seed, DType dtype) {
  std::uint64_t count = 0;
  element_count(shape, count);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, 0.02F);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return tensor_of(std::move(name), std::move(shape), values, dtype);
}

TensorData tensor_of(std::string name, std::vector<std::uint64_t> shape, const std::vector<float>& values,
                     DType dtype) {
  TensorData data{std::move(name), dtype, std::move(shape), std::vector<std::byte>(values.size() * size_of(dtype))};
  if (is_floating(dtype)) {
    write_floats(dtype, values, data.bytes);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string bytes = little_endian(static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i])), 8);
      for (std::size_t b = 0; b < size_of(dtype); ++b) data.bytes[i * size_of(dtype) + b] = std::byte(bytes[b]);
    }
  }
  return data;
}

Checkpoint checkpoint_of(std::vector<TensorData> tensors, std::vector<NamedValue> values) {
  Checkpoint checkpoint;
  checkpoint.path = "memory";
  const auto kept = std::make_shared<std::vector<TensorData>>(std::move(tensors));
  checkpoint.kept.push_back(kept);
  for (const TensorData& one : *kept) {
    Tensor tensor;
    tensor.name = one.name;
    tensor.dtype = one.dtype;
    tensor.shape = one.shape;
    tensor.bytes = one.bytes;
    checkpoint.tensors.push_back(std::move(tensor));
  }
  checkpoint.values = std::move(values);
  checkpoint.sort();
  return checkpoint;
}

std::string safetensors_bytes(const std::string& header, const std::string& data) {
  return little_endian(header.size(), 8) + header + data;
}

std::string safetensors_bytes(const std::vector<TensorData>& tensors) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}";
  std::string data;
  for (const TensorData& one : tensors) {
    header += ",\"";
    header += one.name;
    header += "\":{\"dtype\":\"";
    header += name_of(one.dtype);
    header += "\",\"shape\":";
    header += shape_text(one.shape);
    header += ",\"data_offsets\":[";
    header += std::to_string(data.size());
    header += ',';
    header += std::to_string(data.size() + one.bytes.size());
    header += "]}";
    data += text_of(one.bytes);
  }
  return safetensors_bytes(header + "}", data);
}

void write_safetensors(const std::string& path, const std::vector<TensorData>& tensors) {
  write(path, safetensors_bytes(tensors));
}

std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string file;
  std::string directory;
  for (const auto& [member, contents] : members) {
    const std::string name = "archive/" + member;
    const std::string sizes = little_endian(contents.size(), 4) + little_endian(contents.size(), 4);
    const std::string common = std::string("\0\0\0\0\0\0\0\0\0\0\0\0", 12) + sizes;
    directory.append(little_endian(0x02014b50, 4)).append(4, '\0').append(common);
    directory.append(little_endian(name.size(), 2)).append(12, '\0').append(little_endian(file.size(), 4)).append(name);
    file.append(little_endian(0x04034b50, 4)).append(2, '\0').append(common);
    file.append(little_endian(name.size(), 2)).append(2, '\0').append(name).append(contents);
  }
  const std::string end = little_endian(0x06054b50, 4) + std::string(4, '\0') + little_endian(members.size(), 2) +
                          little_endian(members.size(), 2) + little_endian(directory.size(), 4) +
                          little_endian(file.size(), 4) + std::string(2, '\0');
  return file + directory + end;
}

std::string torch_file_bytes(const Node& root) {
  TorchPickle pickle;
  std::vector<std::pair<std::string, std::string>> members = {{"data.pkl", pickle.of(root)}, {"byteorder", "little"}};
  for (std::size_t i = 0; i < pickle.storages().size(); ++i) {
    members.emplace_back("data/" + std::to_string(i), pickle.storages()[i]);
  }
  return zip_bytes(members);
}

void write_torch_file(const std::string& path, const Node& root) { write(path, torch_file_bytes(root)); }

}  // namespace plumbline::reader::testing
