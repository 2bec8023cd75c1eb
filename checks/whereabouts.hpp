// Where a rank is: the line of the script, the range, the stacks; what one looks up once it is known which rank to look
// at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/subject.hpp"
#include "reader/collectives.hpp"

namespace plumbline::checks {

// "jobs/train.py:41 in evaluate": of a call site, or any such text, its path shortened to what tells files apart.
std::string site_text(std::string_view site);
std::string site_text(const reader::Trace& trace, const reader::Collective& call);

// The training thread's latest stack not before `since_ns` that shows where it stood still; null: none.
const reader::Stack* stack_since(const reader::Trace& trace, std::uint64_t since_ns);
// The innermost frame that is neither PyTorch's nor Python's own; empty: none.
std::string script_line(const reader::Stack& stack);
// The same of the exception that ended the process, where it told its traceback.
std::string exception_line(const reader::Trace& trace);
// "get (queue.py:171) < fetch (train.py:20)": the innermost frames.
std::string stack_text(const reader::Stack& stack);
// "rank 1's stack at 12.000 s: …", of the training thread, and of another one that holds the interpreter lock.
std::vector<std::string> stack_lines(const Subject& subject, std::size_t trace, std::uint64_t since_ns);

// The innermost range of the job's own that a time lies in, "DistributedDataParallel.forward"; empty: none.
std::string phase_at(const reader::Trace& trace, std::uint64_t time_ns);
// "2 steps": empty where the trace has none.
std::string steps_done(const reader::Trace& trace);

}  // namespace plumbline::checks
