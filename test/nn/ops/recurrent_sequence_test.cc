// RECURRENT_SEQUENCE against the formulas of sequence.h in float64, one unit after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/recurrent/sequence.h"
#include "intaglio/test/nn/ops/one_layer.h"

namespace intaglio::nn::test {
namespace {

using Row = std::vector<double>;

double Value(const CellFunction& f, double x) {
  const double a = static_cast<double>(f.a);
  const double b = static_cast<double>(f.b);
  switch (f.curve) {
    case Curve::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Curve::kTanh:
      return std::tanh(x);
    case Curve::kRelu:
      return x > 0 ? x : 0;
    case Curve::kAffine:
      return a * x + b;
    case Curve::kLeakyRelu:
      return x < 0 ? a * x : x;
    case Curve::kThresholdedRelu:
      return x > a ? x : 0;
    case Curve::kScaledTanh:
      return a * std::tanh(b * x);
    case Curve::kHardSigmoid:
      return std::min(1.0, std::max(0.0, a * x + b));
    case Curve::kElu:
      return x < 0 ? a * (std::exp(x) - 1) : x;
    case Curve::kSoftsign:
      return x / (1 + std::abs(x));
    case Curve::kSoftplus:
      return std::log(1 + std::exp(x));
  }
  return 0;
}

int Gates(SequenceCell cell) {
  return cell == SequenceCell::kRnn ? 1 : cell == SequenceCell::kGru ? 3 : 4;
}

// A layer's inputs, and what comes out of them. An empty list is an absent input.
struct Sequences {
  RecurrentSequence op;
  int steps = 0;
  int batch = 0;
  int inputs = 0;
  int units = 0;
  std::vector<float> x, w, r, biases, h, c, peepholes;
  std::vector<int32_t> lengths;
  Row all_h, last_h, last_c;  // expected

  int directions() const { return op.direction == SequenceDirection::kBoth ? 2 : 1; }
  int rows() const { return Gates(op.cell) * units; }

  std::vector<Given> Inputs() const {
    const int d = directions();
    const auto optional = [](Shape shape, const std::vector<float>& values) {
      return values.empty() ? Absent() : MakeGiven<float>(std::move(shape), values);
    };
    const auto constant = [&](Shape shape, const std::vector<float>& values) {
      Given given = optional(std::move(shape), values);
      given.constant = given.present;
      return given;
    };
    return {MakeGiven<float>({steps, batch, inputs}, x),
            constant({d * rows(), inputs}, w),
            constant({d * rows(), units}, r),
            constant({d, 2 * rows()}, biases),
            lengths.empty() ? Absent() : MakeGiven<int32_t>({batch}, lengths),
            optional({d, batch, units}, h),
            optional({d, batch, units}, c),
            constant({d, 3 * units}, peepholes)};
  }

  std::vector<Type> Outputs() const {
    return std::vector<Type>(op.cell == SequenceCell::kLstm ? 3 : 2, Type::kFloat32);
  }

  void Expect() {
    const auto states = static_cast<size_t>(directions() * batch * units);
    all_h.assign(states * static_cast<size_t>(steps), 0);
    last_h.assign(states, 0);
    last_c.assign(states, 0);
    for (int d = 0; d < directions(); ++d) {
      for (int b = 0; b < batch; ++b) RunSequence(d, b);
    }
  }

 private:
  static double At(const std::vector<float>& values, int i) {
    return values.empty() ? 0.0 : static_cast<double>(values[static_cast<size_t>(i)]);
  }

  void RunSequence(int d, int b) {
    const int length = lengths.empty() ? steps : lengths[static_cast<size_t>(b)];
    const bool is_reverse = d == 1 || op.direction == SequenceDirection::kReverse;
    Row state(static_cast<size_t>(units));
    Row cell(static_cast<size_t>(units));
    const int first = (d * batch + b) * units;
    for (int u = 0; u < units && length > 0; ++u) {
      state[static_cast<size_t>(u)] = At(h, first + u);
      cell[static_cast<size_t>(u)] = At(c, first + u);
    }
    for (int step = 0; step < length; ++step) {
      const int t = is_reverse ? length - 1 - step : step;
      Step(d, t * batch + b, state, cell);
      for (int u = 0; u < units; ++u) {
        all_h[static_cast<size_t>(((t * directions() + d) * batch + b) * units + u)] =
            state[static_cast<size_t>(u)];
      }
    }
    std::copy(state.begin(), state.end(), last_h.begin() + first);
    std::copy(cell.begin(), cell.end(), last_c.begin() + first);
  }

