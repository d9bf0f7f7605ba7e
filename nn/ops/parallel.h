// Loops shared out to the threads of a context.
#ifndef INTAGLIO_NN_OPS_PARALLEL_H_
#define INTAGLIO_NN_OPS_PARALLEL_H_

#include <algorithm>
#include <cstddef>
#include <functional>

#include "intaglio/gemm/context.h"

namespace intaglio::nn {

// Bytes of results below which waking a thread costs more than it saves.
inline constexpr ptrdiff_t kLeastBytesOfThread = 16 << 10;

// Calls f(begin, end) for parts of [0, count), as many as there are threads, but none of fewer than
// `least` elements; f(0, count) for few. Allocates nothing.
template <class Function>
void ForParts(Context& context, ptrdiff_t count, ptrdiff_t least, const Function& f) {
  const auto parts = static_cast<int>(
      std::min<ptrdiff_t>(context.threads(), count / std::max<ptrdiff_t>(1, least)));
  if (parts <= 1) return f(ptrdiff_t{0}, count);
  const auto task = [&](int i) { f(count * i / parts, count * (i + 1) / parts); };
  context.Run(parts, std::ref(task));  // by reference: a copy would be allocated
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_PARALLEL_H_
