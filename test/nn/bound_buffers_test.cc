// Buffers of the caller that a run uses in place.
#include <array>
#include <numeric>

#include "intaglio/test/nn/count_allocations.h"
#include "intaglio/test/nn/testing.h"

namespace intaglio::nn {
namespace {

using Bytes = std::vector<int8_t>;

Bytes Numbers(size_t count, int first = -60) {
  Bytes numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<int8_t>(first));
  return numbers;
}

Value InputOf(Builder& b, const std::string& name, Shape shape) {
  return b.Input(name, Type::kInt8, std::move(shape), PerTensor(0.5f, 0));
}

Constant Weights(Builder& b, int outputs, int depth) {
  return b.Const<int8_t>("w", Numbers(static_cast<size_t>(outputs * depth), -20),
                         {outputs, 1, 1, depth}, PerTensor(0.01f, 0));
}

Model Prepared(Builder& b) {
  Result<Model> model = Model::Prepare(*b.Finish());
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

size_t BytesOf(const Tensor& tensor) { return *CountBytes(tensor.shape, tensor.type); }

// Compares the outputs of Run and RunBound, for every choice of bound buffers.
void ExpectSameBound(Model& model, const std::vector<Bytes>& inputs) {
  std::vector<InputBuffer> in;
  for (const Bytes& input : inputs) in.push_back(MakeInput(input));
  std::vector<Bytes> expected;
  std::vector<Bytes> got;
  for (size_t i = 0; i < model.output_count(); ++i) {
    expected.emplace_back(BytesOf(model.output(i)));
    got.emplace_back(BytesOf(model.output(i)));
  }
  std::vector<OutputBuffer> out;
  for (Bytes& bytes : expected) out.push_back(MakeOutput(bytes));
  ASSERT_TRUE(model.Run(in, out).ok());

  const size_t count = in.size() + got.size();
  for (size_t bound = 0; bound < size_t{1} << count; ++bound) {
    SCOPED_TRACE(bound);
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_TRUE(model.BindInput(i, (bound >> i & 1) != 0 ? in[i] : InputBuffer()).ok());
    }
    for (size_t i = 0; i < got.size(); ++i) {
      std::fill(got[i].begin(), got[i].end(), int8_t{99});
      const bool is_bound = (bound >> (in.size() + i) & 1) != 0;
      ASSERT_TRUE(model.BindOutput(i, is_bound ? MakeOutput(got[i]) : OutputBuffer()).ok());
    }
    const std::vector<Bytes> before = inputs;
    for (size_t i = 0; i < in.size(); ++i) {
      if ((bound >> i & 1) == 0) std::memcpy(model.InputData(i), inputs[i].data(), in[i].bytes);
    }
    ASSERT_TRUE(model.RunBound().ok());
    EXPECT_EQ(inputs, before);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto* const data = static_cast<const int8_t*>(model.OutputData(i));
      EXPECT_EQ(Bytes(data, data + got[i].size()), expected[i]) << "output " << i;
      if ((bound >> (in.size() + i) & 1) != 0) {
        EXPECT_EQ(data, got[i].data());
      }
    }
  }
  for (size_t i = 0; i < in.size(); ++i) ASSERT_TRUE(model.BindInput(i, {}).ok());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_TRUE(model.BindOutput(i, {}).ok());
  ASSERT_TRUE(model.Run(in, out).ok());
}

TEST(BoundBuffers, OfALayerInPlace) {
  Builder b;
  b.Output(b.Relu(InputOf(b, "x", {1, 100}), PerTensor(0.5f, 0)), "y");
  Model model = Prepared(b);
  ASSERT_TRUE(model.layers()[0].in_place);
  ExpectSameBound(model, {Numbers(100)});
}

TEST(BoundBuffers, OfAnAlias) {
  Builder b;
  const Value x = InputOf(b, "x", {1, 100});
  b.Output(b.Reshape(b.Relu(x, PerTensor(0.25f, 1)), {10, 10}), "y");
  b.Output(b.Reshape(x, {100}), "z");
  Model model = Prepared(b);
  ExpectSameBound(model, {Numbers(100)});
}

TEST(BoundBuffers, OfOneTensorMoreThanOnce) {
  Builder b;
  const Value x = InputOf(b, "x", {1, 100});
  const Value y = b.Relu(x, PerTensor(0.5f, 0));
  b.Output(x, "x");
  b.Output(y, "y");
  b.Output(y, "y");
  Model model = Prepared(b);
  ExpectSameBound(model, {Numbers(100)});
}

// Products write lines of the result, which lie apart from each other.
TEST(BoundBuffers, OfAConcatenationOfLines) {
  Builder b;
  const Value x = InputOf(b, "x", {1, 4, 4, 3});
  const Quantization q = PerTensor(0.1f, 0);
  const Value parts[] = {b.Conv2D(x, Weights(b, 5, 3), kNoBias, {}, q),
                         b.Conv2D(x, Weights(b, 8, 3), kNoBias, {}, q)};
  const Value joined = b.Concatenation(parts, {.axis = 3}, q);
  b.Output(joined, "joined");
  b.Output(b.Relu(joined, q), "relu");
  Model model = Prepared(b);
  ASSERT_TRUE(model.layers()[2].in_place);
  ExpectSameBound(model, {Numbers(48)});
  // The operands lie in the caller's memory.
  Bytes result(BytesOf(model.output(0)));
  ASSERT_TRUE(model.BindOutput(0, MakeOutput(result)).ok());
  EXPECT_EQ(model.TensorData(model.graph().outputs[0]), result.data());
}

