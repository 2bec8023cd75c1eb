#include "tools/run_reader/command_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using recorder::Kind;

Options options_of(const std::vector<std::string>& arguments) {
  CommandLine line = parse_command_line(arguments);
  EXPECT_TRUE(line.options.has_value()) << line.text;
  return line.options.value_or(Options{});
}

std::string refusal_of(const std::vector<std::string>& arguments) {
  const CommandLine line = parse_command_line(arguments);
  EXPECT_FALSE(line.options.has_value());
  EXPECT_EQ(line.exit_code, 2);
  return line.text;
}

TEST(CommandLineTest, CommandRunAndJson) {
  const Options options = options_of({"summary", "some/run", "--json"});
  EXPECT_EQ(options.command, Command::kSummary);
  EXPECT_EQ(options.run, "some/run");
  EXPECT_TRUE(options.json);
  EXPECT_FALSE(options_of({"ranks", "r"}).json);
}

TEST(CommandLineTest, EveryCommandIsKnown) {
  EXPECT_EQ(options_of({"ranks", "r"}).command, Command::kRanks);
  EXPECT_EQ(options_of({"collectives", "r"}).command, Command::kCollectives);
  EXPECT_EQ(options_of({"allocations", "r"}).command, Command::kAllocations);
  EXPECT_EQ(options_of({"optimizer", "r"}).command, Command::kOptimizer);
  EXPECT_EQ(options_of({"ranges", "r"}).command, Command::kRanges);
  EXPECT_EQ(options_of({"events", "r"}).command, Command::kEvents);
  EXPECT_EQ(options_of({"dump", "r"}).command, Command::kDump);
  EXPECT_EQ(options_of({"verify", "r"}).command, Command::kVerify);
  EXPECT_EQ(options_of({"export", "r", "--perfetto", "-o", "x"}).command, Command::kExport);
}

TEST(CommandLineTest, HelpFitsTheTerminal) {
  std::vector<std::vector<std::string>> asked{{"--help"}};
  for (const char* command :
       {"diagnose", "summary", "ranks", "collectives", "allocations", "memory", "optimizer", "ranges", "stacks",
        "stragglers", "events", "dump", "export", "report", "verify", "import", "check"}) {
    asked.push_back({command, "--help"});
  }
  for (const std::vector<std::string>& arguments : asked) {
    std::istringstream help(parse_command_line(arguments).text);
    for (std::string line; std::getline(help, line);) EXPECT_LE(width_of(line), 100U) << line;
  }
}

TEST(CommandLineTest, Filters) {
  const Options options = options_of({"events", "r", "--rank", "0,8-15", "--step", "3", "--from", "1.5", "--to", "2",
                                      "--kind", "alloc,free", "--kind", "collective", "--limit", "7"});
  const Filter& filter = options.filter;
  EXPECT_TRUE(filter.takes_rank(0));
  EXPECT_FALSE(filter.takes_rank(1));
  EXPECT_TRUE(filter.takes_rank(12));
  EXPECT_TRUE(filter.takes_step(3));
  EXPECT_FALSE(filter.takes_step(4));
  EXPECT_EQ(filter.from_s, 1.5);
  EXPECT_EQ(filter.to_s, 2);
  EXPECT_TRUE(filter.takes_kind(Kind::kFree));
  EXPECT_TRUE(filter.takes_kind(Kind::kCollective));
  EXPECT_FALSE(filter.takes_kind(Kind::kSample));
  EXPECT_EQ(filter.limit, 7U);
}

TEST(CommandLineTest, WithoutFiltersEverythingPasses) {
  const Filter filter = options_of({"dump", "r"}).filter;
  EXPECT_TRUE(filter.takes_rank(-1));
  EXPECT_TRUE(filter.takes_step(12345));
  EXPECT_TRUE(filter.takes_kind(Kind::kComm));
  EXPECT_EQ(filter.limit, 0U);
  EXPECT_EQ(options_of({"events", "r"}).filter.limit, 200U) << "a terminal wants an end";
}

