#include "reader/import/file_kind.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>

#include "reader/import/pickle.hpp"

namespace plumbline::reader::imports {
namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

struct Magic {
  std::string_view bytes;
  std::string_view looks_like;
};

constexpr Magic kMagics[] = {
    {"\x28\xb5\x2f\xfd", "a zstd file; traces of Plumbline's own are given as they are, without an import"},
    {"PLBR", "a ring of Plumbline's own; give the directory that it lies in, without an import"},
    {"PK\x03\x04", "a zip file, as PyTorch's checkpoints are"},
    {"SQLite format 3", "an SQLite database, as Nsight Systems exports it"},
    {"\x7f"
     "ELF",
     "a program or a core dump"},
    {"\x89HDF", "an HDF5 file"},
    {"\x89PNG", "a PNG picture"},
    {"\xff\xd8\xff", "a JPEG picture"},
    {"GIF8", "a GIF picture"},
    {"\x1f\x8b", "a damaged gzip file"},
    {"\xff\xfe", "text in UTF-16: convert it to UTF-8 first"},
    {"\xfe\xff", "text in UTF-16: convert it to UTF-8 first"},
    {"PAR1", "a Parquet file"},
    {"BZh", "a bzip2 file: unpack it first"},
    {"\xfd"
     "7zXZ",
     "an xz file: unpack it first"},
    {"%PDF", "a PDF document"},
    {"<!DOCTYPE", "a web page"},
    {"<!doctype", "a web page"},
    {"<?xml", "an XML file"},
    {"<html", "a web page"},
};

RecognisedFile pickle_kind(std::string_view text) {
  if (has_any(text, {"device_traces", "segments"})) return {FileKind::kMemorySnapshot, {}};
  if (has_any(text, {"pg_config", "pg_status", "collective_seq_id", "profiling_name"}))
    return {FileKind::kFlightPickle, {}};
  if (has_any(text, {"_rebuild_tensor", "torch._utils", "storage"}))
    return {FileKind::kForeign, "a pickled PyTorch object, a checkpoint for one"};
  return {FileKind::kForeign, "a pickle of another kind than PyTorch's flight recorder or memory snapshot"};
}

RecognisedFile json_kind(std::string_view text) {
  if (has_any(text, {"\"traceEvents\"", "\"deviceProperties\"", "\"schemaVersion\"", "\"baseTimeNanoseconds\""}))
    return {FileKind::kKineto, {}};
  // A profile lists its process groups too.
  if (has_any(text, {"\"pg_config\"", "\"pg_status\"", "\"collective_seq_id\""})) return {FileKind::kFlightJson, {}};
  if (has_any(text, {"\"communicators_count\"", "\"communicators\"", "\"collective_counts\""}))
    return {FileKind::kRasJson, {}};
  if (has_any(text, {"\"os_thread_id\"", "\"owns_gil\""})) return {FileKind::kPySpyJson, {}};
  if (has_any(text, {"chakra", "\"ctrl_deps\""}))
    return {FileKind::kForeign, "a PyTorch execution trace, which has no times to judge by"};
  if (text.starts_with("[[")) return {FileKind::kForeign, "a PyTorch memory timeline, which names no requests"};
  if (has_any(text, {"\"model_type\"", "\"architectures\""})) return {FileKind::kForeign, "a model's configuration"};
  return {FileKind::kForeign, "JSON of a kind that is not known here"};
}

bool is_text(std::string_view bytes) {
  const auto odd = std::count_if(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\x1b' && c != '\b' && c != '\f';
  });
  return static_cast<std::size_t>(odd) * 50 <= bytes.size() && bytes.find('\0') == std::string_view::npos;
}

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

int leading_number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? value : -1;
}

}  // namespace

RecognisedFile recognise(std::string_view beginning) {
  if (beginning.empty()) return {FileKind::kForeign, "an empty file"};
  for (const Magic& magic : kMagics)
    if (beginning.starts_with(magic.bytes)) return {FileKind::kForeign, std::string(magic.looks_like)};
  if (beginning.size() > 262 && beginning.substr(257, 5) == "ustar")
    return {FileKind::kForeign, "a tar archive: unpack it first"};
  if (starts_as_pickle({reinterpret_cast<const std::uint8_t*>(beginning.data()), beginning.size()}))
    return pickle_kind(beginning);
  std::string_view text = beginning;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {FileKind::kForeign, "a file of white space"};
  text.remove_prefix(start);
  // A log line may start with a bracket too: "[rank0]: …".
  const std::size_t next = text.find_first_not_of(" \t\r\n", 1);
  const char second = next == std::string_view::npos ? '\0' : text[next];
  if (text.front() == '{' && (second == '"' || second == '}' || second == '\0')) return json_kind(text);
  if (text.front() == '[' && (second == '{' || second == '[' || second == ']' || second == '\0')) {
    return json_kind(second == '[' ? std::string_view("[[") : text);
  }
  if (is_text(beginning)) return {FileKind::kText, {}};
  return {FileKind::kForeign, "a binary file of a kind that is not known here"};
}

std::string_view name_of(FileKind kind) {
  switch (kind) {
    case FileKind::kFlightPickle:
    case FileKind::kFlightJson:
      return "a PyTorch flight recorder dump";
    case FileKind::kMemorySnapshot:
      return "a CUDA memory snapshot";
    case FileKind::kKineto:
      return "a Kineto trace";
    case FileKind::kPySpyJson:
      return "a py-spy dump";
    case FileKind::kRasJson:
      return "an ncclras report";
    case FileKind::kText:
      return "text";
    case FileKind::kForeign:
      break;
  }
  return "a foreign file";
}

int rank_in_name(std::string_view path) {
  constexpr std::string_view kWord = "rank";
  std::string name(file_name(path));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  for (std::size_t at = name.rfind(kWord); at != std::string::npos; at = at == 0 ? at : name.rfind(kWord, at - 1)) {
    std::string_view rest = std::string_view(name).substr(at + kWord.size());
    if (!rest.empty() && (rest.front() == '_' || rest.front() == '-' || rest.front() == '.' || rest.front() == '='))
      rest.remove_prefix(1);
    if (!rest.empty() && is_digit(rest.front())) return leading_number(rest);
    if (at == 0) break;
  }
  return -1;
}

int digits_at_end_of_name(std::string_view path) {
  std::string_view name = file_name(path);
  for (const std::string_view suffix : {".gz", ".json", ".pickle", ".pkl", ".pt", ".bin"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  std::size_t from = name.size();
  while (from > 0 && is_digit(name[from - 1])) --from;
  return leading_number(name.substr(from));
}

}  // namespace plumbline::reader::imports
