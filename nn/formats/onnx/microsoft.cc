// Products of onnxruntime's own domain, com.microsoft.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/integer_sums.h"
#include "intaglio/nn/formats/onnx/products.h"
#include "intaglio/nn/formats/onnx/quantization.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

Sums Dequantized() {
  Numerics numerics;
  numerics.scaling = Scaling::kToFloat;
  numerics.float32_scales = true;
  return {Type::kFloat32, {}, numerics};
}

// a, scale, zero point, b, scale, zero point, bias, and the output's scale and zero point. Without
// the last two the output is float32.
void ReadQGemm(Translation& t) {
  LayerMaker& make = t.make;
  if (t.Float("alpha", 1) != 1.0f) return t.Refuse("only alpha = 1 is supported");
  TensorId a = QuantizedInput(t, 0);
  Weights b = QuantizedWeights(t, 3);
  if (t.Flag("transA", false)) a = make.Transposed(a, {1, 0});
  b.transposed = t.Flag("transB", false) && make.RankOf(b.id) == 2;
  const Sums to = t.has(7) ? QuantizedOutput(t, 7, Type::kUInt8) : Dequantized();
  TensorId bias = t.optional(6);
  if (bias != kNoTensor) bias = make.Reshaped(bias, {static_cast<int>(Count(make.ShapeOf(bias)))});
  t.Set(0, MatrixProduct(make, a, b, bias, to));
}

// f32(sum) * f32(scale of a * scale of b), then the bias. Scales may be those of a run.
TensorId IntegerToFloat(Translation& t, TensorId sums, TensorId a_scale, TensorId b_scale,
                        TensorId bias) {
  LayerMaker& make = t.make;
  const TensorId scale = make.AddLike(Ieee<Mul>(), {b_scale, make.Reshaped(a_scale, {})});
  TensorId y = make.AddLike(Ieee<Mul>(), {make.CastTo(sums, Type::kFloat32), scale});
  if (bias != kNoTensor) y = make.AddLike(Ieee<Add>(), {y, bias});
  return y;
}

// a, b, scale of a, scale of b, zero point of a, zero point of b, bias.
void ReadMatMulIntegerToFloat(Translation& t) {
  const TensorId sums = IntegerProduct(t, t.in(0), t.in(1), t.optional(4), t.optional(5));
  t.Set(0, IntegerToFloat(t, sums, t.in(2), t.in(3), t.optional(6)));
}

// a (float32, quantized on the fly), b, scale of b, zero point of b, bias.
void ReadDynamicQuantizeMatMul(Translation& t) {
  const DynamicallyQuantized a = QuantizeDynamically(t, t.in(0));
  const TensorId sums = IntegerProduct(t, a.values, t.in(1), a.zero_point, t.optional(3));
  t.Set(0, IntegerToFloat(t, sums, a.scale, t.in(2), t.optional(4)));
}

// The numbers of `bits` bits that bytes hold, the lowest first.
std::vector<float> Unpacked(const std::vector<int64_t>& bytes, int bits, size_t count) {
  std::vector<float> values;
  const auto per_byte = static_cast<size_t>(8 / bits);
  for (size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i / per_byte]);
    values.push_back(
        static_cast<float>(byte >> (i % per_byte * static_cast<size_t>(bits)) & ((1 << bits) - 1)));
  }
  return values;
}

// The weights of MatMulNBits: `columns` lines of `depth` numbers, in blocks that have a scale and a
// zero point each. A line ends in a block that is filled up, and its zero points in a byte that is.
struct Blocks {
  int columns = 0;
  int depth = 0;
  int bits = 4;
  int block = 0;

  size_t per_line() const { return (static_cast<size_t>(depth) + size() - 1) / size(); }
  size_t size() const { return static_cast<size_t>(block); }
  size_t count() const { return static_cast<size_t>(columns) * per_line(); }
  size_t bytes() const { return count() * size() * static_cast<size_t>(bits) / 8; }
  size_t zero_bytes_per_line() const { return (per_line() * static_cast<size_t>(bits) + 7) / 8; }
};

Blocks BlocksOf(Translation& t) {
  constexpr int kMost = 1 << 30;
  Blocks blocks;
  blocks.columns = t.IntWithin("N", 0, 1, kMost);
  blocks.depth = t.IntWithin("K", 0, 1, kMost);
  blocks.bits = t.IntWithin("bits", 4, 2, 8);
  blocks.block = t.IntWithin("block_size", 0, 16, 1 << 16);
  if (blocks.bits != 2 && blocks.bits != 4 && blocks.bits != 8) t.Refuse("bits other than 2, 4, 8");
  if (blocks.block % 16 != 0) t.Invalid("block_size is no multiple of 16");
  if (t.has(4)) t.Refuse("g_idx");
  const auto elements = [&](size_t i) { return static_cast<size_t>(Count(t.input(i).shape)); };
  if (elements(1) != blocks.bytes() || elements(2) != blocks.count()) {
    t.Invalid("weights or scales do not fit N, K and block_size");
  }
  return blocks;
}

