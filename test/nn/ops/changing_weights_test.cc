// Products whose weights and biases change in every run give the bits of products with constant
// ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {
namespace {

using Bytes = std::vector<uint8_t>;

struct Kind {
  const char* name;
  Type x;
  Type weights;
  Type bias;
  int32_t zero_point;         // of x
  int32_t weight_zero_point;  // if they have one scale
  bool per_channel;
};

constexpr Kind kKinds[] = {
    {"int8", Type::kInt8, Type::kInt8, Type::kInt32, -3, 0, true},
    {"uint8", Type::kUInt8, Type::kUInt8, Type::kInt32, 120, 131, false},
    {"int16", Type::kInt16, Type::kInt8, Type::kInt64, 0, 0, true},
    {"float32", Type::kFloat32, Type::kFloat32, Type::kFloat32, 0, 0, false},
    {"hybrid", Type::kFloat32, Type::kInt8, Type::kFloat32, 0, 0, true},
};

struct Product {
  const char* name;
  Operator op;
  Shape x;
  Shape weights;
  int axis;  // the weights' axis of outputs
};

const Product kProducts[] = {
    {"FullyConnected", FullyConnected{}, {5, 70}, {33, 70}, 0},
    {"OneRow", FullyConnected{}, {1, 70}, {33, 70}, 0},
    {"Conv2D", Conv2D{}, {2, 7, 6, 5}, {9, 3, 3, 5}, 0},
    {"Pointwise", Conv2D{}, {1, 7, 6, 16}, {40, 1, 1, 16}, 0},
    {"Groups", Conv2D{.stride = {2, 1}}, {1, 7, 6, 8}, {6, 3, 3, 4}, 0},
    {"Depthwise", DepthwiseConv2D{}, {2, 7, 6, 20}, {1, 3, 3, 20}, 3},
    {"Multiplier", DepthwiseConv2D{}, {1, 7, 6, 3}, {1, 3, 3, 6}, 3},
    {"OneChannel", DepthwiseConv2D{}, {1, 7, 6, 1}, {1, 3, 3, 6}, 3},
};

Tensor MakeTensor(const char* name, Type type, const Shape& shape, Quantization quantization) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = shape;
  if (type != Type::kFloat32) tensor.quantization = std::move(quantization);
  return tensor;
}

Quantization ScalesOf(const Kind& kind, const Product& product) {
  const int outputs = product.weights[static_cast<size_t>(product.axis)];
  if (!kind.per_channel) return PerTensor(0.01f, kind.weight_zero_point);
  std::vector<float> scales(static_cast<size_t>(outputs));
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = 0.004f + 0.0005f * static_cast<float>(i);
  return PerAxis(std::move(scales), product.axis);
}

Bytes RandomBytes(const Tensor& tensor, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(*CountBytes(tensor.shape, tensor.type));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  const auto fill = [&](auto zero, int range) {
    for (size_t i = 0; i < bytes.size(); i += sizeof(zero)) {
      const auto value =
          static_cast<decltype(zero)>(static_cast<int>(random() % 1000) * range / 500 - range);
      std::memcpy(bytes.data() + i, &value, sizeof(value));
    }
  };
  if (tensor.type == Type::kFloat32) fill(0.0f, 9);
  if (tensor.type == Type::kInt32) fill(int32_t{0}, 3000);
  if (tensor.type == Type::kInt64) fill(int64_t{0}, 3000);
  return bytes;
}

// One layer. Its x, weights and bias are inputs unless they are constant.
class Case {
 public:
  Case(const Kind& kind, const Product& product) {
    const int outputs = product.weights[static_cast<size_t>(product.axis)];
    graph_.tensors = {
        MakeTensor("x", kind.x, product.x, PerTensor(0.05f, kind.zero_point)),
        MakeTensor("weights", kind.weights, product.weights, ScalesOf(kind, product)),
        MakeTensor("bias", kind.bias, {outputs}, {}),
        MakeTensor("y", kind.x, {},
                   PerTensor(kind.x == Type::kInt16 ? 40.0f : 0.4f, kind.zero_point))};
    graph_.layers = {{product.op, {0, 1, 2}, {3}, {}}};
    graph_.outputs = {3};
    graph_.tensors[3].shape = InferShapes(graph_, 0)->front();
    for (size_t i = 0; i < 3; ++i) {
      elements_.push_back(RandomBytes(graph_.tensors[i], static_cast<uint32_t>(i)));
    }
  }

