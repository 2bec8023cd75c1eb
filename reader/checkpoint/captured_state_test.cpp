#include "reader/checkpoint/captured_state.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "reader/testing/records.hpp"
#include "recorder/capture_writer.hpp"

namespace plumbline::reader {
namespace {

using recorder::CaptureWriter;
using recorder::Dtype;

struct Captured {
  std::string probe, name;
  std::vector<float> values;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> global_shape;
  std::vector<std::uint64_t> offset;
  CaptureAmount amount = CaptureAmount::kFull;
  std::vector<std::uint64_t> indices = {};
  std::int64_t step = 0;
  std::string detail = {};
};

class CapturedStateTest : public ::testing::Test {
 protected:
  void rank(int number, const std::vector<Captured>& all) {
    std::filesystem::create_directories(run_ / "captures");
    recorder::Identity identity;
    identity.rank = number;
    CaptureWriter writer;
    ASSERT_FALSE(writer.create(run_ / ("captures/rank" + std::to_string(number) + ".plc"), identity, {}, {}));
    std::uint64_t time = 1;
    for (const Captured& one : all) {
      recorder::Capture row{};
      row.time_ns = time++;
      row.probe = one.probe.c_str();
      row.name = one.name.c_str();
      row.step = one.step;
      row.detail = one.detail.c_str();
      row.dtype = Dtype::kFloat32;
      row.amount = one.amount;
      row.shape = one.shape.data();
      row.dimensions = one.shape.size();
      if (!one.global_shape.empty()) {
        row.global_shape = one.global_shape.data();
        row.offset = one.offset.data();
        row.global_dimensions = one.global_shape.size();
      }
      row.indices = one.indices.data();
      row.index_count = one.indices.size();
      if (one.amount == CaptureAmount::kNote) {
        row.hash_kind = CaptureHash::kXxh3;
        row.hash = 77;
      } else {
        row.data = reinterpret_cast<const std::uint8_t*>(one.values.data());
        row.data_bytes = one.values.size() * sizeof(float);
      }
      ASSERT_FALSE(writer.add(row));
    }
    ASSERT_FALSE(writer.finish());
  }
  RunCaptures open() {
    Result<RunCaptures> captures = RunCaptures::open(run_.path());
    EXPECT_TRUE(captures.ok());
    return std::move(*captures);
  }

  testing::TempDir run_;
};

std::vector<float> values_of(const Tensor& tensor) {
  std::vector<float> values(tensor.elements());
  read_floats(tensor.dtype, tensor.bytes, 0, values);
  return values;
}

TEST_F(CapturedStateTest, ParametersBeforeTheFirstStepAreWhatWasLoaded) {
  rank(0, {{"load.param", "w", {9, 9}, {2}, {}, {}},
           {"param.before", "w", {1, 2}, {2}, {}, {}},
           {"param.before", "w", {3, 4}, {2}, {}, {}, CaptureAmount::kFull, {}, 1}});
  RunCaptures captures = open();
  const auto states = loaded_parameters(captures);
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].rank, 0);
  ASSERT_EQ(states[0].state.tensors.size(), 1U);
  EXPECT_EQ(values_of(states[0].state.tensors[0]), (std::vector<float>{1, 2}));
}

TEST_F(CapturedStateTest, WithoutThemItIsTheLastLoad) {
  rank(0, {{"load.param", "w", {9, 9}, {2}, {}, {}}, {"load.param", "w", {8, 8}, {2}, {}, {}}});
  RunCaptures captures = open();
  const auto states = loaded_parameters(captures);
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].source, "what the loads wrote");
  EXPECT_EQ(values_of(states[0].state.tensors[0]), (std::vector<float>{8, 8}));
}

TEST_F(CapturedStateTest, BlocksOfRanksArePutTogether) {
  rank(0, {{"param.before", "w", {1, 2, 5, 6}, {2, 2}, {2, 4}, {0, 0}}});
  rank(1, {{"param.before", "w", {3, 4, 7, 8}, {2, 2}, {2, 4}, {0, 2}}});
  RunCaptures captures = open();
  const auto states = loaded_parameters(captures);
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].rank, -1);
  const Tensor& tensor = states[0].state.tensors.at(0);
  EXPECT_EQ(tensor.shape, (std::vector<std::uint64_t>{2, 4}));
  std::vector<float> expected(8);
  std::iota(expected.begin(), expected.end(), 1.0F);
  EXPECT_EQ(values_of(tensor), expected);
}

TEST_F(CapturedStateTest, AWholeWithAHoleIsNoTensor) {
  rank(0, {{"param.before", "w", {1, 2, 5, 6}, {2, 2}, {2, 4}, {0, 0}}});
  RunCaptures captures = open();
  const auto states = loaded_parameters(captures);
  ASSERT_EQ(states.size(), 1U);
  EXPECT_TRUE(states[0].state.tensors.empty());
  ASSERT_EQ(states[0].unknown.size(), 1U);
  EXPECT_EQ(states[0].unknown[0], "w: of the sharded tensor 4 of 8 elements were captured by no rank");
}

