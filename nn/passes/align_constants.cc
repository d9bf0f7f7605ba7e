#include "intaglio/nn/passes/align_constants.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace intaglio::nn {

void AlignConstants(Graph& graph) {
  for (Tensor& tensor : graph.tensors) {
    const auto address = reinterpret_cast<uintptr_t>(tensor.data);
    if (!tensor.constant || address % SizeOf(tensor.type) == 0) continue;
    const auto copy = std::make_shared<std::vector<int64_t>>(tensor.data_bytes / 8 + 1);
    std::memcpy(copy->data(), tensor.data, tensor.data_bytes);
    tensor.data = copy->data();
    tensor.owner = copy;
  }
}

}  // namespace intaglio::nn
