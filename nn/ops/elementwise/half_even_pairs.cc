#include "intaglio/nn/ops/elementwise/half_even_pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/half_even.h"

namespace intaglio::nn {
namespace {

constexpr ptrdiff_t kBlock = 512;  // elements, whose float32 stay in L1

// One of the inputs.
struct Operand {
  Affine affine;
  bool is_signed = true;
  decltype(LineRoutines::dequantize) dequantize = nullptr;  // null: the elements are float32

  // Makes real numbers of the elements from `first` on. `step` is that from one to the next, 0 or
  // any other.
  void Read(const void* data, ptrdiff_t first, ptrdiff_t step, ptrdiff_t count, float* to) const {
    if (step == 1) return ReadLine(data, first, count, to);
    for (ptrdiff_t i = 0; i < (step == 0 ? 1 : count); ++i) {
      ReadLine(data, first + i * step, 1, to + i);
    }
    if (step == 0) std::fill(to + 1, to + count, to[0]);
  }

 private:
  void ReadLine(const void* data, ptrdiff_t first, ptrdiff_t count, float* to) const {
    if (dequantize == nullptr) {
      std::copy_n(static_cast<const float*>(data) + first, count, to);
    } else {
      dequantize(static_cast<const uint8_t*>(data) + first, {is_signed, affine.zero_point},
                 affine.scale, to, count);
    }
  }
};

Result<Operand> OperandOf(const LayerView& layer, const LineRoutines& lines, size_t input) {
  const Tensor& tensor = layer.input(input);
  if (tensor.type == Type::kFloat32) return Operand{};
  const Result<Affine> affine = AffineOf(layer, tensor);
  if (!affine.ok()) return affine.status();
  if (SizeOf(tensor.type) != 1) {
    return layer.Unsupported(std::string("an input is ") + NameOf(tensor.type) +
                             "; int8 or uint8 is supported");
  }
  return Operand{*affine, tensor.type == Type::kInt8, lines.dequantize};
}

// x * scale + offset, rounded once: products of 8-bit integers by float32 are exact in double.
float MultiplyAdd(float x, float scale, float offset) {
  return static_cast<float>(static_cast<double>(x) * static_cast<double>(scale) +
                            static_cast<double>(offset));
}

// How two real numbers become one.
struct Combination {
  PairKind kind = PairKind::kAdd;
  ScaledSum sum = {};  // of kAddScaled; kMulScaled uses scale_a and offset
  Activation activation = Activation::kNone;
  decltype(FloatLoops::add_scaled) add_scaled = nullptr;

  // The result replaces a.
  void Run(const float* b, ptrdiff_t count, float* a) const {
    switch (kind) {
      case PairKind::kAdd:
        for (ptrdiff_t i = 0; i < count; ++i) a[i] += b[i];
        break;
      case PairKind::kSub:
        for (ptrdiff_t i = 0; i < count; ++i) a[i] -= b[i];
        break;
      case PairKind::kMul:
        for (ptrdiff_t i = 0; i < count; ++i) a[i] *= b[i];
        break;
      case PairKind::kAddScaled:
        add_scaled(sum, b, count, a);
        break;
      case PairKind::kMulScaled:
        for (ptrdiff_t i = 0; i < count; ++i) a[i] = a[i] * b[i] * sum.scale_a + sum.offset;
        break;
    }
    if (activation != Activation::kNone) std::transform(a, a + count, a, Bounds<float>(activation));
  }
};

struct Pair {
  Combination combination;
  Operand a;
  Operand b;
  HalfEvenLine quantizer;
  decltype(FloatLoops::quantize_half_even) quantize = nullptr;

