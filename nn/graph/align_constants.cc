#include "intaglio/nn/graph/align_constants.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

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

Status AlignedCopies::Align(Tensor& tensor, Ledger* ledger) {
  Copy& copy = copies_[{tensor.data, tensor.data_bytes}];
  if (copy.to == nullptr) {
    if (ledger != nullptr) INTAGLIO_RETURN_IF_ERROR(ledger->Charge(tensor.data_bytes));
    copy = {tensor.owner, Allocate(tensor.data_bytes)};
    std::memcpy(copy.to.get(), tensor.data, tensor.data_bytes);
    ForgetPages(tensor.owner, tensor.data, tensor.data_bytes);
  }
  tensor.data = copy.to.get();
  tensor.owner = copy.to;
  return {};
}

Status AlignConstants(Graph& graph, Ledger* ledger, AlignedCopies& copies) {
  for (Tensor& tensor : graph.tensors) {
    const auto address = reinterpret_cast<uintptr_t>(tensor.data);
    if (!tensor.constant || address % SizeOf(tensor.type) == 0) continue;
    INTAGLIO_RETURN_IF_ERROR(copies.Align(tensor, ledger));
  }
  return {};
}

Status AlignConstants(Graph& graph, Ledger* ledger) {
  AlignedCopies copies;
  return AlignConstants(graph, ledger, copies);
}

}  // namespace intaglio::nn
