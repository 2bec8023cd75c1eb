#include "shim/build_id.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace plumbline::shim {
namespace {

std::string note(unsigned type, const std::string& name, const std::string& value) {
  const Elf64_Nhdr header{static_cast<Elf64_Word>(name.size()), static_cast<Elf64_Word>(value.size()), type};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  for (const std::string& part : {name, value}) {
    bytes += part;
    bytes.append((4 - part.size() % 4) % 4, '\0');
  }
  return bytes;
}

const std::string kGnu("GNU", 4);

TEST(BuildId, IsFoundAmongOtherNotes) {
  const std::string notes = note(NT_GNU_ABI_TAG, kGnu, std::string(16, '\1')) + note(NT_GNU_BUILD_ID, "Other", "xx") +
                            note(NT_GNU_BUILD_ID, kGnu, "\x27\x4a\xde\x0e");
  EXPECT_EQ(build_id_in_notes(notes.data(), notes.size()), "274ade0e");
}

TEST(BuildId, TruncatedNotesGiveNone) {
  const std::string notes = note(NT_GNU_BUILD_ID, kGnu, "\x27\x4a\xde\x0e");
  for (std::size_t size = 0; size < notes.size(); ++size) EXPECT_EQ(build_id_in_notes(notes.data(), size), "");
}

TEST(BuildId, ANoteThatClaimsMoreThanThereIsGivesNone) {
  std::string notes = note(NT_GNU_BUILD_ID, kGnu, "\x27\x4a\xde\x0e");
  const Elf64_Word huge = 0xffffffff;
  std::memcpy(notes.data() + offsetof(Elf64_Nhdr, n_descsz), &huge, sizeof huge);
  EXPECT_EQ(build_id_in_notes(notes.data(), notes.size()), "");
}

TEST(BuildId, FilesThatAreNoLibrariesHaveNone) {
  EXPECT_EQ(build_id_of_file("/nonexistent"), "");
  EXPECT_EQ(build_id_of_file("/"), "");
  const std::string path = testing::TempDir() + "build-id-test-file";
  std::ofstream(path) << "";
  EXPECT_EQ(build_id_of_file(path.c_str()), "");
  std::ofstream(path) << std::string(ELFMAG) + "and then nothing of the kind";
  EXPECT_EQ(build_id_of_file(path.c_str()), "");
}

}  // namespace
}  // namespace plumbline::shim