TEST_F(CapturedStateTest, ABlockOutsideOfTheWhole) {
  rank(0, {{"param.before", "w", {1, 2, 5, 6}, {2, 2}, {2, 4}, {0, 3}}});
  RunCaptures captures = open();
  EXPECT_NE(loaded_parameters(captures).at(0).unknown.at(0).find("do not fit together"), std::string::npos);
}

TEST_F(CapturedStateTest, SamplesAndDigests) {
  rank(0, {{"param.before", "sampled", {1, 2}, {100}, {}, {}, CaptureAmount::kSample, {3, 50}},
           {"param.before", "hashed", {}, {100}, {}, {}, CaptureAmount::kNote}});
  RunCaptures captures = open();
  const auto states = loaded_parameters(captures);
  const Tensor* sampled = states.at(0).state.find("sampled");
  ASSERT_NE(sampled, nullptr);
  EXPECT_EQ(sampled->indices, (std::vector<std::uint64_t>{3, 50}));
  EXPECT_EQ(sampled->shape, (std::vector<std::uint64_t>{100}));
  const Tensor* hashed = states.at(0).state.find("hashed");
  ASSERT_NE(hashed, nullptr);
  ASSERT_TRUE(hashed->digest);
  EXPECT_EQ(hashed->digest->hash, 77U);
}

Captured of_file(std::string probe, std::string name, float value, std::string detail) {
  return {std::move(probe), std::move(name), {value}, {1}, {}, {}, CaptureAmount::kFull, {}, 5, std::move(detail)};
}

TEST_F(CapturedStateTest, StatesThatWereSaved) {
  rank(0, {of_file("save.param", "model.w", 1, ""), of_file("save.optimizer.exp_avg", "optimizer.state.0", 2, "")});
  RunCaptures captures = open();
  const auto states = captured_states(captures, "save");
  ASSERT_EQ(states.size(), 1U);
  EXPECT_NE(states[0].state.find("model.w"), nullptr);
  const Tensor* moment = states[0].state.find("optimizer.state.0.exp_avg");
  ASSERT_NE(moment, nullptr);
  EXPECT_EQ(moment->key(), "exp_avg");
  EXPECT_TRUE(captured_states(captures, "load").empty());
}

TEST_F(CapturedStateTest, LoadedOptimizersGoByTheNumbersOfTheirParameters) {
  rank(0, {of_file("load.optimizer.exp_avg", "up.weight", 1, R"({"path":"a","optimizer":0,"index":0})"),
           of_file("load.optimizer.exp_avg", "up.bias", 2, R"({"path":"a","optimizer":0,"index":1})"),
           of_file("load.optimizer.exp_avg", "norm.bias", 3, R"({"path":"a","optimizer":1,"index":0})")});
  RunCaptures captures = open();
  const auto states = captured_states(captures, "load");
  ASSERT_EQ(states.size(), 1U);
  for (const auto& [name, value] : {std::pair("optimizer.state.0.exp_avg", 1.0F),
                                    {"optimizer.state.1.exp_avg", 2.0F},
                                    {"optimizer1.state.0.exp_avg", 3.0F}}) {
    const Tensor* tensor = states[0].state.find(name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_EQ(values_of(*tensor), std::vector<float>{value});
  }
}

// A flat parameter is several of the model's.
TEST_F(CapturedStateTest, PiecesOfOneParameterKeepTheirNames) {
  rank(0, {of_file("load.optimizer.exp_avg", "up.weight", 1, R"({"optimizer":0,"index":0})"),
           of_file("load.optimizer.exp_avg", "up.bias", 2, R"({"optimizer":0,"index":0})")});
  RunCaptures captures = open();
  const auto states = captured_states(captures, "load");
  EXPECT_NE(states.at(0).state.find("optimizer.state.up.weight.exp_avg"), nullptr);
  EXPECT_NE(states.at(0).state.find("optimizer.state.up.bias.exp_avg"), nullptr);
}

TEST_F(CapturedStateTest, OfManySavesTheOneThatWasLoaded) {
  rank(0, {of_file("save.param", "w", 8, R"({"path":"step \"8\".pt","key":"w"})"),
           of_file("save.param", "w", 9, R"({"path":"step 9.pt","key":"w"})"),
           of_file("load.note", "torch.load", 0, R"({"path":"step \"8\".pt","values":{}})")});
  RunCaptures captures = open();
  const auto value = [&](const std::set<std::string>& paths) {
    return values_of(*captured_states(captures, "save", paths).at(0).state.find("w")).at(0);
  };
  EXPECT_EQ(loaded_paths(captures), std::set<std::string>{R"(step \"8\".pt)"});
  EXPECT_EQ(value(loaded_paths(captures)), 8);
  EXPECT_EQ(value({}), 9) << "the last one";
  EXPECT_EQ(value({"elsewhere.pt"}), 9) << "the files may have been moved";
}

}  // namespace
}  // namespace plumbline::reader