TEST(CommandLineTest, RefusalsSayWhatIsAccepted) {
  EXPECT_NE(refusal_of({"events", "r", "--rank", "a-b"}).find("0,2,8-15"), std::string::npos);
  EXPECT_NE(refusal_of({"events", "r", "--step", "9-3"}).find("--step 9-3"), std::string::npos);
  EXPECT_NE(refusal_of({"events", "r", "--kind", "explosion"}).find("alloc_failed"), std::string::npos);
  EXPECT_NE(refusal_of({"events", "r", "--from", "3", "--to", "2"}).find("later"), std::string::npos);
  EXPECT_NE(refusal_of({"export", "r", "-o", "x"}).find("--perfetto"), std::string::npos);
  EXPECT_NE(refusal_of({"nope", "r"}).find("there is no command nope; there are: diagnose, summary, ranks"),
            std::string::npos);
  EXPECT_NE(refusal_of({""}).find("no command ''"), std::string::npos);
  refusal_of({"export", "r", "--perfetto"});
  refusal_of({"verify", "r", "--rank", "1"});
}

TEST(CommandLineTest, NumbersThatAreNone) {
  for (const char* time : {"nan", "-nan", "-1", "x", ""}) {
    EXPECT_TRUE(refusal_of({"events", "r", "--from", time}).starts_with("run-reader: ")) << time;
    refusal_of({"export", "r", "--perfetto", "-o", "x", "--to", time});
  }
  refusal_of({"events", "r", "--from", "inf"});
  EXPECT_EQ(options_of({"events", "r", "--to", "1e3"}).filter.to_s, 1000);
  for (const char* limit : {"-1", "1.5", "x", "", "99999999999999999999", "0x10"}) {
    EXPECT_NE(refusal_of({"events", "r", "--limit", limit}).find("number"), std::string::npos) << limit;
  }
  EXPECT_EQ(options_of({"events", "r", "--limit", "0"}).filter.limit, 0U);
}

TEST(CommandLineTest, RanksThatAreNone) {
  for (const char* rank : {"", " ", "-1", "0x1", "1.0", "0-", "0,,1", "nan", "\x1b[31m"}) {
    const std::string refusal = refusal_of({"ranks", "r", "--rank", rank});
    EXPECT_NE(refusal.find("give ranks as"), std::string::npos) << refusal;
    EXPECT_EQ(refusal.find('\x1b'), std::string::npos);
  }
  refusal_of({"events", "r", "--step", ""});
}

TEST(CommandLineTest, IntervalsAreReadWhole) {
  EXPECT_EQ(parse_intervals("3")->at(0).last, 3);
  EXPECT_EQ(parse_intervals("0-7,9")->size(), 2U);
  for (const char* wrong : {"", ",", "1,", "1-", "-1", "1--2", "2-1", "1 2", "99999999999999999999"}) {
    EXPECT_FALSE(parse_intervals(wrong).has_value()) << wrong;
  }
}

TEST(CommandLineTest, ARefusalSaysWhatToGiveInstead) {
  const auto says = [](const std::vector<std::string>& arguments, const std::string& words) {
    const std::string text = refusal_of(arguments);
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  };
  says({}, "which command? there are: diagnose, ");
  says({"--nope"}, "there is no option --nope before a command");
  says({"summary"}, "summary needs RUN: run directory or trace file; run-reader summary --help");
  says({"summary", "r", "--nope", "x"}, "summary does not take --nope x;");
  says({"report", "r"}, "report needs -o,--output: file to write");
  says({"events", "r", "--limit", "1", "--limit", "2"}, "events takes --limit only once");
  says({"events", "r", "--kind"}, "events needs a value after --kind");
  says({"events", "r", "--kind", "\x1b[31m"}, "--kind ?[31m: there is no such kind");
  says({"report", "r", "-o", ""}, "-o '': name a file");
  says({"diagnose", "r", "--junit", ""}, "--junit '': name a file");
  says({"/"}, "run-reader diagnose /;");
}

}  // namespace
}  // namespace plumbline::tools
