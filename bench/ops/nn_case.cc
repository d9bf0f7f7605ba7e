// Operators of the runtime, each as a model of one layer, repeated, without the copies of the
// model's input and output.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "intaglio/bench/ops/op_case.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::bench {
namespace {

using nn::Builder;
using nn::Shape;
using nn::Value;

constexpr int kRepeats = 8;

const nn::Quantization kInput{{0.05f}, {-3}, 0};
const nn::Quantization kUnsigned{{0.05f}, {125}, 0};

// One instance of a model and its buffers.
struct Session {
  Session(const nn::Graph& graph, int threads, const char* kernel)
      : model(Make(graph, threads, kernel)) {
    for (size_t i = 0; i < model.input_count(); ++i) {
      const nn::Tensor& tensor = model.input(i);
      in.emplace_back(*nn::CountBytes(tensor.shape, tensor.type));
      FillBytes(tensor.type, in.back());
      inputs.push_back({in.back().data(), in.back().size(), tensor.type});
    }
    const nn::Tensor& tensor = model.output(0);
    out.resize(*nn::CountBytes(tensor.shape, tensor.type));
    outputs.push_back({out.data(), out.size(), tensor.type});
  }

  static nn::Model Make(const nn::Graph& graph, int threads, const char* kernel) {
    nn::PrepareOptions options;
    options.threads = threads;
    options.kernel = kernel;
    Result<nn::Model> model = nn::Model::Prepare(graph, options);
    if (model.ok()) return std::move(*model);
    std::fprintf(stderr, "%s\n", model.status().message().c_str());
    std::exit(1);
  }

  // Numbers over all of an 8-bit type; small real ones.
  static void FillBytes(Type type, std::vector<std::byte>& bytes) {
    uint32_t state = 1;
    for (size_t i = 0; i < bytes.size(); i += SizeOf(type)) {
      state = state * 1664525 + 1013904223;
      const float real = static_cast<float>(state >> 16) / 8192 - 4;
      if (type == Type::kFloat32) std::memcpy(&bytes[i], &real, sizeof real);
      if (type != Type::kFloat32) bytes[i] = static_cast<std::byte>(state >> 24);
    }
  }

  void Run() { StopUnlessOk(model.Run(inputs, outputs)); }
  void RunLayers() { StopUnlessOk(model.RunLayersForTiming()); }

  static void StopUnlessOk(const Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }

  nn::Model model;
  std::vector<std::vector<std::byte>> in;
  std::vector<std::byte> out;
  std::vector<nn::InputBuffer> inputs;
  std::vector<nn::OutputBuffer> outputs;
};

size_t BytesOf(const nn::Tensor& tensor) { return *nn::CountBytes(tensor.shape, tensor.type); }

// op(builder, inputs) adds the layer; the best kernel is measured and must give what the scalar one
// gives.
// kMix is what it computes; memory alone binds where that is nothing.
template <const Mix& kMix>
OpCase NnCase(Context& context, const char* name, Type type, const std::vector<Shape>& shapes,
              const std::function<Value(Builder&, const std::vector<Value>&)>& op) {
  Builder builder;
  std::vector<Value> inputs;
  for (const Shape& shape : shapes) {
    nn::Quantization q = type == Type::kUInt8 ? kUnsigned : kInput;
    if (type == Type::kFloat32) q = {};
    inputs.push_back(builder.Input("x", type, shape, q));
  }
  Value last;
  for (int i = 0; i < kRepeats; ++i) last = op(builder, inputs);
  builder.Output(last, "y");
  const Result<nn::Graph> graph = builder.Finish();
  if (!graph.ok()) {
    std::fprintf(stderr, "%s\n", graph.status().message().c_str());
    std::exit(1);
  }
  const auto best = std::make_shared<Session>(*graph, context.threads(), "");
  OpCase made;
  made.name = name;
  made.repeats = kRepeats;
  for (size_t i = 0; i < best->model.input_count(); ++i) {
    made.read += static_cast<double>(BytesOf(best->model.input(i)));
  }
  made.written = static_cast<double>(BytesOf(best->model.output(0)));
  made.elements = static_cast<double>(*nn::CountElements(best->model.output(0).shape));
  if constexpr (Total(kMix) > 0) made.TakeMix<kMix>();
  made.run = [best] { best->RunLayers(); };
  made.check = [best, graph = *graph] {
    best->Run();
    Session scalar(graph, 1, "scalar");
    scalar.Run();
    return best->out == scalar.out ? std::string() : "the result differs from the scalar kernel's";
  };
  return made;
}

}  // namespace