  void Run(const RunArguments& arguments, const Loops<3>::Offsets& at,
           const Loops<3>::Offsets& steps, ptrdiff_t count) const {
    uint8_t* const to = static_cast<uint8_t*>(arguments.outputs[0]) + at[2];
    float x[kBlock];
    float y[kBlock];
    for (ptrdiff_t i = 0; i < count; i += kBlock) {
      const ptrdiff_t n = std::min(kBlock, count - i);
      a.Read(arguments.inputs[0], at[0] + i * steps[0], steps[0], n, x);
      b.Read(arguments.inputs[1], at[1] + i * steps[1], steps[1], n, y);
      combination.Run(y, n, x);
      quantize(quantizer, x, n, to + i);
    }
  }
};

// QLINEAR_ADD and QLINEAR_MUL compute with the numbers of 8 bits themselves.
Status CheckBytes(const LayerView& layer) {
  if (layer.input(1).type != Type::kFloat32) return {};
  return layer.Unsupported("input 1 is float32; int8 or uint8 is supported");
}

// The pair as ADD of the layer's tensors.
Result<Pair> PairOf(const LayerView& layer, const LayerOptions& options) {
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  const Result<Operand> a = OperandOf(layer, **lines, 0);
  if (!a.ok()) return a.status();
  const Result<Operand> b = OperandOf(layer, **lines, 1);
  if (!b.ok()) return b.status();
  const Result<HalfEvenQuantizer> quantizer = OutputQuantizer(layer);
  if (!quantizer.ok()) return quantizer.status();
  if (SizeOf(layer.output().type) != 1) {
    return layer.Unsupported(std::string("the output is ") + NameOf(layer.output().type) +
                             "; int8 or uint8 is supported");
  }
  return Pair{{}, *a, *b, quantizer->of_bytes(), FloatLoopsOf(options.kernel).quantize_half_even};
}

Result<PreparedLayer> PreparePair(const LayerView& layer, const Pair& pair) {
  return PrepareBinary(
      layer, RoutineOf([pair, loops = BroadcastLoops<3>(layer)](const RunArguments& arguments) {
        internal::RunInParts(arguments.context, loops, 1,
                             [&](const Loops<3>::Offsets& at, ptrdiff_t extent) {
                               pair.Run(arguments, at, loops.inner_strides(), extent);
                             });
      }));
}

// Takes numbers in steps of the output, zero point included.
void RoundSteps(Pair& pair) {
  pair.quantizer.scale = 1;
  pair.quantizer.zero_point = 0;
}

}  // namespace

Result<PreparedLayer> PrepareHalfEvenPair(const LayerView& layer, const LayerOptions& options,
                                          PairKind kind, Activation activation) {
  Result<Pair> pair = PairOf(layer, options);
  if (!pair.ok()) return pair.status();
  pair->combination.kind = kind;
  pair->combination.activation = activation;
  return PreparePair(layer, *pair);
}

namespace {

// Whether float64 holds a * scale_a + (b * scale_b + offset) for all numbers of 8 bits: the sum has
// no more than 53 bits from its highest to its lowest one.
bool IsExactInFloat64(const ScaledSum& sum) {
  constexpr int kBitsOfFloat = 24;
  constexpr int kBitsOfByte = 8;
  int highest = std::numeric_limits<int>::min();
  int lowest = std::numeric_limits<int>::max();
  for (const auto& [number, bits] :
       {std::pair{sum.scale_a, kBitsOfByte}, std::pair{sum.scale_b, kBitsOfByte},
        std::pair{sum.offset, 0}}) {
    if (number == 0) continue;
    int exponent = 0;
    (void)std::frexp(number, &exponent);
    highest = std::max(highest, exponent + bits);
    lowest = std::min(lowest, exponent - kBitsOfFloat);
  }
  constexpr int kOfThreeTerms = 2;
  return highest < lowest || highest + kOfThreeTerms - lowest <= 53;
}

}  // namespace

Result<PreparedLayer> PrepareQLinearAdd(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckBytes(layer));
  Result<Pair> pair = PairOf(layer, options);
  if (!pair.ok()) return pair.status();
  Affine& a = pair->a.affine;
  Affine& b = pair->b.affine;
  const float scale_a = a.scale / pair->quantizer.scale;
  const float scale_b = b.scale / pair->quantizer.scale;
  const float zero_points = MultiplyAdd(static_cast<float>(a.zero_point), scale_a,
                                        scale_b * static_cast<float>(b.zero_point));
  const ScaledSum sum = {.scale_a = scale_a,
                         .scale_b = scale_b,
                         .offset = static_cast<float>(pair->quantizer.zero_point) - zero_points};
  const FloatSums rounding = IsExactInFloat64(sum) ? FloatSums::kFused : FloatSums::kUnfused;
  pair->combination = {.kind = PairKind::kAddScaled,
                       .sum = sum,
                       .add_scaled = FloatLoopsOf(options.kernel, rounding).add_scaled};
  a = b = {};  // read as they are
  RoundSteps(*pair);
  return PreparePair(layer, *pair);
}

Result<PreparedLayer> PrepareQLinearMul(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckBytes(layer));
  Result<Pair> pair = PairOf(layer, options);
  if (!pair.ok()) return pair.status();
  pair->combination = {
      .kind = PairKind::kMulScaled,
      .sum = {.scale_a = pair->a.affine.scale * pair->b.affine.scale / pair->quantizer.scale,
              .offset = static_cast<float>(pair->quantizer.zero_point)}};
  pair->a.affine.scale = pair->b.affine.scale = 1;
  RoundSteps(*pair);
  return PreparePair(layer, *pair);
}

}  // namespace intaglio::nn
