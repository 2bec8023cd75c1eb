#include "reader/import/file_kind.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader::imports {
namespace {

using namespace std::string_literals;

TEST(FileKindTest, KindsAreToldFromTheBeginning) {
  EXPECT_EQ(recognise("\x80\x02}q\x00(X\x07\x00\x00\x00versionX\x09\x00\x00\x00pg_config"s).kind,
            FileKind::kFlightPickle);
  EXPECT_EQ(recognise("\x80\x04\x95}\x94(\x8c\x08segments\x94"s).kind, FileKind::kMemorySnapshot);
  EXPECT_EQ(recognise("{\"comm_lib_version\":\"\",\"pg_config\":{}}").kind, FileKind::kFlightJson);
  EXPECT_EQ(recognise("\n  {\n  \"schemaVersion\": 1,").kind, FileKind::kKineto);
  EXPECT_EQ(recognise("{\"schemaVersion\": 1, \"distributedInfo\": {\"pg_config\": []}").kind, FileKind::kKineto);
  EXPECT_EQ(recognise("[\n {\"pid\": 1, \"os_thread_id\": 2").kind, FileKind::kPySpyJson);
  EXPECT_EQ(recognise("{ \"communicators_count\": 1").kind, FileKind::kRasJson);
  EXPECT_EQ(recognise("[rank0]:[E321 02:07:08 …").kind, FileKind::kText);
  EXPECT_EQ(recognise("[E ProcessGroupNCCL.cpp:458] [Rank 0]").kind, FileKind::kText);
  EXPECT_EQ(recognise("Process 1: python\n").kind, FileKind::kText);
}

TEST(FileKindTest, ForeignFilesAreNamedByWhatTheyLookLike) {
  const auto looks = [](const std::string& text) {
    const RecognisedFile file = recognise(text);
    EXPECT_EQ(file.kind, FileKind::kForeign) << text;
    return file.looks_like;
  };
  EXPECT_EQ(looks(""), "an empty file");
  EXPECT_EQ(looks(" \n\t"), "a file of white space");
  EXPECT_NE(looks("PK\x03\x04rest").find("zip"), std::string::npos);
  EXPECT_NE(looks("\x28\xb5\x2f\xfd....").find("Plumbline"), std::string::npos);
  EXPECT_NE(looks("\x7f"s + "ELF\x02\x01").find("program"), std::string::npos);
  EXPECT_NE(looks("SQLite format 3\0"s).find("Nsight"), std::string::npos);
  EXPECT_NE(looks("[[-1, 1, 65536, 0], [").find("memory timeline"), std::string::npos);
  EXPECT_NE(looks("{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1").find("execution trace"), std::string::npos);
  EXPECT_NE(looks("{\"architectures\": [\"LlamaForCausalLM\"]}").find("model"), std::string::npos);
  EXPECT_NE(looks("{\"a\": 1}").find("JSON"), std::string::npos);
  EXPECT_NE(looks("\x80\x02}q\x00X\x05\x00\x00\x00hello"s).find("pickle of another kind"), std::string::npos);
  EXPECT_NE(looks("\x80\x02"s + "ctorch._utils\n_rebuild_tensor_v2\n").find("checkpoint"), std::string::npos);
  EXPECT_NE(looks("\x01\x02\x03\x00\x00\x05"s).find("binary"), std::string::npos);
}

TEST(FileKindTest, RanksInNames) {
  EXPECT_EQ(rank_in_name("/a/rank7/pyspy_rank12.txt"), 12);
  EXPECT_EQ(rank_in_name("rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"), 34);
  EXPECT_EQ(rank_in_name("Rank_3_snapshot.pickle"), 3);
  EXPECT_EQ(rank_in_name("negative_queue_rank0of16.json.gz"), 0);
  EXPECT_EQ(rank_in_name("ranking.txt"), -1);
  EXPECT_EQ(rank_in_name("rank"), -1);
  EXPECT_EQ(rank_in_name("/rank5/log.txt"), -1) << "a folder's name is not the file's";
}

TEST(FileKindTest, DigitsAtTheEndOfNames) {
  EXPECT_EQ(digits_at_end_of_name("/tmp/nccl_trace_rank_13"), 13);
  EXPECT_EQ(digits_at_end_of_name("_dump_0"), 0);
  EXPECT_EQ(digits_at_end_of_name("fr_rank_1.json"), 1);
  EXPECT_EQ(digits_at_end_of_name("dump_4.pickle"), 4);
  EXPECT_EQ(digits_at_end_of_name("dump"), -1);
  EXPECT_EQ(digits_at_end_of_name("dump_99999999999999999999"), -1);
}

}  // namespace
}  // namespace plumbline::reader::imports
