#include <cstring>

#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/intaglio.h"

// A message lies behind its handle, in the same memory.
struct it_status {
  int32_t code;
  const char* message;
};

namespace intaglio::c {
namespace {

// Never written and never deleted.
constinit it_status no_memory = {IT_OUT_OF_MEMORY, "no memory, not even for the message"};

// The codes of both interfaces are the same numbers.
static_assert(static_cast<int>(StatusCode::kOk) == IT_OK);
static_assert(static_cast<int>(StatusCode::kInvalidArgument) == IT_INVALID_ARGUMENT);
static_assert(static_cast<int>(StatusCode::kUnsupported) == IT_UNSUPPORTED);
static_assert(static_cast<int>(StatusCode::kOutOfMemory) == IT_OUT_OF_MEMORY);
static_assert(static_cast<int>(StatusCode::kIoError) == IT_IO_ERROR);

}  // namespace

it_status* MakeStatus(int32_t code, const char* message) noexcept {
  const size_t length = std::strlen(message) + 1;
  void* const memory = ::operator new(sizeof(it_status) + length, std::nothrow);
  if (memory == nullptr) return &no_memory;
  char* const text = static_cast<char*>(memory) + sizeof(it_status);
  std::memcpy(text, message, length);
  return new (memory) it_status{code, text};
}

it_status* MakeStatus(const Status& status) noexcept {
  if (status.ok()) return nullptr;
  return MakeStatus(static_cast<int32_t>(status.code()), status.message().c_str());
}

}  // namespace intaglio::c

int32_t it_version() { return IT_VERSION; }
int32_t it_abi_version() { return IT_ABI_VERSION; }

int32_t it_status_code(const it_status* status) { return status == nullptr ? IT_OK : status->code; }
const char* it_status_message(const it_status* status) {
  return status == nullptr ? "" : status->message;
}
void it_status_destroy(it_status* status) {
  if (status != &intaglio::c::no_memory) ::operator delete(status);
}