// The operands are whole parts. Some of them are outputs, or concatenations themselves.
TEST(BoundBuffers, OfNestedConcatenations) {
  Builder b;
  const Value x = InputOf(b, "x", {1, 2, 4, 3});
  const Value z = InputOf(b, "z", {1, 4, 4, 13});
  const Quantization q = PerTensor(0.1f, 0);
  const Value lines[] = {b.Conv2D(x, Weights(b, 5, 3), kNoBias, {}, q),
                         b.Conv2D(x, Weights(b, 8, 3), kNoBias, {}, q)};
  const Value inner = b.Concatenation(lines, {.axis = 3}, q);
  const Value other = b.Relu(z, q);
  const Value parts[] = {inner, other};
  b.Output(b.Concatenation(parts, {.axis = 1}, q), "all");
  b.Output(inner, "inner");
  b.Output(other, "other");
  Model model = Prepared(b);
  ExpectSameBound(model, {Numbers(24), Numbers(208)});
}

TEST(BoundBuffers, OfAConstant) {
  Builder b;
  b.Output(b.Relu(InputOf(b, "x", {1, 100}), PerTensor(0.5f, 0)), "y");
  const Constant c = b.Const<int8_t>("c", Numbers(7), {7}, PerTensor(1, 0));
  b.Output(Value{c.id}, "c");
  Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok());
  ExpectSameBound(*model, {Numbers(100)});
}

class Refusals : public testing::Test {
 protected:
  Refusals() : model_(Make()) {}

  static Model Make() {
    Builder b;
    const Value x = b.Input("x", Type::kInt16, {1, 100}, PerTensor(0.5f, 0));
    b.Output(b.Relu(x, PerTensor(0.25f, 0)), "y");
    b.Output(b.Relu(x, PerTensor(0.125f, 0)), "z");
    return Prepared(b);
  }

  alignas(64) std::array<int16_t, 400> memory_{};
  Model model_;
};

TEST_F(Refusals, OddAddresses) {
  const auto* const odd = reinterpret_cast<const std::byte*>(memory_.data()) + 1;
  EXPECT_EQ(model_.BindInput(0, {odd, 200, Type::kInt16}).message(),
            "input 0: the address of a bound buffer must be a multiple of 2");
}

TEST_F(Refusals, OtherSizesAndIndices) {
  EXPECT_FALSE(model_.BindInput(0, {memory_.data(), 199, Type::kInt16}).ok());
  EXPECT_FALSE(model_.BindInput(0, {memory_.data(), 200, Type::kInt8}).ok());
  EXPECT_EQ(model_.BindInput(1, {memory_.data(), 200, Type::kInt16}).message(),
            "there is no input 1; the model has 1");
}

TEST_F(Refusals, OverlapsWithOutputs) {
  ASSERT_TRUE(model_.BindInput(0, {memory_.data(), 200, Type::kInt16}).ok());
  EXPECT_EQ(model_.BindOutput(0, {memory_.data() + 99, 200, Type::kInt16}).message(),
            "the buffer for 'y' overlaps that of input 0");
  ASSERT_TRUE(model_.BindOutput(0, {memory_.data() + 100, 200, Type::kInt16}).ok());
  EXPECT_EQ(model_.BindOutput(1, {memory_.data() + 101, 200, Type::kInt16}).message(),
            "the buffer for 'z' overlaps that of output 0");
  EXPECT_FALSE(model_.BindInput(0, {memory_.data() + 50, 200, Type::kInt16}).ok());
  ASSERT_TRUE(model_.BindOutput(0, {memory_.data() + 101, 200, Type::kInt16}).ok());
}

TEST_F(Refusals, RunWithBoundBuffers) {
  ASSERT_TRUE(model_.BindInput(0, {memory_.data(), 200, Type::kInt16}).ok());
  const InputBuffer in[] = {{memory_.data(), 200, Type::kInt16}};
  const OutputBuffer out[] = {{memory_.data() + 100, 200, Type::kInt16},
                              {memory_.data() + 200, 200, Type::kInt16}};
  EXPECT_EQ(model_.Run(in, out).message(),
            "the model has bound buffers: call RunBound, or unbind them");
  Result<Model> shared = model_.Share();
  ASSERT_TRUE(shared.ok());
  EXPECT_TRUE(shared->Run(in, out).ok());
}

TEST_F(Refusals, WarmingUpLeavesThemAlone) {
  memory_.fill(7);
  ASSERT_TRUE(model_.BindInput(0, {memory_.data(), 200, Type::kInt16}).ok());
  ASSERT_TRUE(model_.BindOutput(0, {memory_.data() + 100, 200, Type::kInt16}).ok());
  ASSERT_TRUE(model_.WarmUp().ok());
  EXPECT_EQ(memory_[100], 7);
  ASSERT_TRUE(model_.RunBound().ok());
  EXPECT_EQ(memory_[100], 14) << "bound again";
}

TEST_F(Refusals, NothingIsAllocatedInARun) {
  ASSERT_TRUE(model_.BindInput(0, {memory_.data(), 200, Type::kInt16}).ok());
  ASSERT_TRUE(model_.BindOutput(0, {memory_.data() + 100, 200, Type::kInt16}).ok());
  ASSERT_TRUE(model_.WarmUp().ok());
  const int64_t before = CountAllocations();
  ASSERT_TRUE(model_.RunBound().ok());
  EXPECT_EQ(CountAllocations(), before);
}

}  // namespace
}  // namespace intaglio::nn
