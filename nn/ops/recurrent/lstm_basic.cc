// The LSTM without options, in one step: one product of x and h side by side.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/ops/recurrent/cell.h"
#include "intaglio/nn/ops/recurrent/float_product.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/table16.h"

namespace intaglio::nn {
namespace {

enum Input : size_t { kX, kH, kWeights, kBias, kC };
enum Output : size_t { kNewH, kNewC, kConcatenated, kSums };

struct BasicSizes {
  int batch = 0;
  int inputs = 0;
  int cells = 0;

  int depth() const { return inputs + cells; }
  int sums() const { return 4 * cells; }
  ptrdiff_t states() const { return ptrdiff_t{batch} * cells; }
};

Result<BasicSizes> SizesOf(const LayerView& layer) {
  const Shape& x = layer.input(kX).shape;
  const Shape& h = layer.input(kH).shape;
  if (x.size() != 2 || h.size() != 2 || h[0] != x[0] || h[1] < 1 || h[1] > (1 << 20) || x[1] < 0 ||
      x[1] > (1 << 28) || layer.input(kC).shape != h) {
    return layer.Invalid("an input of " + ToString(x) + " and states of " + ToString(h) + " and " +
                         ToString(layer.input(kC).shape) + " make no cell");
  }
  const BasicSizes sizes{x[0], x[1], h[1]};
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kWeights, {sizes.sums(), sizes.depth()}));
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kBias, {sizes.sums()}));
  INTAGLIO_RETURN_IF_ERROR(CheckSizes(layer, sizes.batch, sizes.sums()));
  return sizes;
}

// x and h side by side.
template <class T>
void Concatenate(const BasicSizes& sizes, const RunArguments& arguments) {
  const auto* x = static_cast<const T*>(arguments.inputs[kX]);
  const auto* h = static_cast<const T*>(arguments.inputs[kH]);
  auto* to = static_cast<T*>(arguments.outputs[kConcatenated]);
  for (int b = 0; b < sizes.batch; ++b, x += sizes.inputs, h += sizes.cells) {
    to = std::copy_n(x, sizes.inputs, to);
    to = std::copy_n(h, sizes.cells, to);
  }
}

// The states of the next step, where they are variables.
void StoreStates(const RunArguments& arguments, size_t h_bytes, size_t c_bytes) {
  if (void* const h = arguments.variables[kH]; h != nullptr) {
    std::memcpy(h, arguments.outputs[kNewH], h_bytes);
  }
  if (void* const c = arguments.variables[kC]; c != nullptr) {
    std::memcpy(c, arguments.outputs[kNewC], c_bytes);
  }
}

class FloatBasicRoutine final : public Routine {
 public:
  FloatBasicRoutine(BasicSizes s, const float* b, FloatProduct p)
      : sizes(s), bias(b), product(std::move(p)) {}

  Status Run(const RunArguments& arguments) const override {
    Concatenate<float>(sizes, arguments);
    auto* const sums = static_cast<float*>(arguments.outputs[kSums]);
    for (ptrdiff_t b = 0; b < sizes.batch; ++b) {
      std::copy_n(bias, sizes.sums(), sums + b * sizes.sums());
    }
    INTAGLIO_RETURN_IF_ERROR(product.AddTo(
        arguments.context, static_cast<const float*>(arguments.outputs[kConcatenated]), sizes.batch,
        sums, sizes.sums(), nullptr));
    for (int b = 0; b < sizes.batch; ++b) Update(arguments, b);
    const size_t bytes = sizeof(float) * static_cast<size_t>(sizes.states());
    StoreStates(arguments, bytes, bytes);
    return {};
  }

 private:
  void Update(const RunArguments& arguments, ptrdiff_t b) const {
    const float* const gates =
        static_cast<const float*>(arguments.outputs[kSums]) + b * sizes.sums();
    const float* const c = static_cast<const float*>(arguments.inputs[kC]) + b * sizes.cells;
    float* const new_c = static_cast<float*>(arguments.outputs[kNewC]) + b * sizes.cells;
    float* const new_h = static_cast<float*>(arguments.outputs[kNewH]) + b * sizes.cells;
    for (int i = 0; i < sizes.cells; i += kPart) {
      UpdatePart(gates + i, c + i, std::min(kPart, sizes.cells - i), new_c + i, new_h + i);
    }
  }

