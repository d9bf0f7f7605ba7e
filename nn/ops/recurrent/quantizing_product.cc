// Directed products with weights of 8 bits. Each step has a zero point of its own. So products
// leave it out, with a pipeline that was bound once, and the conversion to real numbers subtracts
// it.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/ops/recurrent/directed_product.h"
#include "intaglio/nn/ops/support/dynamic_quantizer.h"
#include "intaglio/nn/ops/support/parallel.h"

namespace intaglio::nn {
namespace {

// Below it, waking a thread costs more than the conversion.
constexpr ptrdiff_t kLeastElementsOfThread = 1 << 14;

// The weights of one direction.
struct Matrix {
  PackedMatrix packed;
  BoundPipeline bound;
  std::vector<int32_t> sums;  // of the weights of each output, less their zero point
  std::vector<float> scales;
  std::vector<float> bias;
};

class QuantizingProduct final : public DirectedProduct {
 public:
  explicit QuantizingProduct(const LayerOptions& options)
      : quantizer(options.kernel), floats(FloatLoopsOf(options.kernel)) {}

  size_t ScratchBytes(int rows) const override {
    return static_cast<size_t>(rows) * static_cast<size_t>(depth);
  }

  // The rows of x are dense.
  Status Multiply(Context& context, Directions directions, const DirectedMatrix<const float>& x,
                  int rows, const DirectedMatrix<float>& y, std::byte* scratch) const override {
    auto* const values = reinterpret_cast<uint8_t*>(scratch);
    HalfEvenQuantizer q;
    for (ptrdiff_t d = directions.begin; d < directions.end; ++d) {
      const Matrix& matrix = matrices[static_cast<size_t>(d)];
      // Both directions may have the same rows.
      if (d == directions.begin || x.direction != 0) {
        const float* const first = x.data + d * x.direction;
        q = quantizer.Quantize(context, first, ptrdiff_t{rows} * depth, values);
      }
      // Sums are made in the memory of the results.
      float* const to = y.data + d * y.direction;
      const ConstMatrix a{values, Type::kUInt8, rows, depth, depth, Order::kRowMajor, 0};
      const MutableMatrix sums{to, Type::kInt32, rows, outputs, y.row, Order::kRowMajor};
      INTAGLIO_RETURN_IF_ERROR(Gemm(context, a, matrix.packed, sums, matrix.bound));
      ForParts(context, rows, kLeastElementsOfThread / outputs + 1,
               [&](ptrdiff_t begin, ptrdiff_t end) {
                 ToReal(matrix, q, static_cast<int>(end - begin), to + begin * y.row, y.row);
               });
    }
    return {};
  }

  const DynamicQuantizer quantizer;
  const FloatLoops& floats;
  int depth = 0;
  int outputs = 0;  // per direction
  std::vector<Matrix> matrices;

