// The one error type of the project. Every fallible entry returns a Status, or a Result<T> where it
// makes something; nothing in Intaglio throws across an interface or aborts on bad input.
#ifndef INTAGLIO_FIXEDPOINT_STATUS_H_
#define INTAGLIO_FIXEDPOINT_STATUS_H_

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/language.h"

namespace intaglio {

enum class StatusCode {
  kOk = 0,
  kInvalidArgument,  // the caller's value cannot be right, whatever the machine
  kUnsupported,      // well formed, but this build or machine has no way to do it
  kOutOfMemory,      // an allocation failed, or a size does not fit the address space
  kIoError,          // a file could not be opened, read or written
};

// Success, or a code and one line that names the offending value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// Marked cold: the compiler optimizes code that leads to a refusal for size, and keeps it apart
// from other code.
[[gnu::cold]] inline Status InvalidArgument(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}
[[gnu::cold]] inline Status Unsupported(std::string message) {
  return {StatusCode::kUnsupported, std::move(message)};
}
[[gnu::cold]] inline Status OutOfMemory(std::string message) {
  return {StatusCode::kOutOfMemory, std::move(message)};
}
[[gnu::cold]] inline Status IoError(std::string message) {
  return {StatusCode::kIoError, std::move(message)};
}

// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // Only where ok().
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace intaglio

// Leaves the enclosing function with the Status of `expression` unless it is ok.
#define INTAGLIO_RETURN_IF_ERROR(expression)                                        \
  do {                                                                              \
    if (::intaglio::Status intaglio_status = (expression); !intaglio_status.ok()) { \
      return intaglio_status;                                                       \
    }                                                                               \
  } while (false)

#endif  // INTAGLIO_FIXEDPOINT_STATUS_H_
