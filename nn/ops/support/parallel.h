// Loops shared out to the threads of a context.
#ifndef INTAGLIO_NN_OPS_SUPPORT_PARALLEL_H_
#define INTAGLIO_NN_OPS_SUPPORT_PARALLEL_H_

#include <algorithm>
#include <cstddef>
#include <functional>

#include "intaglio/gemm/context.h"

namespace intaglio::nn {

// Bytes of results below which waking a thread costs more than it saves.
inline constexpr ptrdiff_t kLeastBytesOfThread = 16 << 10;

// As many parts of `count` elements as there are threads, but none of fewer than `least`.
inline int PartsOf(const Context& context, ptrdiff_t count, ptrdiff_t least) {
  const ptrdiff_t parts =
      std::min<ptrdiff_t>(context.threads(), count / std::max<ptrdiff_t>(1, least));
  return static_cast<int>(std::max<ptrdiff_t>(1, parts));
}

// Calls f(part, begin, end) for `parts` parts of [0, count). Allocates nothing.
template <class Function>
void ForNumberedParts(Context& context, int parts, ptrdiff_t count, const Function& f) {
  if (parts <= 1) return f(0, ptrdiff_t{0}, count);
  const auto task = [&](int i) { f(i, count * i / parts, count * (i + 1) / parts); };
  context.Run(parts, std::ref(task));  // by reference: a copy would be allocated
}

// Calls f(begin, end) for the parts that PartsOf counts.
template <class Function>
void ForParts(Context& context, ptrdiff_t count, ptrdiff_t least, const Function& f) {
  ForNumberedParts(context, PartsOf(context, count, least), count,
                   [&](int, ptrdiff_t begin, ptrdiff_t end) { f(begin, end); });
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_PARALLEL_H_