// A zero point for each block: float32, or packed like the weights; by default half of the range.
std::vector<float> BlockZeros(Translation& t, const Blocks& blocks) {
  if (!t.has(3)) {
    return std::vector<float>(blocks.count(), static_cast<float>(1 << (blocks.bits - 1)));
  }
  if (t.input(3).type == Type::kFloat32) return t.make.Floats(t.in(3), "the zero points");
  const std::vector<int64_t> bytes = t.make.Ints(t.in(3), "the zero points");
  const size_t stride = blocks.zero_bytes_per_line();
  std::vector<float> zeros;
  for (size_t i = 0; i + stride <= bytes.size(); i += stride) {
    const auto begin = bytes.begin() + static_cast<ptrdiff_t>(i);
    const std::vector<float> line =
        Unpacked({begin, begin + static_cast<ptrdiff_t>(stride)}, blocks.bits, blocks.per_line());
    zeros.insert(zeros.end(), line.begin(), line.end());
  }
  return zeros;
}

// (w - zero point) * scale, [columns, depth].
TensorId DequantizedBlocks(Translation& t, const Blocks& blocks) {
  LayerMaker& make = t.make;
  const std::vector<float> zeros = BlockZeros(t, blocks);
  const std::vector<float> scales = make.Floats(t.in(2), "the scales");
  const size_t line = blocks.per_line() * blocks.size();
  if (zeros.size() != blocks.count()) t.Invalid("the zero points do not fit");
  // What is packed is widened eight times before it becomes numbers.
  make.CheckMemory(blocks.bytes() * 8 + blocks.count() * blocks.size() * 8);
  const std::vector<float> packed =
      Unpacked(make.Ints(t.in(1), "the weights"), blocks.bits, blocks.count() * blocks.size());
  std::vector<float> weights;
  for (size_t column = 0; column < static_cast<size_t>(blocks.columns); ++column) {
    for (size_t i = 0; i < static_cast<size_t>(blocks.depth); ++i) {
      const size_t block = column * blocks.per_line() + i / blocks.size();
      weights.push_back((packed[column * line + i] - zeros[block]) * scales[block]);
    }
  }
  return make.Constant<float>(std::move(weights), {blocks.columns, blocks.depth});
}

// a, packed weights, scales, zero points, g_idx, bias. The weights are dequantized exactly.
void ReadMatMulNBits(Translation& t) {
  const Blocks blocks = BlocksOf(t);
  const TensorId weights = t.make.Transposed(DequantizedBlocks(t, blocks), {1, 0});
  t.Set(0, MatrixProduct(t.make, t.in(0), {weights}, t.optional(5), {}));
}

// By its name and its parameters, of which it may have two.
TensorId Activated(Translation& t, TensorId x) {
  LayerMaker& make = t.make;
  const std::string name = t.String("activation", "");
  std::vector<float> parameters = t.Floats("activation_params");
  parameters.resize(2);
  if (name.empty()) return x;
  if (name == "Relu") return make.AddLike(Relu{}, {x});
  if (name == "Tanh") return make.AddLike(Tanh{}, {x});
  if (name == "Sigmoid") return make.AddLike(Logistic{}, {x});
  if (name == "LeakyRelu") return make.AddLike(LeakyRelu{parameters[0]}, {x});
  if (name == "Clip") {
    Clip clip;
    clip.low = double{parameters[0]};
    clip.high = double{parameters[1]};
    return make.AddLike(clip, {x});
  }
  t.Refuse("activation " + name);
  return kNoTensor;
}

// x, filters, bias, and what is added before the activation.
void ReadFusedConv(Translation& t) {
  TensorId y = Convolution(t, t.in(0), {t.in(1)}, t.optional(2), {});
  if (t.has(3)) y = t.make.AddLike(Ieee<Add>(), {y, t.in(3)});
  t.Set(0, Activated(t, y));
}

constexpr int kAny = std::numeric_limits<int>::max();

constexpr OnnxRow Microsoft(const char* name, void (*read)(Translation& t), const char* types,
                            const char* remark = "") {
  return {name, read, types, 1, kAny, remark, kMicrosoft};
}

constexpr OnnxRow kRows[] = {
    Microsoft("DynamicQuantizeMatMul", ReadDynamicQuantizeMatMul, "float32"),
    Microsoft("FusedConv", ReadFusedConv, "float32",
              "Relu, Tanh, Sigmoid, LeakyRelu, Clip or no activation"),
    Microsoft("MatMulIntegerToFloat", ReadMatMulIntegerToFloat, "int8, uint8"),
    Microsoft("MatMulNBits", ReadMatMulNBits, "float32", "weights of 2, 4 or 8 bits; no g_idx"),
    Microsoft("QGemm", ReadQGemm, "int8, uint8", "alpha = 1"),
};

}  // namespace

std::span<const OnnxRow> MicrosoftRows() { return kRows; }

}  // namespace intaglio::nn::onnx