namespace {

constexpr Mix kMove = {};
// Of a row and a column of three numbers each, of which neighbours share a maximum.
constexpr Mix kMaxPool3x3 = {.extremes = 1.5 + 1.5};
// Bytes are widened to two vectors of words, once; sums of a row and of a column, of which
// neighbours share one; products that round in the place of the division; the vectors are joined.
constexpr Mix kAveragePool3x3 = {.plain = 1 + 2 * (1.5 + 1.5) + 1, .products = 2, .shifts = 1 + 1};
// In a table of four vectors.
constexpr Mix kLongLookup = {.plain = 1, .lookups = 2};
// Of 64 bytes: flipped; a difference, its limit for a table of two vectors, its upper bit for the
// others; three bytes of an exponential, each added to a sum by two.
constexpr Mix kSumOfExps =
    Mix{.plain = 2 + 3, .extremes = 1, .byte_sums = 3, .comparisons = 1, .lookups = 1} +
    2 * kLongLookup;
// Maximum and sum over the lanes, half a vector at a time.
constexpr Mix kRowOfExps = {.plain = 2 + 2, .shuffles = 5 + 2, .shifts = 2, .extremes = 5};
// Of 16 exponentials by the sum's reciprocal: products, both roundings and shifts of the even and
// the odd, their merge.
constexpr Mix kScaledExps = {.plain = 2 + 1, .products = 2, .shifts = 2};
// Of 16 rows: three steps of two products, one more before them, each of even and odd lanes with
// its rounding, and the sums and shifts between.
constexpr Mix kReciprocal =
    1 / 16.0 * Mix{.plain = 7 * 3 + 9, .products = 7 * 2, .shuffles = 7 * 2, .shifts = 7 * 2};
constexpr Mix kScale = {.plain = 3, .shifts = 2};  // multiplier, shifts and roundings of a row
constexpr Mix kNarrowing = {.plain = 1, .permutations = 3};  // four vectors to a flipped one
// Rows of 197: each byte's result, of 8 vectors that are not zero, in the order of the bytes;
// lookups in two vectors.
constexpr Mix kRowOf197 = 4 * (kSumOfExps + Mix{.extremes = 1}) + kRowOfExps +
                          Mix{.plain = 1, .shuffles = 2, .extremes = 1} + kReciprocal + kScale +
                          2 * (4 * kScaledExps + kNarrowing + Mix{.permutations = 1}) +
                          4 * Mix{.plain = 1, .extremes = 1, .lookups = 1};
constexpr Mix kSoftmax197 = 64 / 197.0 * kRowOf197;
// Two rows of 21, joined: the four bytes of each exponential, of the 128 that are not zero, are
// looked up and interleaved; odd lanes are moved.
constexpr Mix kRowsOf21 = kSumOfExps + kRowOfExps + 2 * kReciprocal + kScale +
                          Mix{.plain = 2, .shuffles = 3 + 8, .lookups = 4} +
                          4 * (kScaledExps + Mix{.shifts = 1}) + kNarrowing;
constexpr Mix kSoftmax21 = 64 / 42.0 * kRowsOf21;
// Of 16 numbers: NaN is found, limits; a quotient by a product and four that correct it; the half,
// of their sign, added; the conversion. Of four such vectors: three packs, zero points, the order.
constexpr Mix kQuotient = {.plain = 1,
                           .products = 5,
                           .float_extremes = 2,
                           .float_sums = 1,
                           .conversions = 1,
                           .comparisons = 1};
constexpr Mix kQuantize = 4 * kQuotient + Mix{.plain = 2, .permutations = 3 + 1};
// A mean of 3136: the bytes of two lines are interleaved, and added in pairs by a product with
// ones; two vectors of words are added.
constexpr Mix kMean3136 = 3136 / 2 * Mix{.plain = 2, .products = 2, .shuffles = 2};
// Of 16 numbers between two columns, of which 32 pairs have 60: their difference, the shifted and
// rounded one; product and sum; rounded by three.
constexpr Mix kBlendFixed =
    Mix{.plain = 1 + 1, .long_products = 1, .shifts = 2} + 32 / 60.0 * Mix{.plain = 2, .shifts = 1};
// The same of real numbers: four products and their sum, the half, the conversion.
constexpr Mix kBlendReal = {.products = 4, .float_sums = 4, .conversions = 1};
constexpr Mix kPacking = {.permutations = 4};  // of four vectors, in order
// Columns, first, are widened and blended: two of words in pairs by one product with the weights,
// which is shorter than what is done.
constexpr Mix kColumnFixed = {.products = 1, .shuffles = 2};
constexpr Mix kColumnReal = 2 * Mix{.products = 1, .permutations = 1, .conversions = 1};
// 33 columns of 256 become 60.
constexpr Mix kResizeFixed = 4 * kBlendFixed + kPacking + 4 * 33 / 60.0 * kColumnFixed;
constexpr Mix kResizeReal = 4 * kBlendReal + kPacking + 4 * 33 / 60.0 * kColumnReal;
// Of 64 bytes by weights of few bits, of either half: two columns' products, sums, a shift; one
// pack. A column's bytes are paired, and their products added.
constexpr Mix kBlendBytes = {.plain = 4, .products = 4, .permutations = 1, .shifts = 2};
constexpr Mix kColumnBytes = {.products = 2, .shuffles = 2};
// The sign, the half, their sum, and columns flipped.
constexpr Mix kBlendSigned = kBlendBytes + Mix{.plain = 4, .shifts = 2};
constexpr Mix kColumnSigned = kColumnBytes + Mix{.plain = 2};
// 33 columns of 256 become 65; of 21, which half a vector holds, 257.
constexpr Mix kResizeUnsigned = kBlendBytes + 33 / 65.0 * kColumnBytes;
constexpr Mix kResizeSigned = kBlendSigned + 33 / 65.0 * kColumnSigned;
constexpr Mix kResize21 = 32 / 21.0 * (kBlendBytes + 33 / 257.0 * kColumnBytes);
// A row of 21: two loads are moved and joined with their places, and one minimum is left of four.
// Of 16 bytes each, twice as many of which are issued as of vectors of 64, at most.
constexpr Mix kArgMax21 = 64 / 2 * Mix{.plain = 2 * 2 + 1, .shuffles = 2, .extremes = 3};

}  // namespace

