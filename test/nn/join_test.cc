// Layers that write their results into those of concatenations: the same bytes as apart from each
// other, on every kernel, by any number of threads.
#include <cstring>

#include "intaglio/gemm/describe.h"
#include "intaglio/test/nn/testing.h"
#include "intaglio/test/rounds.h"

namespace intaglio::nn {
namespace {

enum class Numbers { kInt8, kUInt8, kInt16, kFloat, kHybrid };

Type TypeOfResults(Numbers numbers) {
  switch (numbers) {
    case Numbers::kInt8:
      return Type::kInt8;
    case Numbers::kUInt8:
      return Type::kUInt8;
    case Numbers::kInt16:
      return Type::kInt16;
    default:
      return Type::kFloat32;
  }
}

// Layers that read one image, and concatenations along the channels of what they make. Operands are
// written in another order than they lie: what is written beyond one spoils another.
class Network {
 public:
  Network(Random& random, Numbers numbers)
      : random_(random),
        numbers_(numbers),
        shape_{random.Int(1, 2), random.Int(1, 9), random.Int(1, 9), Channels()},
        image_(builder_.Input("x", type(), shape_, Same())) {
    for (int i = random.Int(1, 2); i > 0; --i) {
      const Value joined = Join(random.Int(0, 1));
      builder_.Output(random.Flip() ? joined : Pool(joined), "y");
    }
  }

  Graph Finish() {
    Result<Graph> graph = builder_.Finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return std::move(*graph);
  }

  std::vector<std::byte> Image() {
    const auto count = static_cast<size_t>(*CountElements(shape_));
    std::vector<std::byte> bytes(count * SizeOf(type()));
    for (size_t i = 0; i < count; ++i) {
      const int element = random_.Element(type() == Type::kFloat32 ? Type::kInt8 : type());
      const float real = static_cast<float>(element) / 64;
      std::memcpy(&bytes[i * SizeOf(type())],
                  type() == Type::kFloat32 ? static_cast<const void*>(&real)
                                           : static_cast<const void*>(&element),
                  SizeOf(type()));
    }
    return bytes;
  }

 private:
  Type type() const { return TypeOfResults(numbers_); }
  int Channels() { return random_.Of<int>({1, 2, 3, 8, 15, 16, 17, 32, 33, 64, 65, 100, 130}); }

  // Of images and results; of uint8 results sometimes another, which concatenations change.
  Quantization Same() const {
    if (type() == Type::kFloat32) return {};
    return PerTensor(0.05f, numbers_ == Numbers::kInt16 ? 0 : 7);
  }
  Quantization Any() {
    return numbers_ == Numbers::kUInt8 && random_.Int(0, 4) == 0 ? PerTensor(0.07f, 3) : Same();
  }

  // Its scales are one, or one per index of the axis.
  Constant Filter(const Shape& shape, int axis) {
    const auto count = static_cast<size_t>(*CountElements(shape));
    if (numbers_ == Numbers::kFloat) {
      std::vector<float> values(count);
      for (float& v : values) v = static_cast<float>(random_.Int(-9, 9)) / 8;
      return builder_.Const<float>("f", values, shape);
    }
    const Type type = numbers_ == Numbers::kUInt8 ? Type::kUInt8 : Type::kInt8;
    const Q filter = random_.Tensor(type, shape);
    if (type == Type::kUInt8) return Const(builder_, filter, PerTensor(0.01f, 128));
    if (random_.Flip()) return Const(builder_, filter, PerTensor(0.01f, 0));
    const auto channels = static_cast<size_t>(shape[static_cast<size_t>(axis)]);
    return Const(builder_, filter, PerAxis(std::vector<float>(channels, 0.02f), axis));
  }