  // Bias and product of one row of W, and of R.
  double OfX(int d, int row, int sample) const {
    double sum = At(biases, d * 2 * rows() + row);
    for (int k = 0; k < inputs; ++k) {
      sum += At(w, (d * rows() + row) * inputs + k) * At(x, sample * inputs + k);
    }
    return sum;
  }
  double OfH(int d, int row, const Row& state) const {
    double sum = At(biases, d * 2 * rows() + rows() + row);
    for (int k = 0; k < units; ++k) {
      sum += At(r, (d * rows() + row) * units + k) * state[static_cast<size_t>(k)];
    }
    return sum;
  }

  double Apply(int d, int f, double sum) const {
    const double bound = static_cast<double>(op.clip);
    if (bound > 0) sum = std::min(bound, std::max(-bound, sum));
    return Free(d, f, sum);
  }
  double Free(int d, int f, double sum) const {
    const size_t each = op.functions.size() / static_cast<size_t>(directions());
    return Value(op.functions[static_cast<size_t>(d) * each + static_cast<size_t>(f)], sum);
  }

  void Step(int d, int sample, Row& state, Row& cell) const {
    const Row old = state;
    Row reset = old;
    for (int u = 0; u < units && op.cell == SequenceCell::kGru; ++u) {
      reset[static_cast<size_t>(u)] *=
          Apply(d, 0, OfX(d, units + u, sample) + OfH(d, units + u, old));
    }
    for (int u = 0; u < units; ++u) {
      const auto i = static_cast<size_t>(u);
      const auto sum = [&](int gate) {
        return OfX(d, gate * units + u, sample) + OfH(d, gate * units + u, old);
      };
      if (op.cell == SequenceCell::kRnn) {
        state[i] = Apply(d, 0, sum(0));
      } else if (op.cell == SequenceCell::kGru) {
        const double z = Apply(d, 0, sum(0));
        const double n =
            op.reset_after
                ? Apply(d, 1,
                        OfX(d, 2 * units + u, sample) +
                            Apply(d, 0, sum(1)) * OfH(d, 2 * units + u, old))
                : Apply(d, 1, OfX(d, 2 * units + u, sample) + OfH(d, 2 * units + u, reset));
        state[i] = (1 - z) * n + z * old[i];
      } else {
        const auto peephole = [&](int gate) {
          return At(peepholes, (d * 3 + gate) * units + u) * cell[i];
        };
        const double input = Apply(d, 0, sum(0) + peephole(0));
        const double forget = op.coupled ? 1 - input : Apply(d, 0, sum(2) + peephole(2));
        cell[i] = forget * cell[i] + input * Apply(d, 1, sum(3));
        const double output = Apply(d, 0, sum(1) + peephole(1));
        state[i] = output * Free(d, 2, cell[i]);
      }
    }
  }
};

enum Optional : unsigned {
  kWithBiases = 1,
  kWithLengths = 2,
  kWithStates = 4,
  kWithPeepholes = 8,
  kWithAll = 15
};

Sequences Make(RecurrentSequence op, int steps, int batch, int inputs, int units, unsigned with) {
  std::mt19937 random(steps * 7 + batch * 5 + inputs * 3 + units);
  const auto numbers = [&](int count) {
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = number(random);
    return values;
  };
  Sequences s;
  s.op = std::move(op);
  s.steps = steps;
  s.batch = batch;
  s.inputs = inputs;
  s.units = units;
  const int d = s.directions();
  const bool is_lstm = s.op.cell == SequenceCell::kLstm;
  s.x = numbers(steps * batch * inputs);
  s.w = numbers(d * s.rows() * inputs);
  s.r = numbers(d * s.rows() * units);
  // Sums stay small, as sums of trained cells do.
  for (float& value : s.w) value /= std::sqrt(static_cast<float>(inputs));
  for (float& value : s.r) value /= std::sqrt(static_cast<float>(units));
  if (with & kWithBiases) s.biases = numbers(d * 2 * s.rows());
  if (with & kWithStates) s.h = numbers(d * batch * units);
  if (with & kWithStates && is_lstm) s.c = numbers(d * batch * units);
  if (with & kWithPeepholes && is_lstm) s.peepholes = numbers(d * 3 * units);
  for (int b = 0; b < batch && with & kWithLengths; ++b) {
    s.lengths.push_back((steps * 3 - b) % (steps + 1));
  }
  s.Expect();
  return s;
}

void Check(const Sequences& s, const Got& got, double bound = 1e-5) {
  ASSERT_EQ(got.error, "");
  const Row* const expected[] = {&s.all_h, &s.last_h, &s.last_c};
  for (size_t i = 0; i < s.Outputs().size(); ++i) {
    const std::vector<float> actual = got.As<float>(i);
    ASSERT_EQ(actual.size(), expected[i]->size());
    for (size_t j = 0; j < actual.size(); ++j) {
      ASSERT_NEAR(static_cast<double>(actual[j]), (*expected[i])[j], bound) << i << " at " << j;
    }
  }
}

RecurrentSequence Op(SequenceCell cell, SequenceDirection direction) {
  RecurrentSequence op;
  op.cell = cell;
  op.direction = direction;
  for (int d = 0; d < (direction == SequenceDirection::kBoth ? 2 : 1); ++d) {
    if (cell != SequenceCell::kRnn) op.functions.push_back({Curve::kSigmoid});
    op.functions.push_back({Curve::kTanh});
    if (cell == SequenceCell::kLstm) op.functions.push_back({Curve::kTanh});
  }
  return op;
}

constexpr SequenceCell kCells[] = {SequenceCell::kRnn, SequenceCell::kGru, SequenceCell::kLstm};
constexpr SequenceDirection kDirections[] = {SequenceDirection::kForward,
                                             SequenceDirection::kReverse, SequenceDirection::kBoth};

// Every cell in every direction, with any of the optional inputs.
TEST(RecurrentSequence, FollowsItsFormulas) {
  for (const SequenceCell cell : kCells) {
    for (const SequenceDirection direction : kDirections) {
      for (unsigned with = 0; with <= kWithAll; ++with) {
        for (const bool option : {false, true}) {
          SCOPED_TRACE(testing::Message() << static_cast<int>(cell) << static_cast<int>(direction)
                                          << " with " << with << option);
          RecurrentSequence op = Op(cell, direction);
          op.clip = option ? 0.3f : 0.0f;
          op.coupled = op.reset_after = option;
          const Sequences s = Make(op, 4, 3, 5, 7, with);
          Check(s, RunLayer(s.op, s.Inputs(), s.Outputs()));
        }
      }
    }
  }
}

// Every function, and other ones in the two directions.
TEST(RecurrentSequence, Functions) {
  for (int i = 0; i <= static_cast<int>(Curve::kSoftplus); ++i) {
    SCOPED_TRACE(i);
    const CellFunction f = {static_cast<Curve>(i), 0.3f, 0.4f};
    RecurrentSequence op = Op(SequenceCell::kLstm, SequenceDirection::kBoth);
    op.functions = {f, {Curve::kTanh}, f, {Curve::kSigmoid}, f, {Curve::kTanh}};
    const Sequences s = Make(op, 3, 2, 4, 5, kWithAll);
    Check(s, RunLayer(s.op, s.Inputs(), s.Outputs()));
  }
}

// Runs by every kernel and with several numbers of threads, which must give the same bits for one
// way to add.
Got RunEverywhere(const Sequences& s, const std::vector<Given>& inputs) {
  const Got first = RunLayer(s.op, inputs, s.Outputs());
  const Got unfused = RunLayer(s.op, inputs, s.Outputs(), {.float_sums = FloatSums::kUnfused});
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(kernel.name + ", " + std::to_string(threads) + " threads");
      PrepareOptions options{.threads = threads, .kernel = kernel.name};
      if (FloatLoopsOf(kernel.name, FloatSums::kFused).sums == FloatSums::kFused) {
        EXPECT_EQ(RunLayer(s.op, inputs, s.Outputs(), options).bytes, first.bytes);
      }
      options.float_sums = FloatSums::kUnfused;
      EXPECT_EQ(RunLayer(s.op, inputs, s.Outputs(), options).bytes, unfused.bytes);
    }
  }
  return first;
}

