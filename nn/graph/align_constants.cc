#include "intaglio/nn/graph/align_constants.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/ledger.h"

namespace intaglio::nn {

Status AlignConstants(Graph& graph, Ledger* ledger) {
  std::map<std::pair<const void*, size_t>, std::shared_ptr<const std::vector<int64_t>>> copies;
  for (Tensor& tensor : graph.tensors) {
    const auto address = reinterpret_cast<uintptr_t>(tensor.data);
    if (!tensor.constant || address % SizeOf(tensor.type) == 0) continue;
    auto& copy = copies[{tensor.data, tensor.data_bytes}];
    if (copy == nullptr) {
      if (ledger != nullptr) INTAGLIO_RETURN_IF_ERROR(ledger->Charge(tensor.data_bytes));
      const auto made = std::make_shared<std::vector<int64_t>>(tensor.data_bytes / 8 + 1);
      std::memcpy(made->data(), tensor.data, tensor.data_bytes);
      copy = made;
    }
    tensor.data = copy->data();
    tensor.owner = copy;
  }
  return {};
}

}  // namespace intaglio::nn