 private:
  void ToReal(const Matrix& matrix, const HalfEvenQuantizer& q, int rows, float* y,
              ptrdiff_t row) const {
    LinesToReal lines;
    lines.scale = q.scale;
    lines.zero_point = q.zero_point;
    lines.weight_sums = matrix.sums.data();
    lines.weight_scales = matrix.scales.data();
    lines.bias = matrix.bias.data();
    lines.low = -std::numeric_limits<float>::infinity();
    lines.high = std::numeric_limits<float>::infinity();
    lines.lines = rows;
    lines.acc_stride = lines.to_stride = row;
    floats.to_real(lines, reinterpret_cast<const int32_t*>(y), outputs, y);
  }
};

Status CheckWeights(const LayerView& layer, const Tensor& weights) {
  const std::string name = "weights '" + weights.name + "'";
  const Quantization& q = weights.quantization;
  const auto rows = static_cast<size_t>(weights.shape[0]);
  if (!q.quantized()) return layer.Invalid(name + " have no quantization");
  if (q.per_axis() && (q.axis != 0 || q.scales.size() != rows)) {
    return layer.Invalid(name + " have " + std::to_string(q.scales.size()) + " scales; 1 or " +
                         std::to_string(rows) + " are needed");
  }
  const Range range = RangeOf(weights.type);
  for (const int32_t zero_point : q.zero_points) {
    if (zero_point >= range.min && zero_point <= range.max) continue;
    return layer.Invalid(name + " have the zero point " + std::to_string(zero_point));
  }
  // Without an overflow for any numbers and zero points.
  constexpr int kMostDepth = 2147483647 / (255 * 255);
  if (weights.shape[1] <= kMostDepth) return {};
  return layer.Unsupported("sums " + std::to_string(weights.shape[1]) + " products; at most " +
                           std::to_string(kMostDepth));
}

// One number for each row that is multiplied.
template <class T>
std::vector<T> PerRow(const std::vector<T>& numbers, size_t first, size_t count) {
  if (numbers.size() == 1) return std::vector<T>(count, numbers[0]);
  const auto begin = numbers.begin() + static_cast<ptrdiff_t>(first);
  return std::vector<T>(begin, begin + static_cast<ptrdiff_t>(count));
}

template <class T>
std::vector<int32_t> SumsOf(const ConstMatrix& matrix, const std::vector<int32_t>& zero_points) {
  std::vector<int32_t> sums;
  for (int c = 0; c < matrix.cols; ++c) {
    const T* const column = static_cast<const T*>(matrix.data) + ptrdiff_t{c} * matrix.rows;
    sums.push_back(std::accumulate(column, column + matrix.rows,
                                   -matrix.rows * zero_points[static_cast<size_t>(c)]));
  }
  return sums;
}

}  // namespace

MadeProduct MakeQuantizingProduct(const LayerView& layer, const DirectedRows& of,
                                  const std::vector<float>& bias, const LayerOptions& options) {
  const Tensor& weights = layer.input(of.input);
  INTAGLIO_RETURN_IF_ERROR(CheckWeights(layer, weights));
  auto product = std::make_unique<QuantizingProduct>(options);
  product->depth = weights.shape[1];
  product->outputs = of.count;
  const auto count = static_cast<size_t>(of.count);
  for (int d = 0; d < of.directions; ++d) {
    const ptrdiff_t first = ptrdiff_t{d} * of.rows + of.first;
    const std::vector<int32_t> zero_points =
        PerRow(weights.quantization.zero_points, static_cast<size_t>(first), count);
    const ConstMatrix matrix{static_cast<const std::byte*>(weights.data) + first * product->depth,
                             weights.type,
                             product->depth,
                             of.count,
                             product->depth,
                             Order::kColMajor,
                             zero_points[0]};
    const bool differ = std::adjacent_find(zero_points.begin(), zero_points.end(),
                                           std::not_equal_to<>()) != zero_points.end();
    Result<PackedOf<PackedMatrix>> packed =
        PackMatrix(layer, options, matrix, differ ? zero_points : std::vector<int32_t>());
    if (!packed.ok()) return packed.status();
    product->constant_bytes += packed->new_bytes;
    Result<BoundPipeline> bound =
        BoundPipeline::Bind(packed->form, StandardPipeline{}, Type::kUInt8, 0);
    if (!bound.ok()) return layer.Wrap(bound.status());
    product->constant_bytes += bound->bytes();
    product->matrices.push_back(
        {std::move(packed->form), std::move(*bound),
         weights.type == Type::kInt8 ? SumsOf<int8_t>(matrix, zero_points)
                                     : SumsOf<uint8_t>(matrix, zero_points),
         PerRow(weights.quantization.scales, static_cast<size_t>(first), count),
         PerRow(bias, static_cast<size_t>(d) * count, count)});
  }
  return std::unique_ptr<const DirectedProduct>(std::move(product));
}

}  // namespace intaglio::nn
