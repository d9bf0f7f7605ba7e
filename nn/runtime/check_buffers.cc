#include "intaglio/nn/runtime/check_buffers.h"

#include <cstdint>
#include <string>

namespace intaglio::nn {

size_t TensorBytes(const Tensor& tensor) { return *CountBytes(tensor.shape, tensor.type); }

// Only an error makes strings.
Status CheckBuffer(const char* kind, size_t index, const Tensor& tensor, size_t expected,
                   const void* data, size_t bytes, Type type) {
  if (type == tensor.type && bytes == expected && (bytes == 0 || data != nullptr)) return {};
  const std::string name =
      std::string(kind) + " " + std::to_string(index) + " '" + tensor.name + "'";
  if (type != tensor.type) {
    return InvalidArgument(name + " is " + NameOf(tensor.type) + ", but a buffer of " +
                           NameOf(type) + " was given");
  }
  if (bytes == expected) return InvalidArgument(name + ": the buffer is null");
  return InvalidArgument(name + " has " + std::to_string(expected) + " bytes, " +
                         ToString(tensor.shape) + ", but a buffer of " + std::to_string(bytes) +
                         " was given");
}

Status CheckCount(const char* kind, size_t expected, size_t given) {
  if (expected == given) return {};
  return InvalidArgument("the model has " + std::to_string(expected) + " " + kind + "s, but " +
                         std::to_string(given) + " were given");
}

Status CheckIndex(const char* kind, size_t index, size_t count) {
  if (index < count) return {};
  return InvalidArgument("there is no " + std::string(kind) + " " + std::to_string(index) +
                         "; the model has " + std::to_string(count));
}

Status CheckAligned(const char* kind, size_t index, const void* data, Type type) {
  if (reinterpret_cast<uintptr_t>(data) % SizeOf(type) == 0) return {};
  return InvalidArgument(std::string(kind) + " " + std::to_string(index) +
                         ": the address of a bound buffer must be a multiple of " +
                         std::to_string(SizeOf(type)));
}

}  // namespace intaglio::nn
