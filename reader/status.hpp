// Errors as values: what every call of the reader that can fail gives back. Nothing here throws.
//
//   Result<Run> run = Run::open(path);
//   if (!run.ok()) { print(run.status().message()); return 2; }
//   use(*run);
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace plumbline::reader {

enum class Code {
  kOk,
  kNotFound,    // there is no such file or directory
  kUnreadable,  // the system refused to open or read it
  kForeign,     // it is there, but it is not a trace
  kEmpty,       // a trace or a run directory that holds nothing
  kDamaged,     // nothing of it could be read
};

// A code and one sentence that names the file.
class Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

// Either a value or the status that says why there is none.
template <class T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace plumbline::reader
