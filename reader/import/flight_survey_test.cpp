#include "reader/import/flight_survey.hpp"

#include <gtest/gtest.h>

#include "reader/import/json_document.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {
namespace {

class FlightSurveyTest : public ::testing::Test {
 protected:
  void add(int rank, const std::string& json) {
    testing::write_file(directory_ / "dump", json);
    Result<ByteSource> source = ByteSource::open(directory_ / "dump");
    const Result<PlainData> data = read_json_document(*source);
    ASSERT_TRUE(data.ok()) << data.status().message();
    EXPECT_TRUE(is_flight_dump(*data));
    survey_.add(summarize_flight_dump(*data, rank), *data);
  }

  static std::string entry(int pg_id, const std::string& name, const std::string& description,
                           bool point_to_point = false) {
    return R"({"pg_id":)" + std::to_string(pg_id) + R"(,"process_group":[")" + name + R"(",")" + description +
           R"("],"is_p2p":)" + (point_to_point ? "true" : "false") + "}";
  }

  testing::TempDir directory_;
  FlightSurvey survey_;
};

TEST_F(FlightSurveyTest, RanksComeFromTheConfiguration) {
  add(5, R"({"version":"2.9","pg_config":{"3":{"name":"3","desc":"dp","ranks":"[1, 5]"}},"entries":[]})");
  survey_.finish();
  EXPECT_EQ(survey_.ranks_of(5, {"3", "dp"}), (std::vector<int>{1, 5}));
  EXPECT_EQ(survey_.world_size(), 6);
}

TEST_F(FlightSurveyTest, OtherwiseFromThoseWhoCall) {
  for (const int rank : {0, 2, 3})
    add(rank, R"({"version":"2.10","pg_config":{"":{"name":"","desc":"","ranks":"[]"}},"entries":[)" +
                  entry(0, "0", "default_pg") + (rank == 0 ? "" : "," + entry(1, "1", "dp")) + "]}");
  survey_.finish();
  EXPECT_EQ(survey_.ranks_of(2, {"1", "dp"}), (std::vector<int>{2, 3}));
  EXPECT_EQ(survey_.ranks_of(2, {"0", "default_pg"}), (std::vector<int>{0, 1, 2, 3})) << "all, dump or not";
}

TEST_F(FlightSurveyTest, IdsAreNamedByTheCallsOfTheSameDump) {
  add(0, R"({"version":"2.9","pg_config":{},"pg_status":{"4":{}},"entries":[)" + entry(4, "9", "ep") + "]}");
  survey_.finish();
  EXPECT_EQ(survey_.name_of(0, 4), FlightGroupName("9", "ep"));
  EXPECT_EQ(survey_.name_of(0, 5), FlightGroupName());
  EXPECT_EQ(survey_.name_of(1, 4), FlightGroupName());
}

TEST_F(FlightSurveyTest, WithoutCallsIdsAreNamedByTheOrderOfTheGroups) {
  // "10" was made after "9", whatever their alphabetical order.
  add(1, R"({"version":"2.9","pg_config":{"9":{"name":"9","desc":"tp","ranks":"[0, 1]"},
      "10":{"name":"10","desc":"ep","ranks":"[1, 2]"},"0":{"name":"0","desc":"default_pg","ranks":"[0, 1, 2]"}},
      "pg_status":{"0":{},"3":{},"7":{}}})");
  survey_.finish();
  EXPECT_EQ(survey_.name_of(1, 0).second, "default_pg");
  EXPECT_EQ(survey_.name_of(1, 3).second, "tp");
  EXPECT_EQ(survey_.name_of(1, 7).second, "ep");
}

TEST_F(FlightSurveyTest, OrByThePeersIdsWhenTheOrderCannotTell) {
  const std::string groups = R"("pg_config":{"9":{"name":"9","desc":"tp","ranks":"[0, 1]"},)"
                             R"("10":{"name":"10","desc":"ep","ranks":"[0, 1]"}},)";
  add(0, R"({"version":"2.9",)" + groups + R"("pg_status":{"3":{}},"entries":[)" + entry(3, "10", "ep") + "]}");
  add(1, R"({"version":"2.9",)" + groups + R"("pg_status":{"3":{}}})");
  survey_.finish();
  EXPECT_EQ(survey_.name_of(1, 3).second, "ep");
}

TEST_F(FlightSurveyTest, AnIdThatMeansAnotherGroupElsewhereIsNotTaken) {
  add(0, R"({"version":"2.9","pg_config":{"9":{"name":"9","desc":"ep","ranks":"[0]"}},"entries":[)" +
             entry(3, "9", "ep") + "]}");
  add(1, R"({"version":"2.9","pg_config":{"9":{"name":"9","desc":"ep","ranks":"[1]"},
      "11":{"name":"11","desc":"tp","ranks":"[1]"}},"pg_status":{"3":{}}})");
  survey_.finish();
  EXPECT_EQ(survey_.name_of(1, 3), FlightGroupName()) << "rank 0's group 9 is not rank 1's";
}

TEST_F(FlightSurveyTest, GroupsWithSendsAreKnownFromAnyMember) {
  const std::string groups = R"("pg_config":{"5":{"name":"5","desc":"pp","ranks":"[0, 1]"}},)";
  add(0, R"({"version":"2.9",)" + groups + R"("entries":[)" + entry(2, "5", "pp", true) + "]}");
  add(1, R"({"version":"2.9",)" + groups + R"("entries":[]})");
  survey_.finish();
  EXPECT_TRUE(survey_.has_point_to_point(1, {"5", "pp"}));
  EXPECT_FALSE(survey_.has_point_to_point(1, {"6", "pp"}));
}

}  // namespace
}  // namespace plumbline::reader::imports