  // The gates stay as they are: the sums are an output.
  void UpdatePart(const float* gates, const float* c, int count, float* new_c, float* new_h) const {
    const FloatLoops& floats = product.floats();
    float input[kPart];
    float candidate[kPart];
    float forget[kPart];
    floats.sigmoid(gates, count, input);
    floats.tanh(gates + sizes.cells, count, candidate);
    floats.sigmoid(gates + 2 * sizes.cells, count, forget);
    for (int i = 0; i < count; ++i) new_c[i] = input[i] * candidate[i] + forget[i] * c[i];
    float* const output = input;
    floats.sigmoid(gates + 3 * sizes.cells, count, output);
    floats.tanh(new_c, count, new_h);
    for (int i = 0; i < count; ++i) new_h[i] *= output[i];
  }

  static constexpr int kPart = 64;  // cells

  const BasicSizes sizes;
  const float* const bias;
  const FloatProduct product;
};

class Uint8BasicRoutine final : public Routine {
 public:
  Uint8BasicRoutine(BasicSizes s, PackedMatrix packed) : sizes(s), weights(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    Concatenate<uint8_t>(sizes, arguments);
    const ConstMatrix x{arguments.outputs[kConcatenated],
                        Type::kUInt8,
                        sizes.batch,
                        sizes.depth(),
                        sizes.depth(),
                        Order::kRowMajor,
                        128};
    const MutableMatrix dst{arguments.scratch, Type::kInt32, sizes.batch,
                            sizes.sums(),      sizes.sums(), Order::kRowMajor};
    INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, x, weights, dst, pipeline));
    const auto* const accumulators = static_cast<const int32_t*>(arguments.scratch);
    auto* const sums = static_cast<int16_t*>(arguments.outputs[kSums]);
    for (ptrdiff_t i = 0; i < ptrdiff_t{sizes.batch} * sizes.sums(); ++i) {
      sums[i] = Scale(accumulators[i]);
    }
    for (int b = 0; b < sizes.batch; ++b) Update(arguments, b);
    const auto states = static_cast<size_t>(sizes.states());
    StoreStates(arguments, states, sizeof(int16_t) * states);
    return {};
  }

  const BasicSizes sizes;
  const PackedMatrix weights;
  QuantizedMultiplier multiplier;
  StandardPipeline pipeline;
  const Table16* logistic = &LogisticTable();
  const Table16* tanh = &TanhTable(3);

 private:
  static int32_t Saturate(int32_t x) { return std::clamp(x, -32768, 32767); }
  // Of numbers in units of 2^-15.
  static int32_t Multiply(int32_t a, int32_t b) { return Saturate((a * b + (1 << 14)) >> 15); }

  // TFLite leaves this product to ruy, which rounds twice as others do, but the second time ties
  // upwards.
  int16_t Scale(int32_t accumulator) const {
    const int32_t shifted = Scalar::ShiftLeft(accumulator, multiplier.left_shift());
    const int64_t product = SaturatingRoundingDoublingHighMul<Scalar>(shifted, multiplier.mantissa);
    const int right = multiplier.right_shift();
    const int64_t half = right == 0 ? 0 : int64_t{1} << (right - 1);
    return static_cast<int16_t>(std::clamp<int64_t>((product + half) >> right, -32768, 32767));
  }

  // Gates are in units of 2^-12, cells of 2^-11.
  void Update(const RunArguments& arguments, ptrdiff_t b) const {
    const int16_t* const gates =
        static_cast<const int16_t*>(arguments.outputs[kSums]) + b * sizes.sums();
    const int16_t* const c = static_cast<const int16_t*>(arguments.inputs[kC]) + b * sizes.cells;
    int16_t* const new_c = static_cast<int16_t*>(arguments.outputs[kNewC]) + b * sizes.cells;
    uint8_t* const new_h = static_cast<uint8_t*>(arguments.outputs[kNewH]) + b * sizes.cells;
    for (int i = 0; i < sizes.cells; ++i) {
      const int32_t added = Multiply((*logistic)(gates[i]), (*tanh)(gates[sizes.cells + i]));
      const int32_t kept = Multiply((*logistic)(gates[2 * sizes.cells + i]), c[i]);
      const int32_t cell = Saturate(RoundingDivideByPowerOfTwo<Scalar, 4>(added) + kept);
      new_c[i] = static_cast<int16_t>(cell);
      const int32_t output = Multiply((*logistic)(gates[3 * sizes.cells + i]),
                                      (*tanh)(static_cast<int16_t>(Saturate(cell * 2))));
      const int32_t narrow = RoundingDivideByPowerOfTwo<Scalar, 8>(output);
      new_h[i] = static_cast<uint8_t>(128 + std::clamp(narrow, -128, 127));
    }
  }
};

Status CheckTypes(const LayerView& layer, Type type, Type bias, Type state) {
  for (const size_t i : {size_t{kX}, size_t{kH}, size_t{kWeights}}) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(i), type));
  }
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kBias), bias));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kC), state));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(kNewH), type));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(kNewC), state));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(kConcatenated), type));
  return CheckType(layer, layer.output(kSums), state);
}

