#include "intaglio/nn/ops/linear/hybrid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/pack/panels.h"

namespace intaglio::nn {
namespace {

constexpr int64_t kMaxDepth = 1 << 16;  // (255 + 1) 128 times that fits int32

struct ItemScale {
  float scale = 1;
  int32_t zero_point = 0;
  LineQuantizer quantizer;
};

// [-m, m] to [-127, 127], m the largest magnitude. An item of zeros keeps the scale 1.
ItemScale Symmetric(float least, float greatest) {
  const float range = std::max(std::fabs(least), std::fabs(greatest));
  if (range == 0) return {};
  return {range / 127, 0, {127 / range, 0, -127, 127}};
}

// [least, greatest], 0 among them, to [-128, 127]; the zero point from the end that is nearer to 0,
// in float64, but for the range.
ItemScale Asymmetric(float least, float greatest) {
  const auto low = static_cast<double>(least);
  const auto high = static_cast<double>(greatest);
  if (low == high) return {};
  const double scale = static_cast<double>(greatest - least) / 255;
  const double from_low = -128 - low / scale;
  const double from_high = 127 - high / scale;
  const bool low_is_nearer = 128 + std::fabs(low / scale) < 127 + std::fabs(high / scale);
  const double real = std::fmin(std::fmax(low_is_nearer ? from_low : from_high, -128), 127);
  const auto zero_point = static_cast<int32_t>(std::round(real));
  const auto narrow = static_cast<float>(scale);
  const auto inverse = static_cast<float>(1.0 / static_cast<double>(narrow));
  return {narrow, zero_point, {inverse, static_cast<float>(zero_point), -128, 127}};
}

struct Extremes {
  float least = 0;
  float greatest = 0;
};

constexpr int kMostParts = 64;

Extremes ExtremesOf(Context& context, const FloatLoops& floats, const float* x, int parts,
                    int64_t size) {
  std::array<Extremes, kMostParts> of_parts;
  ForNumberedParts(context, parts, static_cast<ptrdiff_t>(size),
                   [&](int part, ptrdiff_t begin, ptrdiff_t end) {
                     Extremes& e = of_parts[static_cast<size_t>(part)];
                     floats.range(x + begin, end - begin, &e.least, &e.greatest);
                   });
  Extremes all;
  for (int i = 0; i < parts; ++i) {
    all.least = std::min(all.least, of_parts[static_cast<size_t>(i)].least);
    all.greatest = std::max(all.greatest, of_parts[static_cast<size_t>(i)].greatest);
  }
  return all;
}

// One item by so many threads.
void QuantizeItem(Context& context, const FloatLoops& floats, const float* x, int parts,
                  int64_t item, int64_t size, bool asymmetric, const QuantizedItems& to) {
  const float* const from = x + item * size;
  int8_t* const values = to.values + item * size;
  const Extremes e = ExtremesOf(context, floats, from, parts, size);
  const ItemScale q = asymmetric ? Asymmetric(e.least, e.greatest) : Symmetric(e.least, e.greatest);
  to.scales[item] = q.scale;
  to.zero_points[item] = q.zero_point;
  ForNumberedParts(context, parts, static_cast<ptrdiff_t>(size),
                   [&](int, ptrdiff_t begin, ptrdiff_t end) {
                     floats.quantize(q.quantizer, from + begin, end - begin, values + begin);
                   });
}

// In memory of QuantizedItemsBytes.
QuantizedItems ItemsAt(void* memory, int64_t items) {
  QuantizedItems at;
  at.scales = static_cast<float*>(memory);
  at.zero_points = reinterpret_cast<int32_t*>(at.scales + items);
  at.values = reinterpret_cast<int8_t*>(at.zero_points + items);
  return at;
}

}  // namespace

Result<HybridLayer> CheckHybrid(const LayerView& layer, const LayerOptions& options,
                                Activation activation, int axis, int channels, int64_t depth,
                                bool asymmetric) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  HybridLayer hybrid;
  hybrid.asymmetric = asymmetric;
  hybrid.floats = &FloatLoopsOf(options.kernel);
  INTAGLIO_RETURN_IF_ERROR(CheckWeights(layer, Type::kInt8, axis, channels, hybrid.linear));
  for (const int32_t zero_point : hybrid.linear.weight_zero_points) {
    if (zero_point != 0) return layer.Unsupported("weights with other zero points than 0");
  }
  if (depth > kMaxDepth) {
    return layer.Unsupported("sums " + std::to_string(depth) + " products; at most 2^16");
  }
  if (layer.has_input(2)) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(2), Type::kFloat32));
  }
  Result<FloatFinish> finish = MakeFloatFinish(layer, activation, channels);
  if (!finish.ok()) return finish.status();
  hybrid.finish = std::move(*finish);
  const std::vector<float>& scales = hybrid.linear.weight_scales;
  hybrid.weight_scales.assign(static_cast<size_t>(channels), scales[0]);
  if (scales.size() > 1) hybrid.weight_scales = scales;
  return hybrid;
}