// Threads share large layers.
TEST(RecurrentSequence, SameBitsEverywhere) {
  for (const SequenceCell cell : kCells) {
    for (const bool reset_after : {false, true}) {
      RecurrentSequence op = Op(cell, SequenceDirection::kBoth);
      op.reset_after = reset_after;
      for (const unsigned with : {kWithAll, kWithBiases}) {
        const Sequences s = Make(op, 5, 11, 33, 150, with);
        Check(s, RunEverywhere(s, s.Inputs()));
      }
    }
  }
}

// Weights as int8, each row by a scale of its own and, of odd rows, with a zero point.
Given Quantized(const Given& given) {
  std::vector<float> values(given.bytes.size() / sizeof(float));
  std::memcpy(values.data(), given.bytes.data(), given.bytes.size());
  const auto columns = static_cast<size_t>(given.shape[1]);
  std::vector<int8_t> quantized;
  Quantization quantization;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / columns;
    const float scale = 0.004f + 0.001f * static_cast<float>(row % 5);
    const int zero_point = row % 2 == 0 ? 0 : 3;
    if (i % columns == 0) {
      quantization.scales.push_back(scale);
      quantization.zero_points.push_back(zero_point);
    }
    const float number = std::round(values[i] / scale) + static_cast<float>(zero_point);
    quantized.push_back(static_cast<int8_t>(std::clamp(number, -128.0f, 127.0f)));
  }
  Given bytes = AsConstant(MakeGiven<int8_t>(given.shape, quantized));
  bytes.quantization = quantization;
  return bytes;
}

