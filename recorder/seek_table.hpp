// The seek table of zstd's seekable format: a skippable frame at the end of a trace that gives the sizes of all frames.
//
// Layout, little-endian: u32 0x184D2A5E, u32 size of what follows; for each frame u32 compressed and u32 decompressed
// size; u32 number of frames, u8 descriptor (0: no checksums), u32 0x8F92EAB1.
#pragma once

#include <cstdint>
#include <vector>

namespace plumbline::recorder {

inline constexpr std::uint32_t kSkippableMagic = 0x184D2A5E;
inline constexpr std::uint32_t kSeekTableMagic = 0x8F92EAB1;
inline constexpr std::size_t kSeekTableFooterBytes = 9;
inline constexpr std::size_t kSeekTableEntryBytes = 8;

inline void put_u32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

template <class Entries>
std::vector<std::uint8_t> seek_table(const Entries& entries) {
  std::vector<std::uint8_t> out;
  put_u32(out, kSkippableMagic);
  put_u32(out, static_cast<std::uint32_t>(entries.size() * kSeekTableEntryBytes + kSeekTableFooterBytes));
  for (const auto& entry : entries) {
    put_u32(out, entry.compressed);
    put_u32(out, entry.decompressed);
  }
  put_u32(out, static_cast<std::uint32_t>(entries.size()));
  out.push_back(0);
  put_u32(out, kSeekTableMagic);
  return out;
}

}  // namespace plumbline::recorder
