// QUANTIZE and DEQUANTIZE by ONNX's rules, and products whose quantization each run tells.
#include <cmath>
#include <string>

#include "intaglio/nn/ops/elementwise/dynamic_quantize.h"
#include "intaglio/nn/ops/linear/integer_products.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

using Buffer = std::vector<std::byte>;

template <class T>
Buffer BufferOf(const std::vector<T>& values) {
  Buffer buffer(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(buffer.data(), values.data(), buffer.size());
  return buffer;
}
template <class T>
std::vector<T> ValuesOf(const Buffer& buffer) {
  std::vector<T> values(buffer.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), buffer.data(), buffer.size());
  return values;
}

// Runs the only layer of a graph.
std::vector<Buffer> RunLayer(Graph graph, std::optional<Numerics> numerics,
                             const std::vector<Buffer>& inputs, int threads = 1) {
  if (numerics.has_value()) graph.layers[0].numerics = numerics;
  PrepareOptions options;
  options.threads = threads;
  Result<Model> model = Model::Prepare(std::move(graph), options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<InputBuffer> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back({inputs[i].data(), inputs[i].size(), model->input(i).type});
  }
  std::vector<Buffer> results;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < model->output_count(); ++i) {
    results.emplace_back(*CountBytes(model->output(i).shape, model->output(i).type));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    out.push_back({results[i].data(), results[i].size(), model->output(i).type});
  }
  const Status status = model->Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return results;
}

constexpr Numerics kHalfEven = {.scaling = Scaling::kFloatHalfEven};

int Quantized(float x, float scale, int zero_point, Type type) {
  const float low = static_cast<float>(LowestOf(type) - zero_point);
  const float high = static_cast<float>(HighestOf(type) - zero_point);
  return static_cast<int>(std::nearbyint(std::fmin(std::fmax(x / scale, low), high))) + zero_point;
}

std::vector<float> SomeReals(Random& random, size_t count, float scale) {
  std::vector<float> x;
  for (size_t i = 0; i < count; ++i) {
    const int dice = random.Int(0, 9);
    const auto steps = static_cast<float>(random.Int(-300, 300));
    x.push_back(dice < 5   ? scale * (steps + 0.5f)  // ties
                : dice < 9 ? scale * steps + random.Scale(1e-4, 1)
                           : (dice == 9 && random.Flip() ? 1e30f : -1e9f));
  }
  return x;
}

TEST(OnnxQuantize, RoundsHalfToEven) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const Type type = random.Of<Type>({Type::kInt8, Type::kUInt8, Type::kInt16, Type::kUInt16});
    const float scale = random.Flip() ? std::ldexp(1.0f, random.Int(-8, 3)) : random.Scale(.001, 2);
    const int zero_point =
        type == Type::kInt16 ? random.Int(-99, 99) : random.Int(LowestOf(type), HighestOf(type));
    const int count = random.Int(1, 70);
    const std::vector<float> x = SomeReals(random, static_cast<size_t>(count), scale);
    Builder b;
    b.Output(b.Quantize(b.Input("x", Type::kFloat32, {count}), type, PerTensor(scale, zero_point)),
             "y");
    const std::vector<Buffer> y = RunLayer(*b.Finish(), kHalfEven, {BufferOf(x)});
    const std::vector<int> ints = Ints(type, y[0]);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(ints[i], Quantized(x[i], scale, zero_point, type)) << x[i];
    }
  }
}

TEST(OnnxQuantize, HasScalesAlongAnyAxis) {
  Random random(1);
  for (int axis = 0; axis < 3; ++axis) {
    for (const Type type : {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kUInt16}) {
      const Shape shape = {2, 3, 5};
      const int channels = shape[static_cast<size_t>(axis)];
      Quantization q;
      q.axis = axis;
      for (int i = 0; i < channels; ++i) {
        q.scales.push_back(random.Scale(0.1, 2));
        q.zero_points.push_back(random.Int(0, 50));
      }
      const std::vector<float> x = SomeReals(random, 30, 0.5f);
      Builder b;
      b.Output(b.Quantize(b.Input("x", Type::kFloat32, shape), type, q), "y");
      const std::vector<int> y = Ints(type, RunLayer(*b.Finish(), kHalfEven, {BufferOf(x)})[0]);
      Builder d;
      d.Output(d.Dequantize(d.Input("y", type, shape, q)), "z");
      const std::vector<float> z =
          ValuesOf<float>(RunLayer(*d.Finish(), kHalfEven, {Bytes(type, y)})[0]);
      size_t i = 0;
      ForEachIndex(shape, [&](const std::vector<int>& at) {
        const auto c = static_cast<size_t>(at[static_cast<size_t>(axis)]);
        EXPECT_EQ(y[i], Quantized(x[i], q.scales[c], q.zero_points[c], type));
        EXPECT_EQ(z[i], q.scales[c] * static_cast<float>(y[i] - q.zero_points[c]));
        ++i;
      });
    }
  }
}