std::vector<OpCase> NnCases(Context& context) {
  const auto pool = [](auto op) {
    op.filter = {3, 3};
    op.stride = {1, 1};
    return [=](Builder& b, const std::vector<Value>& x) {
      return b.Layer(op, {x[0].id}, Type::kInt8, kInput);
    };
  };
  const auto softmax = [](Builder& b, const std::vector<Value>& x) { return b.Softmax(x[0]); };
  const auto resize = [](auto op, Type type) {
    return [=](Builder& b, const std::vector<Value>& x) {
      return b.Layer(op, {x[0].id}, type, type == Type::kUInt8 ? kUnsigned : kInput);
    };
  };
  const auto concatenate = [](int axis) {
    return [axis](Builder& b, const std::vector<Value>& x) {
      return b.Concatenation(x, {axis, nn::Activation::kNone}, kInput);
    };
  };
  const nn::ResizeBilinear bilinear{65, 65, true, false};
  const nn::ResizeBilinear narrow{257, 257, true, false};
  const nn::ResizeBilinear uneven{60, 60, true, false};
  const nn::ResizeNearestNeighbor nearest{56, 56, false, false};
  return {
      NnCase<kMaxPool3x3>(context, "max pool 3x3/56x56x256", Type::kInt8, {{1, 56, 56, 256}},
                          pool(nn::MaxPool2D{})),
      NnCase<kAveragePool3x3>(context, "average pool 3x3/56x56x256", Type::kInt8,
                              {{1, 56, 56, 256}}, pool(nn::AveragePool2D{})),
      NnCase<kSoftmax197>(context, "softmax/1576x197", Type::kInt8, {{1576, 197}}, softmax),
      NnCase<kSoftmax21>(context, "softmax/16641x21", Type::kInt8, {{16641, 21}}, softmax),
      NnCase<kResizeSigned>(context, "resize bilinear/33x33x256-65x65", Type::kInt8,
                            {{1, 33, 33, 256}}, resize(bilinear, Type::kInt8)),
      NnCase<kResizeUnsigned>(context, "resize bilinear, uint8/33x33x256-65x65", Type::kUInt8,
                              {{1, 33, 33, 256}}, resize(bilinear, Type::kUInt8)),
      NnCase<kResize21>(context, "resize bilinear, uint8/33x33x21-257x257", Type::kUInt8,
                        {{1, 33, 33, 21}}, resize(narrow, Type::kUInt8)),
      NnCase<kResizeFixed>(context, "resize bilinear/33x33x256-60x60", Type::kInt8,
                           {{1, 33, 33, 256}}, resize(uneven, Type::kInt8)),
      NnCase<kResizeReal>(context, "resize bilinear, uint8/33x33x256-60x60", Type::kUInt8,
                          {{1, 33, 33, 256}}, resize(uneven, Type::kUInt8)),
      NnCase<kMove>(context, "resize nearest/28x28x256-56x56", Type::kInt8, {{1, 28, 28, 256}},
                    resize(nearest, Type::kInt8)),
      NnCase<kMove>(context, "concatenation/2 of 56x56x128", Type::kInt8,
                    {{1, 56, 56, 128}, {1, 56, 56, 128}}, concatenate(3)),
      NnCase<kMove>(context, "concatenation/2 of 56x56x16", Type::kInt8,
                    {{1, 56, 56, 16}, {1, 56, 56, 16}}, concatenate(3)),
      NnCase<kQuantize>(context, "quantize/56x56x256", Type::kFloat32, {{1, 56, 56, 256}},
                        [](Builder& b, const std::vector<Value>& x) {
                          return b.Quantize(x[0], Type::kInt8, kInput);
                        }),
      NnCase<kMove>(context, "dequantize/56x56x256", Type::kInt8, {{1, 56, 56, 256}},
                    [](Builder& b, const std::vector<Value>& x) { return b.Dequantize(x[0]); }),
      NnCase<kMean3136>(context, "mean/56x56x256", Type::kInt8, {{1, 56, 56, 256}},
                        [](Builder& b, const std::vector<Value>& x) {
                          return b.Mean(x[0], {{1, 2}, true}, kInput);
                        }),
      NnCase<kArgMax21>(context, "arg max/129x129x21", Type::kInt8, {{1, 129, 129, 21}},
                        [](Builder& b, const std::vector<Value>& x) {
                          return b.Layer(nn::ArgMax{3}, {x[0].id}, Type::kInt32, {});
                        }),
  };
}

}  // namespace intaglio::bench
