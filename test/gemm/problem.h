// Products to test, and what they have to give: matrices of any layout in memory of exactly their
// size, results between guards, and the sums of the definition.
#ifndef INTAGLIO_TEST_GEMM_PROBLEM_H_
#define INTAGLIO_TEST_GEMM_PROBLEM_H_

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/kernels/reference/reference.h"
#include "intaglio/test/pipeline/oracle.h"

namespace intaglio::test {

using Random = std::mt19937;

inline int Uniform(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}
template <class T>
const T& OneOf(Random& random, const std::vector<T>& choices) {
  return choices[static_cast<size_t>(Uniform(random, 0, static_cast<int>(choices.size()) - 1))];
}

enum class Values { kUniform, kExtremes, kAllLowest, kAllHighest };

inline uint8_t RandomByte(Random& random, Type type, Values values) {
  const uint8_t lowest = type == Type::kInt8 ? 0x80 : 0;
  const uint8_t highest = type == Type::kInt8 ? 0x7f : 0xff;
  switch (values) {
    case Values::kUniform:
      return static_cast<uint8_t>(random());
    case Values::kExtremes:
      return random() % 2 == 0 ? lowest : highest;
    case Values::kAllLowest:
      return lowest;
    case Values::kAllHighest:
      return highest;
  }
  return 0;
}

inline int32_t RandomZeroPoint(Random& random, Type type) {
  const int low = type == Type::kInt8 ? -128 : 0;
  switch (Uniform(random, 0, 4)) {
    case 0:
      return type == Type::kUInt8 ? 128 : 0;
    case 1:
      return 0;
    case 2:
      return low;
    case 3:
      return low + 255;
    default:
      return Uniform(random, low, low + 255);
  }
}

// Integers by row and column: what an operand stands for, zero points subtracted.
struct Integers {
  int rows = 0;
  int cols = 0;
  std::vector<int16_t> values;  // row-major

  int16_t& At(int r, int c) {
    return values[static_cast<size_t>(r) * static_cast<size_t>(cols) + static_cast<size_t>(c)];
  }
  int16_t At(int r, int c) const { return const_cast<Integers*>(this)->At(r, c); }
};
inline Integers MakeIntegers(int rows, int cols) {
  return {rows, cols, std::vector<int16_t>(static_cast<size_t>(rows) * static_cast<size_t>(cols))};
}

// A quantized matrix, at a place that need not be aligned.
class TestMatrix {
 public:
  TestMatrix() = default;
  TestMatrix(Random& random, Type type, int rows, int cols, Order order, int extra_stride,
             int32_t zero_point, Values values = Values::kUniform)
      : offset_(static_cast<size_t>(random() % 4)) {
    view_ = {nullptr, type,      rows, cols, DenseStride(rows, cols, order) + extra_stride,
             order,   zero_point};
    const int lines = order == Order::kRowMajor ? rows : cols;
    const size_t span =
        rows == 0 || cols == 0
            ? 0
            : static_cast<size_t>((lines - 1) * view_.stride + DenseStride(rows, cols, order));
    bytes_.resize(offset_ + span);
    for (uint8_t& b : bytes_) b = RandomByte(random, type, values);
  }

  ConstMatrix view() const {
    ConstMatrix v = view_;
    v.data = bytes_.data() + offset_;
    return v;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  // Other elements: as many as a dense matrix has.
  void Fill(const void* elements) {
    std::memcpy(bytes_.data() + offset_, elements, bytes_.size() - offset_);
  }

  int Quantized(int r, int c) const {
    const ptrdiff_t at =
        view_.order == Order::kRowMajor ? r * view_.stride + c : c * view_.stride + r;
    const uint8_t byte = bytes_[offset_ + static_cast<size_t>(at)];
    return view_.type == Type::kInt8 ? static_cast<int8_t>(byte) : byte;
  }

  // Zero points along rows (of a left-hand side) or columns; empty: the matrix's own.
  Integers ToIntegers(const std::vector<int32_t>& zero_points = {},
                      Axis along = Axis::kRows) const {
    Integers all = MakeIntegers(view_.rows, view_.cols);
    for (int r = 0; r < view_.rows; ++r) {
      for (int c = 0; c < view_.cols; ++c) {
        const int channel = along == Axis::kRows ? r : c;
        const int zero =
            zero_points.empty() ? view_.zero_point : zero_points[static_cast<size_t>(channel)];
        all.At(r, c) = static_cast<int16_t>(Quantized(r, c) - zero);
      }
    }
    return all;
  }

 private:
  ConstMatrix view_;
  size_t offset_ = 0;
  std::vector<uint8_t> bytes_;
};

// The accumulators of lhs x rhs, row by row.
inline std::vector<int64_t> Sums(const Integers& lhs, const Integers& rhs) {
  Integers by_cols = MakeIntegers(rhs.cols, rhs.rows);  // so that the sums read both in order
  for (int k = 0; k < rhs.rows; ++k) {
    for (int n = 0; n < rhs.cols; ++n) by_cols.At(n, k) = rhs.At(k, n);
  }
  std::vector<int64_t> sums;
  sums.reserve(static_cast<size_t>(lhs.rows) * static_cast<size_t>(rhs.cols));
  ReferenceGemm(
      lhs.rows, rhs.cols, lhs.cols, [&](int m, int k) { return lhs.At(m, k); },
      [&](int k, int n) { return by_cols.At(n, k); },
      [&](int, int, int32_t acc) { sums.push_back(acc); });
  return sums;
}

// A result between guards.
class TestResult {
 public:
  TestResult(Type type, int rows, int cols, Order order, int extra_stride)
      : view_{nullptr, type, rows, cols, DenseStride(rows, cols, order) + extra_stride, order} {
    const int64_t lines = order == Order::kRowMajor ? rows : cols;
    const size_t span = static_cast<size_t>(lines * view_.stride) * SizeOf(type);
    got_.assign(span + 2 * kGuard, kUnwritten);
    want_ = got_;
  }

