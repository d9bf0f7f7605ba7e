// The elements of a matrix, without the gaps that a stride leaves between its lines.
#ifndef INTAGLIO_BINDINGS_C_STORED_LINES_H_
#define INTAGLIO_BINDINGS_C_STORED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "intaglio/pack/validate.h"

namespace intaglio::c {

// Calls f with the bytes of each line, in order. Lines without elements are none: a matrix may have
// two billion of them.
template <class Function>
void ForEachLine(const ConstMatrix& form, const void* data, const Function& f) {
  const auto size = static_cast<ptrdiff_t>(SizeOf(form.type));
  const auto length = static_cast<size_t>(LineLength(form) * size);
  if (length == 0) return;
  const int lines = form.order == Order::kRowMajor ? form.rows : form.cols;
  const auto* const at = static_cast<const uint8_t*>(data);
  for (int i = 0; i < lines; ++i) f(std::span(at + i * form.stride * size, length));
}

}  // namespace intaglio::c

#endif  // INTAGLIO_BINDINGS_C_STORED_LINES_H_
