// BATCH_MATMUL and TRANSPOSE_CONV of float32 against plain loops that add as the model says it
// does, bit for bit, on every kernel. (products_float_test.cc has the convolutions.)
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/ops/one_layer.h"

namespace intaglio::nn::test {
namespace {

struct Matrix {
  Shape shape;
  std::vector<float> elements;

  float At(int row, int column) const {
    return elements[static_cast<size_t>(row) * static_cast<size_t>(shape.back()) +
                    static_cast<size_t>(column)];
  }
};

Matrix MakeMatrix(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-1, 1);
  Matrix m{std::move(shape), {}};
  size_t count = 1;
  for (const int extent : m.shape) count *= static_cast<size_t>(extent);
  for (size_t i = 0; i < count; ++i) m.elements.push_back(real(random));
  return m;
}

// sum + x w.
using Adder = float (*)(float x, float w, float sum);
float AddFused(float x, float w, float sum) { return std::fma(x, w, sum); }
float AddUnfused(float x, float w, float sum) { return sum + x * w; }

// oracle(adder): what the layer gives. Returns how many kernels fuse.
template <class Oracle>
int ExpectOnAllKernels(const Operator& op, const std::vector<Given>& inputs, const Oracle& oracle) {
  const std::vector<float> fused = oracle(AddFused);
  const std::vector<float> unfused = oracle(AddUnfused);
  int fusing = 0;
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    for (const FloatSums sums : {FloatSums::kFused, FloatSums::kUnfused}) {
      const PrepareOptions options{.threads = 2, .kernel = kernel.name, .float_sums = sums};
      const Result<Graph> graph = GraphOf(op, inputs, {Type::kFloat32});
      const Result<Model> model = Model::Prepare(*graph, options);
      const bool fuses = model.ok() && model->float_sums() == FloatSums::kFused;
      fusing += fuses ? 1 : 0;
      EXPECT_FALSE(fuses && sums == FloatSums::kUnfused);
      const Got got = RunLayer(op, inputs, {Type::kFloat32}, options);
      EXPECT_EQ(got.error, "");
      EXPECT_EQ(got.As<float>(), fuses ? fused : unfused) << kernel.name;
    }
  }
  return fusing;
}

TEST(FloatSums, BatchMatMul) {
  for (const bool adjoint_a : {false, true}) {
    for (const bool adjoint_b : {false, true}) {
      for (const int rows : {1, 3, 4, 9}) {
        for (const int cols : {1, 5, 8, 16, 23, 70}) {
          constexpr int kDepth = 13;
          const Matrix a = MakeMatrix(adjoint_a ? Shape{kDepth, rows} : Shape{rows, kDepth}, 1);
          const Matrix b = MakeMatrix(adjoint_b ? Shape{cols, kDepth} : Shape{kDepth, cols}, 2);
          SCOPED_TRACE(ToString(a.shape) + " by " + ToString(b.shape));
          ExpectOnAllKernels(BatchMatMul{adjoint_a, adjoint_b},
                             {MakeGiven(a.shape, a.elements), MakeGiven(b.shape, b.elements)},
                             [&](Adder add) {
                               std::vector<float> y;
                               for (int i = 0; i < rows; ++i) {
                                 for (int j = 0; j < cols; ++j) {
                                   float sum = 0;
                                   for (int k = 0; k < kDepth; ++k) {
                                     sum = add(adjoint_a ? a.At(k, i) : a.At(i, k),
                                               adjoint_b ? b.At(j, k) : b.At(k, j), sum);
                                   }
                                   y.push_back(sum);
                                 }
                               }
                               return y;
                             });
        }
      }
    }
  }
}

struct Scattering {
  int size;
  int kernel;
  int stride;
  int channels;
  int outputs;

  int out() const { return (size - 1) * stride + kernel; }
};

// VALID padding, images of one line.
std::vector<float> Scatter(const Scattering& s, const Matrix& x, const Matrix& filter, Adder add) {
  std::vector<float> y(static_cast<size_t>(s.out() * s.outputs));
  for (int i = 0; i < s.size; ++i) {
    for (int c = 0; c < s.channels; ++c) {
      for (int tap = 0; tap < s.kernel; ++tap) {
        for (int o = 0; o < s.outputs; ++o) {
          float& sum = y[static_cast<size_t>((i * s.stride + tap) * s.outputs + o)];
          sum = add(x.At(i, c), filter.At(o * s.kernel + tap, c), sum);
        }
      }
    }
  }
  return y;
}

TEST(FloatSums, TransposeConv) {
  for (const Scattering& s : {Scattering{5, 3, 1, 4, 3}, Scattering{4, 3, 2, 5, 17},
                              Scattering{6, 2, 2, 7, 9}, Scattering{3, 4, 4, 3, 21}}) {
    const Matrix x = MakeMatrix({1, 1, s.size, s.channels}, 3);
    const Matrix filter = MakeMatrix({s.outputs, 1, s.kernel, s.channels}, 4);
    const TransposeConv op{{1, 1, s.out(), s.outputs}, {1, s.stride}, Padding::Valid(), {}};
    SCOPED_TRACE(ToString(filter.shape));
    ExpectOnAllKernels(op,
                       {MakeGiven(x.shape, x.elements),
                        AsConstant(MakeGiven(filter.shape, filter.elements)), Absent()},
                       [&](Adder add) { return Scatter(s, x, filter, add); });
  }
}

// The low bits of a square, which only the fused sum has.
TEST(FloatSums, FusedAndUnfusedDiffer) {
  const float x = 1 + 0x1p-12f;
  ASSERT_NE(AddFused(x, x, -(x * x)), 0);
  const int fusing =
      ExpectOnAllKernels(BatchMatMul{},
                         {MakeGiven({1, 2}, std::vector<float>{-1, x}),
                          MakeGiven({2, 1}, std::vector<float>{x * x, x})},
                         [&](Adder add) { return std::vector<float>{add(x, x, -(x * x))}; });
#if defined(__x86_64__)
  const std::vector<KernelInfo> kernels = ListKernels();
  int wide = 0;
  for (const KernelInfo& kernel : kernels) {
    wide += kernel.usable && (kernel.name.starts_with("av") || kernel.name.starts_with("amx"));
  }
  EXPECT_EQ(fusing, wide);
#elif defined(__aarch64__)
  EXPECT_GT(fusing, 0);
#endif
}

}  // namespace
}  // namespace intaglio::nn::test