TEST(OnnxQuantize, DequantizesInt32) {
  const std::vector<int32_t> x = {INT32_MIN, -7, 0, 16777217, INT32_MAX};
  for (const bool per_axis : {false, true}) {
    const Quantization q = per_axis ? PerAxis({.5f, .25f, 2, .1f, 3}, 0) : PerTensor(.3f, 0);
    Builder b;
    b.Output(b.Dequantize(b.Input("x", Type::kInt32, {5}, q)), "y");
    const std::vector<float> y =
        ValuesOf<float>(RunLayer(*b.Finish(), kHalfEven, {BufferOf(x)})[0]);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(y[i], static_cast<float>(x[i]) * q.scales[per_axis ? i : 0]);
    }
  }
}

// A layer of two columns of all bytes, one beside and one below the other.
Graph GraphOfPairs(const Operator& op, Type type, const Quantization& a, const Quantization& b,
                   const Quantization& y) {
  Graph graph;
  for (const auto& [shape, q] :
       std::vector<std::pair<Shape, Quantization>>{{{256, 1}, a}, {{1, 256}, b}, {{256, 256}, y}}) {
    Tensor& tensor = graph.tensors.emplace_back();
    tensor.type = type;
    tensor.shape = shape;
    tensor.quantization = q;
  }
  graph.inputs = {0, 1};
  graph.outputs = {2};
  graph.layers.push_back({op, {0, 1}, {2}, {}});
  return graph;
}

struct Pairs {
  float a, b, y;  // scales
  int zero_a, zero_b, zero_y;

  int Sum(int i, int j, Type type) const {
    const float scale_a = a / y;
    const float scale_b = b / y;
    const float zeros =
        std::fma(scale_a, static_cast<float>(zero_a), scale_b * static_cast<float>(zero_b));
    const float offset = static_cast<float>(zero_y) - zeros;
    const float sum =
        std::fma(static_cast<float>(i), scale_a, std::fma(static_cast<float>(j), scale_b, offset));
    return Quantized(sum, 1, 0, type);
  }
  int Product(int i, int j, Type type) const {
    const auto product = static_cast<float>((i - zero_a) * (j - zero_b));
    return Quantized(product * (a * b / y) + static_cast<float>(zero_y), 1, 0, type);
  }
};

void ExpectPairs(const Pairs& p, Type type) {
  std::vector<int> bytes(256);
  for (int i = 0; i < 256; ++i) bytes[static_cast<size_t>(i)] = i + LowestOf(type);
  for (const bool sum : {true, false}) {
    const Operator op = sum ? Operator(QLinearAdd{}) : Operator(QLinearMul{});
    const Graph graph = GraphOfPairs(op, type, PerTensor(p.a, p.zero_a), PerTensor(p.b, p.zero_b),
                                     PerTensor(p.y, p.zero_y));
    const Buffer column = Bytes(type, bytes);
    const std::vector<int> y = Ints(type, RunLayer(graph, kHalfEven, {column, column}, 2)[0]);
    for (size_t k = 0; k < y.size(); ++k) {
      const int i = bytes[k / 256];
      const int j = bytes[k % 256];
      ASSERT_EQ(y[k], sum ? p.Sum(i, j, type) : p.Product(i, j, type))
          << sum << " " << i << " " << j;
    }
  }
}

TEST(OnnxQuantize, PairsOfAllBytesRoundOnce) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const Type type = random.Of<Type>({Type::kInt8, Type::kUInt8});
    const auto scale = [&] {
      return seed % 3 == 0 ? std::ldexp(1.0f, random.Int(-8, -5)) : random.Scale(.005, .05);
    };
    const auto zero = [&] { return random.Int(LowestOf(type), HighestOf(type)); };
    ExpectPairs({scale(), scale(), scale(), zero(), zero(), zero()}, type);
  }
  // 158 and 137 are 64.499997 here. Two roundings make 65 of it, one makes 64, as in ONNX Runtime.
  ExpectPairs({1.4764974f, 1.8317982f, 1, 123, 130, 0}, Type::kUInt8);
}

