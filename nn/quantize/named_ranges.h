// Ranges of tensors in a file, so that other programs need not observe samples again
// (docs/quantizing.md).
#ifndef INTAGLIO_NN_QUANTIZE_NAMED_RANGES_H_
#define INTAGLIO_NN_QUANTIZE_NAMED_RANGES_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/named_range.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

// The ranges that are known, in the order of tensors. A tensor whose name is empty, not unique or
// not of printable ASCII is named by its number.
std::vector<NamedRange> NameRanges(const Graph& graph, const Ranges& ranges);

// One for each tensor of the graph; those that are not named have none. Errors name a tensor that
// the graph does not have, or that is no activation of float32, or is named twice, and a range that
// is no interval of finite numbers.
Result<Ranges> RangesOf(const Graph& graph, std::span<const NamedRange> named);

// The most bytes that the text of ranges may have.
inline constexpr size_t kMaxRangesBytes = size_t{16} << 20;

// {"format": "intaglio-ranges-1", "ranges": {"image": [-1, 1], ...}}
std::string RangesToJson(std::span<const NamedRange> ranges);
// In the order of names. Errors say in one line what is wrong with the text.
Result<std::vector<NamedRange>> ParseRanges(std::string_view json);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_NAMED_RANGES_H_