std::vector<float> Dequantized(const Given& given) {
  std::vector<float> values;
  for (size_t i = 0; i < given.bytes.size(); ++i) {
    const size_t row = i / static_cast<size_t>(given.shape[1]);
    const auto number = static_cast<int8_t>(given.bytes[i]);
    values.push_back(static_cast<float>(number - given.quantization.zero_points[row]) *
                     given.quantization.scales[row]);
  }
  return values;
}

// The same as with weights of float32, but for the rounding of x and h to 8 bits.
TEST(RecurrentSequence, WeightsOfEightBits) {
  for (const SequenceCell cell : kCells) {
    Sequences s = Make(Op(cell, SequenceDirection::kBoth), 4, 3, 20, 24, kWithAll);
    std::vector<Given> inputs = s.Inputs();
    inputs[1] = Quantized(inputs[1]);
    inputs[2] = Quantized(inputs[2]);
    s.w = Dequantized(inputs[1]);
    s.r = Dequantized(inputs[2]);
    s.Expect();
    Check(s, RunEverywhere(s, inputs), 0.03);
    inputs[2] = s.Inputs()[2];
    EXPECT_NE(RunLayer(s.op, inputs, s.Outputs()).error, "");
  }
}

// The sums of x are so many that threads share their conversion to real numbers.
TEST(RecurrentSequence, WeightsOfEightBitsByThreads) {
  const Sequences s =
      Make(Op(SequenceCell::kLstm, SequenceDirection::kBoth), 9, 8, 20, 150, kWithAll);
  std::vector<Given> inputs = s.Inputs();
  inputs[1] = Quantized(inputs[1]);
  inputs[2] = Quantized(inputs[2]);
  EXPECT_EQ(RunEverywhere(s, inputs).error, "");
}

TEST(RecurrentSequence, NoSteps) {
  for (const int steps : {0, 1}) {
    const Sequences s = Make(Op(SequenceCell::kLstm, SequenceDirection::kBoth), steps, 1 - steps, 3,
                             2, kWithStates);
    Check(s, RunLayer(s.op, s.Inputs(), s.Outputs()));
  }
}

TEST(RecurrentSequence, RefusesWhatDoesNotFit) {
  const Sequences good =
      Make(Op(SequenceCell::kLstm, SequenceDirection::kForward), 3, 2, 4, 5, kWithAll);
  const std::vector<Given> inputs = good.Inputs();
  ASSERT_EQ(RunLayer(good.op, inputs, good.Outputs()).error, "");
  for (size_t i = 0; i < inputs.size(); ++i) {
    SCOPED_TRACE(i);
    std::vector<Given> bad = inputs;
    bad[i].shape.back() += 1;
    bad[i].bytes.resize(bad[i].bytes.size() * 2);
    EXPECT_NE(RunLayer(good.op, bad, good.Outputs()).error, "");
    bad = inputs;
    bad[i].shape.push_back(1);
    EXPECT_NE(RunLayer(good.op, bad, good.Outputs()).error, "");
    bad = inputs;
    bad[i].type = i == 4 ? Type::kFloat32 : Type::kInt32;
    EXPECT_NE(RunLayer(good.op, bad, good.Outputs()).error, "");
    if (!inputs[i].constant) continue;
    bad = inputs;
    bad[i].constant = false;
    EXPECT_NE(RunLayer(good.op, bad, good.Outputs()).error.find("not constant"), std::string::npos);
  }
  RecurrentSequence op = good.op;
  op.functions.pop_back();
  EXPECT_NE(RunLayer(op, inputs, good.Outputs()).error, "");
  op = Op(SequenceCell::kGru, SequenceDirection::kForward);
  EXPECT_NE(RunLayer(op, inputs, good.Outputs()).error, "");
}

TEST(RecurrentSequence, RefusesLengths) {
  for (const int32_t length : {-1, 4, INT32_MIN, INT32_MAX}) {
    Sequences s = Make(Op(SequenceCell::kRnn, SequenceDirection::kReverse), 3, 2, 4, 5, 0);
    s.lengths = {3, length};
    EXPECT_NE(RunLayer(s.op, s.Inputs(), s.Outputs()).error.find("length"), std::string::npos);
  }
}

}  // namespace
}  // namespace intaglio::nn::test
