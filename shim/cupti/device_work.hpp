// CUPTI's activity records turned into events.
//
// A record of an external correlation comes before the work that it belongs to, and only says which of CUPTI's numbers
// stands for which of ours; a table keeps the latest of them. Used by one thread at a time: CUPTI hands over buffers
// one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "recorder/event.hpp"
#include "shim/cupti/cupti_abi.hpp"

namespace plumbline::shim::cupti {

class DeviceWorks {
 public:
  // The event of a record; none for a correlation, which is kept, or a kind that is not asked for.
  std::optional<recorder::DeviceWorkRecord> take(const Record& record) noexcept;

 private:
  struct Parent {
    std::uint32_t correlation;
    std::uint64_t id;
  };
  static constexpr std::size_t kParents = std::size_t{1} << 14;

  recorder::DeviceWorkRecord event(recorder::DeviceWork work, std::uint64_t start, std::uint64_t end,
                                   std::uint32_t device, std::uint32_t stream, std::uint32_t correlation) noexcept;

  std::array<Parent, kParents> parents_{};
};

}  // namespace plumbline::shim::cupti
