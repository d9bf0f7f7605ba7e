#include "intaglio/nn/graph/align_constants.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/graph/ledger.h"

namespace intaglio::nn {
namespace {

std::shared_ptr<void> Allocate(size_t bytes) {
  constexpr size_t kFewBytes = 64 << 10;
  if (bytes >= kFewBytes) return AllocatePages(bytes);
  return std::shared_ptr<void>(::operator new(bytes), [](void* p) { ::operator delete(p); });
}

}  // namespace

Status AlignConstants(Graph& graph, Ledger* ledger) {
  std::map<std::pair<const void*, size_t>, std::shared_ptr<void>> copies;
  for (Tensor& tensor : graph.tensors) {
    const auto address = reinterpret_cast<uintptr_t>(tensor.data);
    if (!tensor.constant || address % SizeOf(tensor.type) == 0) continue;
    auto& copy = copies[{tensor.data, tensor.data_bytes}];
    if (copy == nullptr) {
      if (ledger != nullptr) INTAGLIO_RETURN_IF_ERROR(ledger->Charge(tensor.data_bytes));
      copy = Allocate(tensor.data_bytes);
      std::memcpy(copy.get(), tensor.data, tensor.data_bytes);
      ForgetPages(tensor.owner, tensor.data, tensor.data_bytes);
    }
    tensor.data = copy.get();
    tensor.owner = copy;
  }
  return {};
}

}  // namespace intaglio::nn