  MutableMatrix view() {
    MutableMatrix v = view_;
    v.data = got_.data() + kGuard;
    return v;
  }
  void* want() { return want_.data() + kGuard; }
  int64_t Index(int r, int c) const {
    return view_.order == Order::kRowMajor ? r * view_.stride + c : c * view_.stride + r;
  }
  void Want(const StandardPipeline& pipeline, const std::vector<int64_t>& sums) {
    size_t i = 0;
    for (int r = 0; r < view_.rows; ++r) {
      for (int c = 0; c < view_.cols; ++c)
        FinishOracle(pipeline, sums[i++], r, c, want(), Index(r, c));
    }
  }

  // Forgets what was written, not what is wanted.
  void Reset() { got_.assign(got_.size(), kUnwritten); }

  bool Same() const { return got_ == want_; }
  std::string Difference() const {
    size_t count = 0;
    std::string first;
    for (size_t i = 0; i < got_.size(); ++i) {
      if (got_[i] == want_[i]) continue;
      if (count++ > 0) continue;
      const auto at = (static_cast<int64_t>(i) - static_cast<int64_t>(kGuard)) /
                      static_cast<int64_t>(SizeOf(view_.type));
      const int64_t stride = std::max<int64_t>(1, view_.stride);
      first = "line " + std::to_string(at / stride) + ", element " + std::to_string(at % stride) +
              " is " + Text(got_, i) + ", not " + Text(want_, i);
    }
    return std::to_string(count) + " bytes differ; the first: " + first;
  }
  // For calls that must leave dst alone.
  bool Untouched() const {
    for (const uint8_t b : got_) {
      if (b != kUnwritten) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kUnwritten = 0xa5;

  std::string Text(const std::vector<uint8_t>& bytes, size_t i) const {
    const size_t size = SizeOf(view_.type);
    const uint8_t* p = bytes.data() + i / size * size;
    if (view_.type == Type::kInt8) return std::to_string(static_cast<int8_t>(*p));
    if (view_.type == Type::kUInt8) return std::to_string(*p);
    if (view_.type == Type::kInt16) {
      int16_t x;
      std::memcpy(&x, p, 2);
      return std::to_string(x);
    }
    if (view_.type == Type::kFloat32) {
      float x;
      std::memcpy(&x, p, 4);
      return std::to_string(x);
    }
    int32_t x;
    std::memcpy(&x, p, 4);
    return std::to_string(x);
  }

  MutableMatrix view_;
  std::vector<uint8_t> got_, want_;
};

// A standard pipeline with its arrays, of exactly the length that its axis needs.
struct TestPipeline {
  StandardPipeline standard;
  std::vector<int32_t> bias, mantissa, exponent;
  std::vector<float> scale;
  std::vector<double> real;

  TestPipeline() = default;
  TestPipeline(const TestPipeline&) = delete;
  TestPipeline& operator=(const TestPipeline&) = delete;

  // `gain` is about the multiplier that spreads the accumulators over the output type.
  void Randomize(Random& random, Scaling scaling, Type output, int channels, Axis axis,
                 double gain) {
    StandardPipeline& s = standard;
    s.axis = axis;
    s.scaling = scaling;
    s.output = output;
    s.per_channel = random() % 2 == 0;
    const int count = s.per_channel ? channels : 1;
    for (int c = 0; c < count; ++c) {
      const double real_scale =
          gain * std::ldexp(1.0 + Uniform(random, 0, 999) / 1000.0, Uniform(random, -2, 1));
      int power = 0;
      const double fraction = std::frexp(real_scale, &power);
      mantissa.push_back(std::max(1 << 30, static_cast<int32_t>(fraction * 2147483647.0)));
      exponent.push_back(std::clamp(power, -31, 30));
      scale.push_back(static_cast<float>(real_scale));
      real.push_back(real_scale);
    }
    if (random() % 4 != 0) {
      const int reach = static_cast<int>(std::min(1e8, 100 / gain));
      for (int c = 0; c < channels; ++c) bias.push_back(Uniform(random, -reach, reach));
      s.bias = bias.data();
    }
    s.mantissa = mantissa.data();
    s.exponent = exponent.data();
    s.scale = scale.data();
    s.real = real.data();
    if (output == Type::kFloat32) return;
    s.zero_point =
        Uniform(random, SizeOf(output) == 1 ? -130 : -1000, SizeOf(output) == 1 ? 255 : 1000);
    if (random() % 2 == 0) {
      s.clamp_min = static_cast<int32_t>(std::max<int64_t>(Lowest(output), -100));
      s.clamp_max = s.clamp_min + Uniform(random, 0, 220);
    }
  }
};

// Whether packing for the kernel of that name makes panels that it will be the one to read.
inline bool ReadsItsPanels(const std::string& name) {
  const auto kernel = KernelNamed(name);
  const auto reader = kernel.ok() ? KernelFor((*kernel)->panel) : kernel;
  return reader.ok() && name == (*reader)->name;
}

// The kernels that this process may run. INTAGLIO_ISA hides the kernels that a lesser CPU would not
// have.
inline std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const KernelInfo& info : ListKernels()) {
    if (info.usable && ReadsItsPanels(info.name)) names.push_back(info.name);
  }
  return names;
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_GEMM_PROBLEM_H_
