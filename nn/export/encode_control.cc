// Operators that run graphs of their own.
#include "intaglio/nn/export/encode.h"

namespace intaglio::nn {

Status Encode(const While& op, Encoding& e) {
  const int32_t condition = e.IndexOf(*op.condition);
  e.SetOptions(tflite::CreateWhileOptions(e.builder(), condition, e.IndexOf(*op.body)));
  return {};
}

Status Encode(const If& op, Encoding& e) {
  const int32_t chosen = e.IndexOf(*op.then_branch);
  e.SetOptions(tflite::CreateIfOptions(e.builder(), chosen, e.IndexOf(*op.else_branch)));
  return {};
}

}  // namespace intaglio::nn
