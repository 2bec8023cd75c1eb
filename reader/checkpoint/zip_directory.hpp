// The members of a zip file whose bytes are stored as they are, which is how torch.save writes: found through the
// directory at its end, with the 64-bit sizes of large files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader/status.hpp"

namespace plumbline::reader {

struct ZipMember {
  std::string name;
  std::span<const std::byte> bytes;
};

class ZipDirectory {
 public:
  // `file` is all of it and must outlive this; `path` is for the sentences.
  static Result<ZipDirectory> read(const std::string& path, std::span<const std::byte> file);

  const std::vector<ZipMember>& members() const { return members_; }
  // By its name below the archive's own folder: "data.pkl" finds "archive/data.pkl". Null when it is not there.
  const ZipMember* find(std::string_view name) const;

 private:
  std::vector<ZipMember> members_;  // by name
};

// Does the file begin as a zip file does?
bool starts_as_zip(std::span<const std::byte> file);

}  // namespace plumbline::reader