  // Makes new elements, as each run brings them.
  void Change(uint32_t seed) {
    for (size_t i = 0; i < 3; ++i)
      elements_[i] = RandomBytes(graph_.tensors[i], seed + static_cast<uint32_t>(i));
  }

  Result<Model> Prepare(std::vector<TensorId> constants, PrepareOptions options) const {
    options.float_sums = FloatSums::kUnfused;  // all kernels are compared
    Graph graph = graph_;
    for (TensorId id = 0; id < 3; ++id) {
      Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
      const Bytes& elements = elements_[static_cast<size_t>(id)];
      if (std::find(constants.begin(), constants.end(), id) == constants.end()) {
        graph.inputs.push_back(id);
        continue;
      }
      tensor.constant = true;
      const auto owner = std::make_shared<const Bytes>(elements);
      tensor.owner = owner;
      tensor.data = owner->data();
      tensor.data_bytes = owner->size();
    }
    return Model::Prepare(std::move(graph), options);
  }

  Bytes Run(Model& model) const {
    std::vector<InputBuffer> in;
    for (size_t i = 0; i < model.input_count(); ++i) {
      const Bytes& elements = elements_[static_cast<size_t>(model.graph().inputs[i])];
      in.push_back({elements.data(), elements.size(), model.input(i).type});
    }
    Bytes y(*CountBytes(model.output(0).shape, model.output(0).type));
    const OutputBuffer out[] = {{y.data(), y.size(), model.output(0).type}};
    const Status status = model.Run(in, out);
    EXPECT_TRUE(status.ok()) << status.message();
    return y;
  }

  Bytes Expected() const {
    Result<Model> model = Prepare({1, 2}, {});
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? Run(*model) : Bytes();
  }

 private:
  Graph graph_;
  std::vector<Bytes> elements_;
};

void ExpectSameBits(const Kind& kind, const Product& product, std::vector<TensorId> constants) {
  Case c(kind, product);
  PrepareOptions options;
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    SCOPED_TRACE(kernel.name);
    options.kernel = kernel.name;
    options.threads = 3 - options.threads;
    c.Change(0);
    Result<Model> model = c.Prepare(constants, options);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(c.Run(*model), c.Expected());
    if (!constants.empty()) continue;
    c.Change(7);
    EXPECT_EQ(c.Run(*model), c.Expected()) << "of other weights";
  }
}

TEST(ChangingWeights, GiveTheBitsOfConstantOnes) {
  for (const Kind& kind : kKinds) {
    for (const Product& product : kProducts) {
      SCOPED_TRACE(std::string(kind.name) + " " + product.name);
      ExpectSameBits(kind, product, {});
      ExpectSameBits(kind, product, {1});
      ExpectSameBits(kind, product, {2});
      ExpectSameBits(kind, product, {0});
    }
  }
}

// Nobody can see from future weights whether a sum can overflow.
TEST(ChangingWeights, AreRefusedWhereTheirSumsCanOverflow) {
  const Product wide = {"wide", FullyConnected{}, {1, 140000}, {2, 140000}, 0};
  const Result<Model> model = Case(kKinds[0], wide).Prepare({}, {});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(
      model.status().message(),
      "FULLY_CONNECTED #0 'y': sums 140000 products, which can overflow int32 with these weights");
}

TEST(ChangingWeights, NeedNoFloatingPoint) {
  PrepareOptions options;
  options.integer_only = true;
  for (const Product& product : kProducts) {
    for (const Kind& kind : {kKinds[0], kKinds[1], kKinds[2]}) {
      EXPECT_TRUE(Case(kind, product).Prepare({}, options).ok()) << kind.name << product.name;
    }
  }
}

}  // namespace
}  // namespace intaglio::nn
