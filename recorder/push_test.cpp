// Calls that raise: what the marks of hooked calls turn into. Each scenario runs in a process of its own and is read
// back from the trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <thread>

#include "recorder/recorder.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

using testing::alloc_record;
using testing::Event;
using testing::ScratchDirectory;

template <class Scenario>
std::vector<Event> record(Scenario&& scenario) {
  const ScratchDirectory scratch;
  const int status = testing::run_in_child([&] {
    Settings settings;
    settings.run_directory = scratch / "run";
    start(settings);
    promote("step");
    scenario();
    stop(0, 0);
  });
  EXPECT_EQ(status, 0);
  std::vector<Event> events = testing::read_trace(testing::only_file(scratch / "run", ".plt")).events;
  std::erase_if(events, [](const Event& event) { return event.kind == Kind::kSample; });
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
  return events;
}

// Hooks as the shim has them: marks and clears in one frame, the real call in a deeper one.
template <class Real>
[[gnu::noinline]] void hooked_collective(std::uint64_t id, Real&& real) {
  set_in_flight(Kind::kCollective, 0, now_ns(), id);
  real();
  clear_in_flight();
}

template <class Real>
[[gnu::noinline]] void hooked_wait(std::uint64_t id, Real&& real) {
  set_in_flight(Kind::kWait, 0, now_ns(), id);
  real();
  clear_in_flight();
}

[[gnu::noinline]] void hooked_allocation(std::uint64_t size, bool raises) {
  set_in_flight(Kind::kAllocFailed, alloc_tag(Source::kCpu, -1), now_ns(), size);
  if (raises) throw std::bad_alloc();
  clear_in_flight();
  push(alloc_record(now_ns(), 0x1000, size).header);
}

template <class Call>
void swallow(Call&& call) {
  try {
    call();
  } catch (const std::exception&) {
    return;
  }
}

std::size_t count(const std::vector<Event>& events, Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(), [&](const Event& event) { return event.kind == kind; }));
}

TEST(InFlight, ACallThatReturnsLeavesNothing) {
  const auto events = record([] {
    hooked_collective(1, [] {});
    hooked_wait(1, [] {});
    hooked_allocation(64, false);
  });
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Kind::kAlloc);
}

TEST(InFlight, AnAllocationThatRaisesBecomesAFailure) {
  const auto events = record([] {
    swallow([] { hooked_allocation(1 << 30, true); });
    push(alloc_record(now_ns(), 1, 1).header);
  });
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, Kind::kAllocFailed);
  EXPECT_EQ(events[0].b, std::uint64_t{1} << 30);
  EXPECT_EQ(events[0].a, 0u);
  EXPECT_EQ(events[0].tag, alloc_tag(Source::kCpu, -1));
}

TEST(InFlight, ARaisedAllocationIsSeenByTheNextOneAndAtTheEnd) {
  const auto events = record([] {
    swallow([] { hooked_allocation(111, true); });
    swallow([] { hooked_allocation(222, true); });
  });
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].b, 111u);
  EXPECT_EQ(events[1].b, 222u);
}

TEST(InFlight, EventsInsideOfACallAreNoSignOfAnError) {
  const auto events = record([] {
    hooked_collective(7, [] {
      for (int i = 0; i < 10; ++i) hooked_allocation(64, false);
      hooked_wait(7, [] { hooked_allocation(64, false); });
    });
  });
  EXPECT_EQ(events.size(), 11u);
  EXPECT_EQ(count(events, Kind::kAlloc), 11u);
}

TEST(InFlight, ACollectiveThatRaisesEndsAsRaised) {
  const auto events = record([] {
    swallow([] { hooked_collective(7, [] { throw std::runtime_error("size mismatch"); }); });
    hooked_collective(8, [] {});
  });
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Kind::kCollectiveEnd);
  EXPECT_EQ(events[0].a, 7u);
  EXPECT_EQ(events[0].tag, static_cast<std::uint64_t>(Outcome::kRaised));
}

TEST(InFlight, AWaitThatRaisesEndsToo) {
  const auto events = record([] { swallow([] { hooked_wait(7, [] { throw std::runtime_error("timeout"); }); }); });
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Kind::kWaitEnd);
  EXPECT_EQ(events[0].a, 7u);
  EXPECT_EQ(events[0].tag, static_cast<std::uint64_t>(Outcome::kRaised));
}

TEST(InFlight, AnErrorOfAnInnerCallIsNotThatOfTheOuter) {
  const auto events = record(
      [] { hooked_collective(1, [] { swallow([] { hooked_wait(2, [] { throw std::runtime_error("inner"); }); }); }); });
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Kind::kWaitEnd);
  EXPECT_EQ(events[0].a, 2u);
}

TEST(InFlight, AnErrorThatPassesThroughBothEndsBoth) {
  const auto events =
      record([] { swallow([] { hooked_collective(1, [] { hooked_wait(1, [] { hooked_allocation(9, true); }); }); }); });
  EXPECT_EQ(count(events, Kind::kAllocFailed), 1u);
  EXPECT_EQ(count(events, Kind::kWaitEnd), 1u);
  EXPECT_EQ(count(events, Kind::kCollectiveEnd), 1u);
  EXPECT_EQ(events.size(), 3u);
}

TEST(InFlight, CallsDeeperThanTwoAreNotMarked) {
  const auto events = record([] {
    hooked_collective(1, [] {
      hooked_wait(2, [] { swallow([] { hooked_collective(3, [] { throw std::runtime_error("deep"); }); }); });
    });
  });
  EXPECT_TRUE(events.empty());
}

TEST(InFlight, AMarkOfAnotherThreadIsLeftAlone) {
  const auto events = record([] {
    std::thread([] { swallow([] { hooked_collective(1, [] { throw std::runtime_error("x"); }); }); }).join();
    push(alloc_record(now_ns(), 1, 1).header);
  });
  EXPECT_EQ(events.size(), 1u);
}

TEST(InFlight, AFailingAllocationIsToldOnce) {
  record([] {
    EXPECT_EQ(failing_allocation(), 0u);
    swallow([] {
      set_in_flight(Kind::kAllocFailed, 0, 0, 77);
      EXPECT_EQ(failing_allocation(), 77u);
      EXPECT_EQ(failing_allocation(), 0u);
      throw std::runtime_error("no memory");
    });
    EXPECT_EQ(failing_allocation(), 0u);
    push(alloc_record(now_ns(), 1, 1).header);
    EXPECT_EQ(failing_allocation(), 0u);
  });
}

}  // namespace
}  // namespace plumbline::recorder