Result<size_t> QuantizedItemsBytes(const LayerView& layer, int64_t items, int64_t size) {
  constexpr int64_t kNumbers = sizeof(float) + sizeof(int32_t);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(items, size + kNumbers, &bytes) || !std::in_range<size_t>(bytes)) {
    return layer.Unsupported("scratch beyond the address space");
  }
  return static_cast<size_t>(bytes);
}

QuantizedItems QuantizeItems(Context& context, const FloatLoops& floats, const float* x,
                             int64_t items, int64_t size, bool asymmetric, void* scratch) {
  const QuantizedItems to = ItemsAt(scratch, items);
  QuantizeItems(context, floats, x, items, size, asymmetric, to);
  return to;
}

QuantizedItems QuantizeInput(const RunArguments& arguments, const FloatLoops& floats, int64_t items,
                             int64_t size, bool asymmetric) {
  if (arguments.scratch_is_ready) return ItemsAt(arguments.scratch, items);
  return QuantizeItems(arguments.context, floats, static_cast<const float*>(arguments.inputs[0]),
                       items, size, asymmetric, arguments.scratch);
}

int64_t QuantizedInputForm(int64_t items, bool asymmetric) {
  return 2 * items + (asymmetric ? 1 : 0);
}

// Threads share the items, or, where there are fewer of them, each item.
void QuantizeItems(Context& context, const FloatLoops& floats, const float* x, int64_t items,
                   int64_t size, bool asymmetric, const QuantizedItems& to) {
  const auto quantize = [&](int64_t item, int parts) {
    QuantizeItem(context, floats, x, parts, item, size, asymmetric, to);
  };
  if (items < context.threads()) {
    const int parts = PartsOf(context, static_cast<ptrdiff_t>(size), kLeastBytesOfThread);
    for (int64_t i = 0; i < items; ++i) quantize(i, std::min(parts, kMostParts));
    return;
  }
  const int64_t least = kLeastBytesOfThread / std::max<int64_t>(1, size) + 1;
  ForParts(context, static_cast<ptrdiff_t>(items), static_cast<ptrdiff_t>(least),
           [&](ptrdiff_t begin, ptrdiff_t end) {
             for (ptrdiff_t i = begin; i < end; ++i) quantize(i, 1);
           });
}

void AppendSums(const PackedMatrix& weights, std::vector<int32_t>& sums) {
  const std::vector<int32_t>& of_channels = weights.panels().sums;
  sums.insert(sums.end(), of_channels.begin(), of_channels.end());
}

void ToReal::Run(const AccumulatorTile& tile) const {
  const auto c = static_cast<size_t>(first_channel + tile.first_element);
  LinesToReal lines;
  lines.in_turn = layer.scales_in_turn;
  lines.weight_scales = layer.weight_scales.data() + c;
  lines.bias = layer.finish.bias.data() + c;
  lines.low = layer.finish.bounds.low;
  lines.high = layer.finish.bounds.high;
  lines.acc_stride = tile.acc_stride;
  lines.to_stride = tile.line_stride;
  for (int l = 0; l < tile.lines; l += lines.lines) {
    const int row = tile.first_line + l;
    const int item = row / rows_per_item;
    lines.lines = std::min(tile.lines - l, (item + 1) * rows_per_item - row);
    lines.scale = scales[item];
    if (zero_points != nullptr) {
      lines.zero_point = zero_points[item];
      lines.weight_sums = weight_sums + c;
    }
    layer.floats->to_real(lines, tile.acc + l * tile.acc_stride, tile.length,
                          static_cast<float*>(tile.dst) + l * tile.line_stride);
  }
}

void ToReal::Run(const void* self, const AccumulatorTile& tile) {
  static_cast<const ToReal*>(self)->Run(tile);
}

}  // namespace intaglio::nn
