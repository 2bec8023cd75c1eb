// The first collective of a group that not every member has called and finished, and where each member stands in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "checks/group_calls.hpp"
#include "checks/subject.hpp"
#include "reader/collectives.hpp"

namespace plumbline::checks {

enum class Standing : std::uint8_t {
  kAbsent,    // has a trace, and never made the call
  kWaiting,   // made the call, and nothing shows that it ended
  kFinished,  // made the call, and it ended well
  kFailed,    // made the call, and it ended with an error, or the call itself raised
  kNoTrace,   // nothing is known of this rank
};

struct OpenCallMember {
  std::int32_t rank = -1;  // global
  Standing standing = Standing::kNoTrace;
  std::size_t trace = 0;                   // index in Run::traces(), unless kNoTrace
  std::optional<reader::Collective> call;  // when its record was found
};

struct OpenCall {
  std::uint64_t seq = 0;
  std::vector<OpenCallMember> members;  // in group order

  std::vector<const OpenCallMember*> with(Standing standing) const;
  // A call of this collective, to name it by: one that waits before one that has ended. Null when none was found.
  const reader::Collective* example() const;
};

std::optional<OpenCall> first_open_call(const Subject& subject, const GroupCalls& group);

std::vector<std::int32_t> ranks_of(const std::vector<const OpenCallMember*>& members);

}  // namespace plumbline::checks
