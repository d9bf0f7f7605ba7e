// MEAN: sums per output element, then one requantization, whose multiplier holds the division by
// the number of elements.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/loops.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

template <class T>
class MeanRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const T*>(arguments.inputs[0]);
    auto* const sums = static_cast<int32_t*>(arguments.scratch);
    std::fill_n(sums, count, 0);
    const ptrdiff_t extent = loops.inner_extent();
    const bool reduces = loops.inner_strides()[1] == 0;
    loops.Run([&](const Loops<2>::Offsets& offsets) {
      if (reduces) {
        sums[offsets[1]] += SumOf(in + offsets[0], extent);
      } else {
        AddTo(sums + offsets[1], in + offsets[0], extent);
      }
    });
    auto* const out = static_cast<T*>(arguments.outputs[0]);
    for (size_t i = 0; i < count; ++i) {
      const int32_t scaled = Requantize(sums[i] - zero_sum, multiplier);
      out[i] = static_cast<T>(AddAndClamp(scaled, zero_point, range));
    }
    return {};
  }

  Loops<2> loops;  // the input, the sums; a reduced dimension has stride 0 in the sums
  size_t count = 0;
  int32_t zero_sum = 0;  // input zero point times the number of elements of a sum
  QuantizedMultiplier multiplier;
  int32_t zero_point = 0;
  Range range;

 private:
  static int32_t SumOf(const T* in, ptrdiff_t extent) {
    int32_t sum = 0;
    for (ptrdiff_t i = 0; i < extent; ++i) sum += in[i];
    return sum;
  }
  static void AddTo(int32_t* sums, const T* in, ptrdiff_t extent) {
    for (ptrdiff_t i = 0; i < extent; ++i) sums[i] += in[i];
  }
};

// As TFLite folds 1 / count into the multiplier: the mantissa is made longer by as many bits as the
// division will take, as far as 64 bits and the exponent allow, and the quotient is truncated.
QuantizedMultiplier DividedBy(QuantizedMultiplier multiplier, int64_t count) {
  const int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1;
  const int shift = std::max(0, std::min({bits, 32, 31 + multiplier.exponent}));
  const int64_t mantissa = (int64_t{multiplier.mantissa} << shift) / count;
  return {static_cast<int32_t>(mantissa), multiplier.exponent - shift};
}

template <class T>
std::shared_ptr<Routine> MakeRoutine(const Loops<2>& loops, size_t count, int32_t zero_sum,
                                     QuantizedMultiplier multiplier, const Affine& out) {
  auto routine = std::make_shared<MeanRoutine<T>>();
  routine->loops = loops;
  routine->count = count;
  routine->zero_sum = zero_sum;
  routine->multiplier = multiplier;
  routine->zero_point = out.zero_point;
  routine->range = RangeOf(TypeOf<T>);
  return routine;
}

}  // namespace

ShapesResult InferMean(const LayerView& layer) {
  const Result<std::vector<bool>> reduced = AxesOf(layer, layer.op<Mean>().axes);
  if (!reduced.ok()) return reduced.status();
  Shape shape;
  for (size_t i = 0; i < reduced->size(); ++i) {
    if (!(*reduced)[i]) {
      shape.push_back(layer.input(0).shape[i]);
    } else if (layer.op<Mean>().keep_dims) {
      shape.push_back(1);
    }
  }
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareMean(const LayerView& layer, const LayerOptions&) {
  const Result<std::vector<bool>> reduced = AxesOf(layer, layer.op<Mean>().axes);
  if (!reduced.ok()) return reduced.status();
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Shape& shape = layer.input(0).shape;
  Shape summed;
  Shape kept;
  for (size_t i = 0; i < shape.size(); ++i) {
    summed.push_back((*reduced)[i] ? shape[i] : 1);
    kept.push_back((*reduced)[i] ? 1 : shape[i]);
  }
  const Result<int64_t> divisor = CountElements(summed);
  if (!divisor.ok()) return layer.Wrap(divisor.status());
  if (*divisor < 1 || *divisor > int64_t{1} << 22) {
    return layer.Unsupported("averages " + std::to_string(*divisor) +
                             " elements; 1 to 2^22 are supported");
  }
  const Result<QuantizedMultiplier> multiplier = MakeMultiplier(
      layer, static_cast<double>(q->input.scale) / static_cast<double>(q->output.scale));
  if (!multiplier.ok()) return multiplier.status();

  Loops<2> loops;
  const std::vector<ptrdiff_t> in_strides = DenseStrides(shape);
  const std::vector<ptrdiff_t> out_strides = DenseStrides(kept);
  for (size_t i = 0; i < shape.size(); ++i) {
    loops.Add(shape[i], {in_strides[i], (*reduced)[i] ? 0 : out_strides[i]});
  }

  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  const int32_t zero_sum = static_cast<int32_t>(q->input.zero_point * *divisor);
  const QuantizedMultiplier divided = DividedBy(*multiplier, *divisor);
  PreparedLayer prepared;
  prepared.routine = layer.output().type == Type::kInt8
                         ? MakeRoutine<int8_t>(loops, count, zero_sum, divided, q->output)
                         : MakeRoutine<uint8_t>(loops, count, zero_sum, divided, q->output);
  prepared.name = RoutineName(layer.output().type, "mean");
  prepared.scratch_bytes = *CountBytes(layer.output().shape, Type::kInt32);
  return prepared;
}

}  // namespace intaglio::nn