Graph GraphOfDynamicQuantize(int count) {
  Graph graph;
  for (const auto& [type, shape] : std::vector<std::pair<Type, Shape>>{{Type::kFloat32, {count}},
                                                                       {Type::kUInt8, {count}},
                                                                       {Type::kFloat32, {}},
                                                                       {Type::kUInt8, {}}}) {
    Tensor tensor;
    tensor.type = type;
    tensor.shape = shape;
    graph.tensors.push_back(tensor);
  }
  graph.layers.push_back({DynamicQuantize{}, {0}, {1, 2, 3}, {}});
  graph.inputs = {0};
  graph.outputs = {1, 2, 3};
  return graph;
}

void TestDynamicQuantize(const std::vector<float>& x, int threads) {
  float least = 0;
  float greatest = 0;
  for (const float v : x) {
    least = std::fmin(least, v);
    greatest = std::fmax(greatest, v);
  }
  const float scale = least == greatest ? 1 : (greatest - least) / 255;
  const auto zero_point =
      static_cast<int>(std::nearbyint(std::fmin(std::fmax(0 - least / scale, 0.0f), 255.0f)));
  const std::vector<Buffer> y =
      RunLayer(GraphOfDynamicQuantize(static_cast<int>(x.size())), {}, {BufferOf(x)}, threads);
  ASSERT_EQ(ValuesOf<float>(y[1])[0], scale);
  ASSERT_EQ(ValuesOf<uint8_t>(y[2])[0], zero_point);
  const std::vector<uint8_t> bytes = ValuesOf<uint8_t>(y[0]);
  for (size_t i = 0; i < x.size(); ++i) {
    const float moved = std::nearbyint(x[i] / scale) + static_cast<float>(zero_point);
    ASSERT_EQ(bytes[i], static_cast<int>(std::fmin(std::fmax(moved, 0.0f), 255.0f)));
  }
}

TEST(OnnxDynamicQuantize, ChoosesWhatOnnxDoes) {
  TestDynamicQuantize({0, 0, 0}, 1);
  TestDynamicQuantize({1, 2, 3}, 1);
  TestDynamicQuantize({-3, -2}, 1);
  for (unsigned seed = 0; seed < 50; ++seed) {
    Random random(seed);
    std::vector<float> x(static_cast<size_t>(seed % 5 == 0 ? 100000 : random.Int(1, 200)));
    for (float& v : x) v = random.Scale(0.01, 10) * static_cast<float>(random.Int(-1, 1));
    TestDynamicQuantize(x, random.Int(1, 3));
  }
}

// What a run tells of the quantizations.
struct Told {
  int x_zero_point = 0;
  int weight_zero_point = 0;
  float scale = 1;
};

// A layer with these inputs, of which those that no run tells are constants or absent.
struct Product {
  Operator op;
  Q x;
  Q weights;
  Quantization quantization;  // of the weights
  bool weights_change = false;
  bool tells_weight_zero_point = false;
  bool to_real = false;
  std::vector<float> bias;
  Told told;

  std::vector<Buffer> Run() const {
    Builder b;
    std::vector<Buffer> buffers;
    const auto add = [&](const char* name, Type type, Shape shape, Buffer buffer,
                         Quantization q = {}) {
      buffers.push_back(std::move(buffer));
      return b.Input(name, type, std::move(shape), std::move(q)).id;
    };
    std::vector<TensorId> inputs(6, kNoTensor);
    inputs[0] = add("x", x.type, x.shape, Bytes(x.type, x.values));
    inputs[1] = weights_change ? add("w", weights.type, weights.shape,
                                     Bytes(weights.type, weights.values), quantization)
                               : Const(b, weights, quantization).id;
    inputs[2] = add("zx", x.type, {}, Bytes(x.type, {told.x_zero_point}));
    if (tells_weight_zero_point) {
      inputs[3] = add("zw", weights.type, {1}, Bytes(weights.type, {told.weight_zero_point}));
    }
    if (to_real) inputs[4] = add("s", Type::kFloat32, {}, BufferOf<float>({told.scale}));
    if (!bias.empty()) {
      inputs[5] = b.Const<float>("bias", bias, {static_cast<int>(bias.size())}).id;
    }
    b.Output(b.Layer(op, inputs, to_real ? Type::kFloat32 : Type::kInt32, {}), "y");
    Result<Graph> graph = b.Finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.ok() ? RunLayer(std::move(*graph), {}, buffers) : std::vector<Buffer>();
  }

