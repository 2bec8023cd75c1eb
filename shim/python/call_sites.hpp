// What a thread remembers of the places that it has called from: code object and instruction → text id.
//
// A code object's address may belong to another one by the next call. What a place's text follows from is therefore
// kept with it and compared each time: file, function, first line and line table, byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "shim/python/frames.hpp"

namespace plumbline::shim::python {

// The parts of a code object that a place's text follows from. Points into live objects.
struct CodeView {
  TextView file;
  TextView function;
  std::string_view lines;
  std::int32_t first_line = 0;
};

inline CodeView view_code(const Layout& layout, Address code) noexcept {
  const auto pointer = [&](std::uint16_t offset) { return load<Address, DirectMemory>(code + offset); };
  const Address table = pointer(layout.code_lines);
  const auto size = load<std::int64_t, DirectMemory>(table + kVarSize);
  return {text_view<DirectMemory>(layout, pointer(layout.code_filename)),
          text_view<DirectMemory>(layout, pointer(layout.code_name)),
          {reinterpret_cast<const char*>(table + kBytesData), static_cast<std::size_t>(size)},
          load<std::int32_t, DirectMemory>(code + layout.code_first_line)};
}

inline std::string_view raw_bytes(const TextView& text) noexcept {
  return text.data == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text.data), text.bytes());
}

// Torch's package, and what its compilers write: generated modules and graph code.
inline bool is_torchs_own(const TextView& file, std::string_view torch_folder) noexcept {
  const std::string_view path = raw_bytes(file);
  if (!file.ascii) return !torch_folder.empty() && utf8_of(file).starts_with(torch_folder);
  return (!torch_folder.empty() && path.starts_with(torch_folder)) || path.starts_with("<eval_with_key>") ||
         path.starts_with("<plumbline ") || path.find("/torchinductor_") != std::string_view::npos;
}

class CallSites {
 public:
  CallSites() = default;
  ~CallSites() {
    for (const Place& place : places_) std::free(place.parts);
  }
  CallSites(const CallSites&) = delete;
  CallSites& operator=(const CallSites&) = delete;

  // Forgets all places when they were seen for another trace.
  void use_for(std::uint32_t trace) noexcept {
    if (trace == trace_) [[likely]]
      return;
    for (Place& place : places_) place.code = 0;
    trace_ = trace;
  }

  // The id of the place; `make` gives it at first sight.
  template <class Make>
  std::uint64_t find(const CodeView& code, const Frame& frame, Make&& make) noexcept {
    Place& place = places_[(frame.code >> 4 ^ static_cast<Address>(frame.offset) * 0x9e3779b1u) % places_.size()];
    if (place.code == frame.code && place.offset == frame.offset && place.is(code)) [[likely]]
      return place.text;
    const std::uint64_t text = make();
    place.keep(code, frame, text);
    return text;
  }

 private:
  struct Place {
    Address code = 0;
    std::int64_t offset = 0;
    std::uint64_t text = 0;
    char* parts = nullptr;  // file, function and line table, one after the other
    std::size_t file = 0, function = 0, lines = 0;
    std::int32_t first_line = 0;

    bool is(const CodeView& view) const noexcept {
      const auto same = [](const char* kept, std::size_t length, std::string_view seen) {
        return seen.size() == length && std::memcmp(kept, seen.data(), length) == 0;
      };
      return first_line == view.first_line && same(parts, file, raw_bytes(view.file)) &&
             same(parts + file, function, raw_bytes(view.function)) && same(parts + file + function, lines, view.lines);
    }

    void keep(const CodeView& view, const Frame& frame, std::uint64_t id) noexcept {
      const std::string_view kept[] = {raw_bytes(view.file), raw_bytes(view.function), view.lines};
      std::free(parts);
      *this = Place{};
      parts = static_cast<char*>(std::malloc(kept[0].size() + kept[1].size() + kept[2].size() + 1));
      if (parts == nullptr) return;
      char* at = parts;
      for (const std::string_view part : kept) {
        std::memcpy(at, part.data(), part.size());
        at += part.size();
      }
      code = frame.code;
      offset = frame.offset;
      text = id;
      file = kept[0].size();
      function = kept[1].size();
      lines = kept[2].size();
      first_line = view.first_line;
    }
  };

  std::array<Place, 64> places_{};
  std::uint32_t trace_ = 0;
};

}  // namespace plumbline::shim::python
