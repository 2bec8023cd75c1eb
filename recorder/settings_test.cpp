#include "recorder/settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "recorder/testing/child.hpp"

namespace plumbline::recorder {
namespace {

// Each test sees only the PLUMBLINE_* variables that it sets.
class SettingsTest : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  void clear() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text(*entry);
      if (text.starts_with("PLUMBLINE_")) names.push_back(text.substr(0, text.find('=')));
    }
    for (const std::string& name : names) unsetenv(name.c_str());
  }

  void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

  void config(const std::string& text) {
    std::ofstream(scratch_ / "plumbline.toml") << text;
    set("PLUMBLINE_CONFIG", scratch_ / "plumbline.toml");
  }

  testing::ScratchDirectory scratch_;
};

TEST_F(SettingsTest, DefaultsWithoutAComplaint) {
  const Settings settings = load_settings();
  EXPECT_EQ(settings.level, Level::kWatch);
  EXPECT_FALSE(settings.disabled);
  EXPECT_EQ(settings.ring_bytes, 4u << 20);
  EXPECT_TRUE(settings.run_directory.empty());
  EXPECT_TRUE(settings.complaints.empty());
}

TEST_F(SettingsTest, ReadsEveryVariable) {
  set("PLUMBLINE_RUN", "/data/run");
  set("PLUMBLINE_DIR", "/data");
  set("PLUMBLINE_ADAPTER", "/lib/adapter.so");
  set("PLUMBLINE_CACHE", "/cache");
  set("PLUMBLINE_EXCLUDE", "cc1*,ninja");
  set("PLUMBLINE_LEVEL", "diagnose");
  set("PLUMBLINE_DISABLE", "1");
  set("PLUMBLINE_RING_KB", "16");
  set("PLUMBLINE_MEMORY_MB", "2");
  set("PLUMBLINE_MAX_MB", "100");
  set("PLUMBLINE_CAPTURE_MAX_MB", "30");
  set("PLUMBLINE_CAPTURE_STEPS", "0-2,%50");
  set("PLUMBLINE_CAPTURE", "grad=full");
  set("PLUMBLINE_NANFILL", "1");
  set("PLUMBLINE_FLUSH_MS", "250");
  set("PLUMBLINE_STALL_SECONDS", "90");
  set("PLUMBLINE_LARGE_ALLOCATION_MB", "0");
  const Settings settings = load_settings();
  EXPECT_EQ(settings.run_directory, "/data/run");
  EXPECT_EQ(settings.base_directory, "/data");
  EXPECT_EQ(settings.adapter, "/lib/adapter.so");
  EXPECT_EQ(settings.cache, "/cache");
  EXPECT_EQ(settings.exclude, "cc1*,ninja");
  EXPECT_EQ(settings.level, Level::kDiagnose);
  EXPECT_TRUE(settings.disabled);
  EXPECT_EQ(settings.ring_bytes, 16u << 10);
  EXPECT_EQ(settings.memory_bytes, 2u << 20);
  EXPECT_EQ(settings.max_trace_bytes, 100u << 20);
  EXPECT_EQ(settings.max_capture_bytes, 30u << 20);
  EXPECT_EQ(settings.capture_steps, "0-2,%50");
  EXPECT_EQ(settings.capture, "grad=full");
  EXPECT_TRUE(settings.nan_fill);
  EXPECT_EQ(settings.flush_ms, 250u);
  EXPECT_EQ(settings.stall_ns, 90'000'000'000u);
  EXPECT_EQ(settings.large_allocation_bytes, 0u);
  EXPECT_TRUE(settings.complaints.empty());
}

TEST_F(SettingsTest, TheEnvironmentWinsOverTheFile) {
  config("level = \"diagnose\"\nring_kb = 64\ndisable = true\n");
  set("PLUMBLINE_RING_KB", "32");
  const Settings settings = load_settings();
  EXPECT_EQ(settings.level, Level::kDiagnose);
  EXPECT_EQ(settings.ring_bytes, 32u << 10);
  EXPECT_TRUE(settings.disabled);
  EXPECT_TRUE(settings.complaints.empty());
}

TEST_F(SettingsTest, UnknownNamesAreComplaints) {
  config("levle = \"watch\"\n[ring]\nkb = 1\n");
  set("PLUMBLINE_COLOUR", "red");
  const Settings settings = load_settings();
  ASSERT_EQ(settings.complaints.size(), 3u);
  EXPECT_NE(settings.complaints[0].find("levle"), std::string::npos);
  EXPECT_NE(settings.complaints[1].find("ring is not a setting"), std::string::npos);
  EXPECT_EQ(settings.complaints[2], "PLUMBLINE_COLOUR is not a setting of Plumbline");
}

TEST_F(SettingsTest, VariablesOfTheToolsAreKnown) {
  set("PLUMBLINE_PYTHON", "/usr/bin/python3");
  EXPECT_TRUE(load_settings().complaints.empty());
}

TEST_F(SettingsTest, BadValuesKeepTheDefault) {
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"PLUMBLINE_LEVEL", "loud"},
                                                        {"PLUMBLINE_RING_KB", "-1"},
                                                        {"PLUMBLINE_RING_KB", "0"},
                                                        {"PLUMBLINE_RING_KB", "4k"},
                                                        {"PLUMBLINE_RING_KB", "99999999999999999999999"},
                                                        {"PLUMBLINE_MEMORY_MB", "9999999999999"},
                                                        {"PLUMBLINE_FLUSH_MS", ""},
                                                        {"PLUMBLINE_CAPTURE_STEPS", "often"},
                                                        {"PLUMBLINE_CAPTURE", "grad=much"},
                                                        {"PLUMBLINE_NANFILL", "yes"},
                                                        {"PLUMBLINE_DISABLE", "maybe"},
                                                        {"PLUMBLINE_RUN", ""}}) {
    clear();
    set(name, value);
    const Settings settings = load_settings();
    ASSERT_EQ(settings.complaints.size(), 1u) << name << "=" << value;
    EXPECT_TRUE(settings.complaints[0].starts_with(std::string(name) + "=" + value + " was not understood"));
    EXPECT_EQ(settings.level, Level::kWatch);
    EXPECT_EQ(settings.ring_bytes, Settings{}.ring_bytes);
    EXPECT_EQ(settings.memory_bytes, Settings{}.memory_bytes);
    EXPECT_EQ(settings.flush_ms, Settings{}.flush_ms);
    EXPECT_FALSE(settings.disabled);
  }
}

TEST_F(SettingsTest, AMalformedFileIsOneComplaintWithItsLine) {
  config("level = \"watch\"\nring_kb = = 5\n");
  const Settings settings = load_settings();
  ASSERT_EQ(settings.complaints.size(), 1u);
  EXPECT_NE(settings.complaints[0].find("line 2"), std::string::npos);
}

TEST_F(SettingsTest, AMissingFileIsAComplaint) {
  set("PLUMBLINE_CONFIG", scratch_ / "absent.toml");
  ASSERT_EQ(load_settings().complaints.size(), 1u);
}

TEST_F(SettingsTest, TheCacheFollowsTheDesktopConvention) {
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(load_settings().cache, "/xdg/plumbline");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(load_settings().cache, "/home/me/.cache/plumbline");
}

TEST(Level, NamesGoBothWays) {
  for (const Level level : {Level::kOff, Level::kWatch, Level::kDiagnose}) {
    EXPECT_EQ(parse_level(level_name(level)), level);
  }
  EXPECT_EQ(parse_level("WATCH"), std::nullopt);
}

}  // namespace
}  // namespace plumbline::recorder