Result<PreparedLayer> PrepareFloat(const LayerView& layer, const BasicSizes& sizes,
                                   const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckTypes(layer, Type::kFloat32, Type::kFloat32, Type::kFloat32));
  Result<FloatProduct> product = FloatProduct::Make(layer, {kWeights}, false, options);
  if (!product.ok()) return product.status();
  PreparedLayer prepared;
  prepared.routine = std::make_shared<FloatBasicRoutine>(
      sizes, static_cast<const float*>(layer.input(kBias).data), std::move(*product));
  return prepared;
}

// The quantizations are fixed, but for those of weights and biases.
Status CheckQuantizations(const LayerView& layer) {
  const auto is = [&](const Tensor& tensor, Affine affine) -> Status {
    const Result<Affine> q = AffineOf(layer, tensor);
    if (!q.ok()) return q.status();
    if (*q == affine) return {};
    return layer.Unsupported("tensor '" + tensor.name + "' has the scale " +
                             std::to_string(q->scale) + " and the zero point " +
                             std::to_string(q->zero_point));
  };
  constexpr Affine kUnit{1.0f / 128, 128};
  constexpr Affine kCells{1.0f / 2048, 0};
  INTAGLIO_RETURN_IF_ERROR(is(layer.input(kX), kUnit));
  INTAGLIO_RETURN_IF_ERROR(is(layer.input(kH), kUnit));
  INTAGLIO_RETURN_IF_ERROR(is(layer.input(kC), kCells));
  INTAGLIO_RETURN_IF_ERROR(is(layer.output(kNewH), kUnit));
  return is(layer.output(kNewC), kCells);
}

Result<PreparedLayer> PrepareUint8(const LayerView& layer, const BasicSizes& sizes,
                                   const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckTypes(layer, Type::kUInt8, Type::kInt32, Type::kInt16));
  INTAGLIO_RETURN_IF_ERROR(CheckQuantizations(layer));
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(layer, sizes.depth()));
  const Result<Affine> weights = AffineOf(layer, layer.input(kWeights));
  if (!weights.ok()) return weights.status();
  const Result<Affine> bias = AffineOf(layer, layer.input(kBias));
  if (!bias.ok()) return bias.status();
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, static_cast<double>(4096 * bias->scale));
  if (!multiplier.ok()) return multiplier.status();
  const ConstMatrix matrix{
      layer.input(kWeights).data, Type::kUInt8,       sizes.depth(), sizes.sums(), sizes.depth(),
      Order::kColMajor,           weights->zero_point};
  Result<PackedOf<PackedMatrix>> packed = PackMatrix(layer, options, matrix);
  if (!packed.ok()) return packed.status();
  auto routine = std::make_shared<Uint8BasicRoutine>(sizes, std::move(packed->form));
  routine->multiplier = *multiplier;
  routine->pipeline.bias = static_cast<const int32_t*>(layer.input(kBias).data);
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.constant_bytes = packed->new_bytes;
  prepared.scratch_bytes =
      sizeof(int32_t) * static_cast<size_t>(sizes.batch) * static_cast<size_t>(sizes.sums());
  prepared.routine = std::move(routine);
  return prepared;
}

ShapesResult InferBasicLstm(const LayerView& layer) {
  const Result<BasicSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  const Shape& h = layer.input(kH).shape;
  return std::vector<Shape>{h, h, {sizes->batch, sizes->depth()}, {sizes->batch, sizes->sums()}};
}

template <auto kPrepare>
Result<PreparedLayer> PrepareWith(const LayerView& layer, const LayerOptions& options) {
  const Result<BasicSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  Result<PreparedLayer> prepared = kPrepare(layer, *sizes, options);
  if (prepared.ok()) prepared->macs = CountMacs({sizes->batch, sizes->sums()}, sizes->depth());
  return prepared;
}

constexpr Candidate kBasicLstmWays[] = {
    {"lstm-basic", PrepareWith<PrepareUint8>, SetOf(Type::kUInt8)},
    {"lstm-basic", PrepareWith<PrepareFloat>, kFloat}};

}  // namespace

constinit const OperatorRow BasicLstm::kRow = {.name = "LSTM",
                                               .min_inputs = 5,
                                               .max_inputs = 5,
                                               .types = SetOf(Type::kUInt8) | kFloat,
                                               .infer = InferBasicLstm,
                                               .candidates = kBasicLstmWays,
                                               .remark = "",
                                               .parameters = kAllButFirst,
                                               .packing = {.matrices = RowsAsChannels}};

}  // namespace intaglio::nn
