// What stands between the C interface and C++: nothing throws across it, and errors become handles.
#ifndef INTAGLIO_BINDINGS_C_GUARD_H_
#define INTAGLIO_BINDINGS_C_GUARD_H_

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "intaglio/bindings/c/intaglio.h"
#include "intaglio/fixedpoint/status.h"

namespace intaglio::c {

// Null for success. If there is no memory for the message, a constant handle that says so.
it_status* MakeStatus(const Status& status) noexcept;
it_status* MakeStatus(int32_t code, const char* message) noexcept;

// Inline, and without a string unless there is an error: every call asks it.
inline Status NotNull(const void* pointer, const char* name) {
  if (pointer != nullptr) [[likely]]
    return {};
  return InvalidArgument(std::string(name) + " is null");
}

// Runs body(), which returns a Status, and turns whatever it throws into an error.
template <class Body>
it_status* Guard(const Body& body) noexcept {
  try {
    const Status status = body();
    if (status.ok()) [[likely]]
      return nullptr;
    return MakeStatus(status);
  } catch (const std::bad_alloc&) {
    return MakeStatus(IT_OUT_OF_MEMORY, "memory ran out");
  } catch (const std::length_error&) {
    return MakeStatus(IT_OUT_OF_MEMORY, "a size does not fit the address space");
  } catch (const std::exception& error) {
    return MakeStatus(IT_INTERNAL, error.what());
  } catch (...) {
    return MakeStatus(IT_INTERNAL, "an exception of an unknown type");
  }
}

// Does the same with a body that returns Result<std::unique_ptr<Handle>>. *out is null if it fails.
template <class Handle, class Body>
it_status* Create(Handle** out, const Body& body) noexcept {
  if (out != nullptr) *out = nullptr;
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(out, "out"));
    Result<std::unique_ptr<Handle>> made = body();
    if (!made.ok()) return made.status();
    *out = made->release();
    return {};
  });
}

}  // namespace intaglio::c

#endif  // INTAGLIO_BINDINGS_C_GUARD_H_
