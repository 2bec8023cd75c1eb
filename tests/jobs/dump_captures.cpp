// Prints the captures of a run for the tests, one JSON object a line; elements as hexadecimal bytes.
//
//   dump_captures RUN
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "reader/captures.hpp"

namespace {

using nlohmann::json;
namespace reader = plumbline::reader;

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

json describe(const reader::Capture& capture) {
  json row = {{"rank", capture.rank},
              {"probe", capture.probe},
              {"name", capture.name},
              {"step", capture.step},
              {"occurrence", capture.occurrence},
              {"key", capture.key},
              {"dtype", static_cast<int>(capture.dtype)},
              {"amount", static_cast<int>(capture.amount)},
              {"shape", capture.shape},
              {"global_shape", capture.global_shape},
              {"offset", capture.offset},
              {"replicas", capture.replicas},
              {"placement", capture.placement},
              {"device", capture.device},
              {"indices", capture.indices},
              {"hash_kind", static_cast<int>(capture.hash_kind)},
              {"hash", capture.hash},
              {"detail", json::parse(capture.detail.empty() ? "null" : capture.detail, nullptr, false)}};
  if (const auto& found = capture.statistics) {
    row["statistics"] = {{"elements", found->elements}, {"sum", found->sum},   {"norm", found->norm},
                         {"absmax", found->absmax},     {"nans", found->nans}, {"infs", found->infs},
                         {"zeros", found->zeros}};
  }
  return row;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  auto captures = reader::RunCaptures::open(arguments[1]);
  if (!captures.ok()) {
    fmt::print(stderr, "{}\n", captures.status().message());
    return 2;
  }
  for (auto& file : captures->files()) {
    for (const reader::Capture& capture : file.captures()) {
      json row = describe(capture);
      row["data"] = hexadecimal(file.load(capture));
      fmt::print("{}\n", row.dump());
    }
  }
}