  int WeightZeroPoint(int channel) const {
    if (tells_weight_zero_point) return told.weight_zero_point;
    const std::vector<int32_t>& z = quantization.zero_points;
    return z.empty() ? 0 : z[z.size() > 1 ? static_cast<size_t>(channel) : 0];
  }
  void Expect(const Buffer& y, size_t at, int64_t sum, int channel) const {
    if (!to_real) {
      ASSERT_EQ(ValuesOf<int32_t>(y)[at], sum);
      return;
    }
    const std::vector<float>& s = quantization.scales;
    const float scale = told.scale * s[s.size() > 1 ? static_cast<size_t>(channel) : 0];
    const float scaled = static_cast<float>(static_cast<int32_t>(sum)) * scale;
    const auto c = static_cast<size_t>(channel);
    ASSERT_EQ(ValuesOf<float>(y)[at], bias.empty() ? scaled : scaled + bias[c]);
  }
};

Product MakeProduct(Random& random, Operator op, Shape x, Shape weights, int axis, int channels) {
  Product p;
  p.op = std::move(op);
  p.x = random.Tensor(random.Of(kEightBit), std::move(x));
  p.weights = random.Tensor(random.Of(kEightBit), std::move(weights));
  p.told.x_zero_point = random.Element(p.x.type);
  p.told.weight_zero_point = random.Element(p.weights.type);
  p.told.scale = random.Scale(0.01, 1);
  p.weights_change = random.Int(0, 2) == 0;
  p.tells_weight_zero_point = random.Int(0, 2) == 0;
  p.to_real = random.Flip();
  const bool by_channel = random.Flip() && !p.weights_change;
  p.quantization.axis = by_channel ? axis : 0;
  for (int i = 0; i < (by_channel ? channels : 1); ++i) {
    p.quantization.scales.push_back(random.Scale(0.01, 1));
    p.quantization.zero_points.push_back(
        p.tells_weight_zero_point ? 0 : random.Element(p.weights.type));
  }
  if (p.to_real && random.Flip()) {
    for (int i = 0; i < channels; ++i) p.bias.push_back(random.Scale(0.1, 9));
  }
  return p;
}

TEST(OnnxIntegerProducts, MatMul) {
  for (unsigned seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int batch = random.Int(1, 2);
    // Some are of the size for which AMX has panels of its own for int32 results.
    const bool large = seed % 8 == 7;
    const int rows = large ? random.Int(64, 70) : random.Int(1, 9);
    const int depth = random.Of<int>({1, 7, 32, 65});
    const int cols = large ? random.Int(65, 97) : random.Of<int>({1, 5, 16, 33});
    Product p = MakeProduct(random, IntegerMatMul{}, {batch, rows, depth}, {depth, cols}, 1, cols);
    if (large && random.Flip()) {
      const int zero_point = p.weights.type == Type::kUInt8 ? 128 : 0;
      for (int32_t& z : p.quantization.zero_points) z = zero_point;
      p.weights_change = p.tells_weight_zero_point = p.to_real = false;
      p.bias.clear();
    }
    const std::vector<Buffer> y = p.Run();
    ASSERT_EQ(y.size(), 1u);
    size_t i = 0;
    ForEachIndex({batch, rows, cols}, [&](const std::vector<int>& at) {
      int64_t sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum += int64_t{p.x.At({at[0], at[1], k}) - p.told.x_zero_point} *
               (p.weights.At({k, at[2]}) - p.WeightZeroPoint(at[2]));
      }
      p.Expect(y[0], i++, sum, at[2]);
    });
  }
}

TEST(OnnxIntegerProducts, Convolutions) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int size = random.Int(3, 7);
    const int groups = random.Int(1, 2);
    const int channels = random.Int(1, 9);
    const int outputs = groups * random.Int(1, 9);
    const IntegerConv2D op{Conv2D{{}, {}, Padding::Explicit(1, 1, 1, 1)}};
    const Product p = MakeProduct(random, op, {1, size, size, groups * channels},
                                  {outputs, 3, 3, channels}, 0, outputs);
    const std::vector<Buffer> y = p.Run();
    ASSERT_EQ(y.size(), 1u);
    size_t i = 0;
    ForEachIndex({size, size, outputs}, [&](const std::vector<int>& at) {
      int64_t sum = 0;
      const int first = at[2] / (outputs / groups) * channels;
      ForEachIndex({3, 3, channels}, [&](const std::vector<int>& tap) {
        const int iy = at[0] + tap[0] - 1;
        const int ix = at[1] + tap[1] - 1;
        if (iy < 0 || ix < 0 || iy >= size || ix >= size) return;
        sum += int64_t{p.x.At({0, iy, ix, first + tap[2]}) - p.told.x_zero_point} *
               (p.weights.At({at[2], tap[0], tap[1], tap[2]}) - p.WeightZeroPoint(at[2]));
      });
      p.Expect(y[0], i++, sum, at[2]);
    });
  }
}

}  // namespace
}  // namespace intaglio::nn
