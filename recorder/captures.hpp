// This process's file of captures: made at the first capture, in `captures/` of the run directory.
//
// capture() compresses and writes in the calling thread and takes a lock: it is for steps that were chosen to be looked
// at, never for a hot path. All functions are noexcept and safe from any thread.
#pragma once

#include <cstdint>

#include "recorder/capture.hpp"
#include "recorder/settings.hpp"

namespace plumbline::recorder {

// What start() gives: where captures of this process go, and how large their file may become.
void enable_captures(const std::string& directory, Level level, std::uint64_t max_bytes) noexcept;

// XXH3-64, what CaptureHash::kXxh3 names.
std::uint64_t capture_hash(const void* data, std::size_t bytes) noexcept;

// False when it was not kept: nothing is recorded here, the disk refuses, or the file has its size; the log tells why.
bool capture(const Capture& capture) noexcept;

// What was captured so far is in the file after this: a process that is killed keeps it.
void flush_captures() noexcept;

// At the end of the process.
void finish_captures() noexcept;

// In the child of a fork: the file is the parent's.
void forget_captures() noexcept;

}  // namespace plumbline::recorder
