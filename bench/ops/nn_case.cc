// Operators of the runtime, each as a model of one layer, repeated, without the copies of the
// model's input and output.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "intaglio/bench/ops/op_case.h"
#include "intaglio/nn/builder.h"
#include "intaglio/nn/model.h"

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
  void RunLayers() { StopUnlessOk(model.RunLayersAgain()); }

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
// `instructions` of vectors per vector of results, if they were bytes; 0 where memory binds.
OpCase NnCase(Context& context, const char* name, double instructions, Type type,
              const std::vector<Shape>& shapes,
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
  if (instructions > 0) made.loop = BestPeak(PeakOf::kBytes);
  made.ops = instructions * made.elements;
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

// An instruction that one port alone takes, as long vectors' maxima, shifts and shuffles are,
// counts twice where there are more of them than of others.
//
// Of a row and a column of three numbers each, of which neighbours share a maximum.
constexpr double kMaxPool3x3 = 2 * (1.5 + 1.5);
// Bytes are widened to two vectors of words, once; sums of a row and of a column, of which
// neighbours share one; products that round in the place of the division; the vectors are packed
// and put in order.
constexpr double kAveragePool3x3 = 2 + 3 + 3 + 2 + 2;
// Softmax: of the three operations that a lookup of 64 bytes in two registers takes two go to one
// of the two ports; everything together keeps both busy.
constexpr double kLookup = 3;
constexpr double kLongLookup = 2 * kLookup + 1;  // in four
// Of 64 bytes: flipped, a maximum; a difference, its limit for a table of two registers, its upper
// bit for the others; three bytes of an exponential, each added to a sum by two.
constexpr double kSumOfExps = 2 + 3 + 2 * kLongLookup + kLookup + 3 * 2;
// Maximum and sum over the lanes, half a vector at a time.
constexpr double kRowOfExps = 5 * 2 + 4 + 2 * 2;
// Of 16 exponentials by the sum's reciprocal: products, both roundings and shifts of the even and
// the odd, their merge.
constexpr double kScaledExps = 2 + 2 + 2 + 1;
// Of 16 rows: three steps of two products, one more before them, each of even and odd lanes with
// its rounding, and the sums and shifts between.
constexpr double kReciprocal = (7 * 8 + 3 * 3 + 7) / 16.0;
constexpr double kScale = 5;          // multiplier, shifts and roundings of a row
constexpr double kNarrowing = 3 + 1;  // four vectors to a flipped one
// Rows of 197: each byte's result, of 8 vectors that are not zero, in the order of the bytes;
// lookups.
constexpr double kSoftmax197 = (4 * kSumOfExps + kRowOfExps + 2 * 2 + kReciprocal + kScale +
                                2 * (4 * kScaledExps + kNarrowing + 1) + 4 * (2 + kLookup)) *
                               64 / 197;
// Two rows of 21, joined: the four bytes of each exponential, of the 128 that are not zero, are
// looked up and interleaved; odd lanes are moved.
constexpr double kSoftmax21 = (1 + kSumOfExps + kRowOfExps + 1 + 2 * kReciprocal + kScale + 3 +
                               4 * kLookup + 8 + 4 * (1 + kScaledExps) + kNarrowing) *
                              64 / 42;
// Of 16 numbers: NaN is found, limits; a quotient by a product and four that correct it; the half,
// of their sign, added; the conversion. Of four such vectors: three packs, zero points, the order.
constexpr double kQuantize = 4 * (1 + 2 + 5 + 2 + 1) + 3 + 2 + 1;
// A mean of 3136: the bytes of two lines are interleaved, and added in pairs by a product with
// ones; two vectors of words are added.
constexpr double kMean3136 = 3136 * (2 + 2 + 2) / 2;
// Of 16 numbers between two columns: difference, product, which takes as long as two instructions,
// shift and sum; rounded by four.
constexpr double kBlendFixed = 5 + 4;
// The same of real numbers: four products and their sum, the half, the conversion.
constexpr double kBlendReal = 4 + 4 + 1;
// 33 columns of 256 become 65, all packed; the columns, first, are widened and blended.
constexpr double kColumnFixed = 2 + 5;
constexpr double kColumnReal = 2 * (2 + 1);
constexpr double kResizeFixed = 4 * kBlendFixed + 4 + 4 * kColumnFixed * 33 / 65;
constexpr double kResizeReal = 4 * kBlendReal + 4 + 4 * kColumnReal * 33 / 65;
// 33 columns of 21 become 257: two vectors of a pixel, packed.
constexpr double kResize21 = (2 * kBlendReal + 2) * 64 / 21 + 4 * kColumnReal * 33 / 257;
// A row of 21: two loads are moved and joined with their places, and one minimum is left of four;
// of 16 bytes three instructions are issued in the time of two of long vectors.
constexpr double kArgMax21 = (2 * 3 + 3 + 1) * 64 * 2 / 3.0;

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
  const nn::ResizeNearestNeighbor nearest{56, 56, false, false};
  return {
      NnCase(context, "max pool 3x3/56x56x256", kMaxPool3x3, Type::kInt8, {{1, 56, 56, 256}},
             pool(nn::MaxPool2D{})),
      NnCase(context, "average pool 3x3/56x56x256", kAveragePool3x3, Type::kInt8,
             {{1, 56, 56, 256}}, pool(nn::AveragePool2D{})),
      NnCase(context, "softmax/1576x197", kSoftmax197, Type::kInt8, {{1576, 197}}, softmax),
      NnCase(context, "softmax/16641x21", kSoftmax21, Type::kInt8, {{16641, 21}}, softmax),
      NnCase(context, "resize bilinear/33x33x256-65x65", kResizeFixed, Type::kInt8,
             {{1, 33, 33, 256}}, resize(bilinear, Type::kInt8)),
      NnCase(context, "resize bilinear, uint8/33x33x256-65x65", kResizeReal, Type::kUInt8,
             {{1, 33, 33, 256}}, resize(bilinear, Type::kUInt8)),
      NnCase(context, "resize bilinear, uint8/33x33x21-257x257", kResize21, Type::kUInt8,
             {{1, 33, 33, 21}}, resize(narrow, Type::kUInt8)),
      NnCase(context, "resize nearest/28x28x256-56x56", 0, Type::kInt8, {{1, 28, 28, 256}},
             resize(nearest, Type::kInt8)),
      NnCase(context, "concatenation/2 of 56x56x128", 0, Type::kInt8,
             {{1, 56, 56, 128}, {1, 56, 56, 128}}, concatenate(3)),
      NnCase(context, "concatenation/2 of 56x56x16", 0, Type::kInt8,
             {{1, 56, 56, 16}, {1, 56, 56, 16}}, concatenate(3)),
      NnCase(context, "quantize/56x56x256", kQuantize, Type::kFloat32, {{1, 56, 56, 256}},
             [](Builder& b, const std::vector<Value>& x) {
               return b.Quantize(x[0], Type::kInt8, kInput);
             }),
      NnCase(context, "dequantize/56x56x256", 0, Type::kInt8, {{1, 56, 56, 256}},
             [](Builder& b, const std::vector<Value>& x) { return b.Dequantize(x[0]); }),
      NnCase(context, "mean/56x56x256", kMean3136, Type::kInt8, {{1, 56, 56, 256}},
             [](Builder& b, const std::vector<Value>& x) {
               return b.Mean(x[0], {{1, 2}, true}, kInput);
             }),
      NnCase(context, "arg max/129x129x21", kArgMax21, Type::kInt8, {{1, 129, 129, 21}},
             [](Builder& b, const std::vector<Value>& x) {
               return b.Layer(nn::ArgMax{3}, {x[0].id}, Type::kInt32, {});
             }),
  };
}

}  // namespace intaglio::bench
