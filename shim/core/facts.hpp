// What a trace says about its process, beside what the recorder itself writes down: command line, environment,
// libraries, launcher. Keys are dotted: "process.command", "env.NCCL_DEBUG", "library.libc10.so".
#pragma once

#include <string>
#include <string_view>

#include "shim/adapter_path.hpp"

namespace plumbline::shim {

// At the start of recording: cheap, reads a few files of /proc.
void report_identity() noexcept;

// Once torch is there.
void report_torch(const std::string& libtorch, const TorchBuild& torch) noexcept;

// Every library that was loaded since the last time, with its build id, by the loader's own list: when torch is there,
// and at the end. Not from a hot path, nor inside dlopen.
void report_libraries() noexcept;

// In the child of a fork, whose trace will be another one.
void forget_reported_libraries() noexcept;

}  // namespace plumbline::shim