  Value Conv(int side) {
    const int groups = shape_[3] % 2 == 0 && random_.Int(0, 3) == 0 ? 2 : 1;
    const int outputs = Channels() * groups;
    return builder_.Conv2D(image_, Filter({outputs, side, side, shape_[3] / groups}, 0), kNoBias,
                           {.padding = Padding::Same()}, Any());
  }
  Value Depthwise() {
    const int outputs = shape_[3] * random_.Int(1, 2);
    return builder_.DepthwiseConv2D(image_, Filter({1, 3, 3, outputs}, 3), kNoBias,
                                    {.padding = Padding::Same()}, Any());
  }
  Value Enlarged() {
    const Value half = builder_.MaxPool2D(
        image_, {.filter = {1, 1}, .stride = {2, 2}, .padding = Padding::Same()});
    return builder_.Layer(ResizeNearestNeighbor{.height = shape_[1], .width = shape_[2]}, {half.id},
                          type(), Same());
  }
  Value Connected() {
    return builder_.FullyConnected(image_, Filter({Channels(), shape_[3]}, 0), kNoBias,
                                   {.keep_num_dims = true}, Any());
  }
  Value Pool(Value x) {
    const Extent side = random_.Flip() ? Extent{3, 3} : Extent{2, 1};
    if (random_.Flip()) return builder_.MaxPool2D(x, {side, {1, 1}, Padding::Same()});
    return builder_.AveragePool2D(x, {side, {1, 1}, Padding::Same()});
  }

  Value Operand(int depth) {
    switch (random_.Int(0, 9)) {
      case 0:
        return Pool(image_);
      case 1:
        return Depthwise();
      case 2:
        return Conv(3);
      case 3:
        return depth > 0 ? Join(depth - 1) : Conv(1);
      case 4:
        return numbers_ == Numbers::kInt16 ? image_ : builder_.Relu(image_, Same());
      case 5:
        return Connected();
      case 6:
        return Enlarged();
      default:
        return Conv(1);
    }
  }

  Value Join(int depth) {
    std::vector<Value> operands;
    for (int i = random_.Int(2, 5); i > 0; --i) {
      const auto at = random_.Int(0, static_cast<int>(operands.size()));
      operands.insert(operands.begin() + at, Operand(depth));
    }
    const int dice = random_.Int(0, 9);
    if (dice == 0) operands.push_back(operands[0]);
    if (dice == 1) builder_.Output(Pool(operands[0]), "reader");
    if (dice == 2) builder_.Output(operands[0], "operand");
    return builder_.Concatenation(operands, {random_.Flip() ? 3 : -1, Activation::kNone}, Same());
  }

  Random& random_;
  Numbers numbers_;
  Shape shape_;
  Builder builder_;
  Value image_;
};

std::vector<std::vector<std::byte>> Outputs(Model& model, const std::vector<std::byte>& image) {
  const InputBuffer in[] = {{image.data(), image.size(), model.input(0).type}};
  std::vector<std::vector<std::byte>> results;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < model.output_count(); ++i) {
    results.emplace_back(*CountBytes(model.output(i).shape, model.output(i).type));
    out.push_back({results[i].data(), results[i].size(), model.output(i).type});
  }
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return results;
}

class Joins : public testing::TestWithParam<Numbers> {};

TEST_P(Joins, ChangeNoResult) {
  constexpr int kRounds = test::Rounds(60);
  Random random(static_cast<unsigned>(GetParam()));
  int strided = 0;
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    for (int round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(std::string(kernel.name) + ", round " + std::to_string(round));
      Network network(random, GetParam());
      const std::vector<std::byte> image = network.Image();
      const Graph graph = network.Finish();
      Result<Model> apart =
          Model::Prepare(graph, {.kernel = kernel.name, .keep_all_tensors = true});
      Result<Model> joined =
          Model::Prepare(graph, {.threads = random.Int(1, 3), .kernel = kernel.name});
      ASSERT_TRUE(apart.ok()) << apart.status().message();
      ASSERT_TRUE(joined.ok()) << joined.status().message();
      for (const Placement& place : apart->placements()) ASSERT_EQ(place.stride, 0u);
      for (const Placement& place : joined->placements()) strided += place.stride != 0 ? 1 : 0;
      const auto expected = Outputs(*apart, image);
      ASSERT_EQ(Outputs(*joined, image), expected);
      ASSERT_EQ(Outputs(*joined, image), expected) << "in the second run";
    }
  }
  EXPECT_GT(strided, kRounds);
}

INSTANTIATE_TEST_SUITE_P(OfEveryType, Joins,
                         testing::Values(Numbers::kInt8, Numbers::kUInt8, Numbers::kInt16,
                                         Numbers::kFloat, Numbers::kHybrid));

}  // namespace
}  // namespace intaglio::nn
