// Contexts, matrices, weights and products through the C interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "intaglio/test/bindings/c/handles.h"

namespace intaglio::test {
namespace {

constexpr int kRows = 3;
constexpr int kDepth = 5;
constexpr int kChannels = 4;

// A small product: uint8 activations by int8 weights, row-major.
struct Problem {
  Problem() {
    for (int i = 0; i < kRows * kDepth; ++i) left.push_back(static_cast<uint8_t>(i * 37));
    for (int i = 0; i < kDepth * kChannels; ++i) right.push_back(static_cast<int8_t>(i * 53));
    EXPECT_TRUE(IsOk(it_context_create(2, &context)));
    EXPECT_TRUE(IsOk(it_matrix_create(IT_UINT8, kRows, kDepth, &left_form)));
    EXPECT_TRUE(IsOk(it_matrix_set_zero_point(left_form, kZeroPoint)));
    EXPECT_TRUE(IsOk(it_matrix_create(IT_INT8, kDepth, kChannels, &right_form)));
    EXPECT_TRUE(IsOk(it_matrix_create(IT_INT32, kRows, kChannels, &result_form)));
    EXPECT_TRUE(IsOk(it_weights_pack(right_form, right.data(), IT_RIGHT, nullptr, &weights)));
    EXPECT_TRUE(IsOk(it_pipeline_create(&pipeline)));
  }

  int32_t Sum(int row, int channel) const {
    int32_t sum = 0;
    for (int k = 0; k < kDepth; ++k) {
      sum += (left[static_cast<size_t>(row * kDepth + k)] - kZeroPoint) *
             right[static_cast<size_t>(k * kChannels + channel)];
    }
    return sum;
  }
  std::vector<int32_t> Sums() const {
    std::vector<int32_t> sums;
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kChannels; ++c) sums.push_back(Sum(r, c));
    }
    return sums;
  }

  // The result in a type of a size, as the pipeline makes it.
  template <class T>
  std::vector<T> Run(it_type type) {
    Matrix form;
    EXPECT_TRUE(IsOk(it_matrix_create(type, kRows, kChannels, &form)));
    Product product;
    EXPECT_TRUE(IsOk(it_product_create(left_form, weights, form, pipeline, &product)));
    std::vector<T> result(kRows * kChannels);
    EXPECT_TRUE(IsOk(it_product_run(product, context, left.data(), result.data())));
    return result;
  }

  static constexpr int kZeroPoint = 7;
  std::vector<uint8_t> left;
  std::vector<int8_t> right;
  Context context;
  Matrix left_form;
  Matrix right_form;
  Matrix result_form;
  Weights weights;
  Pipeline pipeline;
};

TEST(CProduct, GivesSums) {
  Problem p;
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums());
  std::vector<int32_t> result(kRows * kChannels);
  EXPECT_TRUE(IsOk(it_multiply(p.context, p.left_form, p.left.data(), p.right_form, p.right.data(),
                               p.result_form, result.data(), p.pipeline)));
  EXPECT_EQ(result, p.Sums());
}

TEST(CProduct, LeftWeightsOrdersAndStrides) {
  Problem p;
  // Rows of the left matrix, transposed in memory with a gap, are the weights.
  constexpr int kStride = kRows + 2;
  std::vector<uint8_t> columns(kStride * kDepth);
  for (int r = 0; r < kRows; ++r) {
    for (int k = 0; k < kDepth; ++k) {
      columns[static_cast<size_t>(k * kStride + r)] = p.left[static_cast<size_t>(r * kDepth + k)];
    }
  }
  EXPECT_TRUE(IsOk(it_matrix_set_order(p.left_form, IT_COLUMN_MAJOR, kStride)));
  EXPECT_TRUE(IsOk(it_weights_pack(p.left_form, columns.data(), IT_LEFT, "", &p.weights)));
  EXPECT_EQ(it_weights_side(p.weights), IT_LEFT);
  Product product;
  EXPECT_TRUE(
      IsOk(it_product_create(p.right_form, p.weights, p.result_form, p.pipeline, &product)));
  std::vector<int32_t> result(kRows * kChannels);
  EXPECT_TRUE(IsOk(it_product_run(product, p.context, p.right.data(), result.data())));
  EXPECT_EQ(result, p.Sums());
}

TEST(CProduct, ZeroPointsOfChannels) {
  Problem p;
  const int32_t zero_points[] = {1, -128, 127, 0};
  EXPECT_TRUE(IsOk(it_matrix_set_channel_zero_points(p.right_form, zero_points, 4)));
  EXPECT_TRUE(IsOk(it_weights_pack(p.right_form, p.right.data(), IT_RIGHT, nullptr, &p.weights)));
  std::vector<int32_t> sums = p.Sums();
  for (int r = 0; r < kRows; ++r) {
    int32_t row = 0;
    for (int k = 0; k < kDepth; ++k) {
      row += p.left[static_cast<size_t>(r * kDepth + k)] - Problem::kZeroPoint;
    }
    for (int c = 0; c < kChannels; ++c) {
      sums[static_cast<size_t>(r * kChannels + c)] -= row * zero_points[c];
    }
  }
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), sums);
  EXPECT_TRUE(IsInvalid(it_multiply(p.context, p.left_form, p.left.data(), p.right_form,
                                    p.right.data(), p.result_form, sums.data(), p.pipeline),
                        "zero points per channel"));
  EXPECT_TRUE(IsOk(it_matrix_set_channel_zero_points(p.right_form, nullptr, 0)));
}

// No result here is near a tie, so that all roundings agree.
TEST(CProduct, BiasScaleZeroPointClampAndTypes) {
  for (const it_rounding rounding :
       {IT_DOUBLE_ROUNDING, IT_SINGLE_ROUNDING, IT_FLOAT_HALF_EVEN, IT_REAL64}) {
    Problem p;
    std::vector<int32_t> bias;
    for (int c = 0; c < kChannels; ++c) bias.push_back(1000 * c + 1);
    const std::vector<double> scales = {0.2971, 0.003013, 0.01007, 0.0703};
    EXPECT_TRUE(IsOk(it_pipeline_set_bias(p.pipeline, bias.data(), bias.size())));
    EXPECT_TRUE(IsOk(it_pipeline_set_scales(p.pipeline, rounding, scales.data(), scales.size())));
    EXPECT_TRUE(IsOk(it_pipeline_set_zero_point(p.pipeline, -3)));
    EXPECT_TRUE(IsOk(it_pipeline_set_clamp(p.pipeline, -100, 90)));
    std::vector<int> expected;
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kChannels; ++c) {
        const auto i = static_cast<size_t>(c);
        const double real = (p.Sum(r, c) + bias[i]) * scales[i];
        expected.push_back(std::clamp(static_cast<int>(std::lround(real)) - 3, -100, 90));
      }
    }
    const auto ints = [](const auto& values) {
      return std::vector<int>(values.begin(), values.end());
    };
    EXPECT_EQ(ints(p.Run<int8_t>(IT_INT8)), expected) << rounding;
    EXPECT_EQ(ints(p.Run<int16_t>(IT_INT16)), expected) << rounding;
    EXPECT_EQ(ints(p.Run<int32_t>(IT_INT32)), expected) << rounding;
    for (int& value : expected) value = std::max(value, 0);
    EXPECT_EQ(ints(p.Run<uint8_t>(IT_UINT8)), expected) << rounding;
  }
}

TEST(CProduct, FixedPointPerRow) {
  Problem p;
  const int32_t mantissas[] = {1 << 30, 1 << 30, 1 << 30};
  const int32_t exponents[] = {1, 2, 3};  // times 1, 2, 4
  EXPECT_TRUE(IsOk(it_pipeline_set_axis(p.pipeline, IT_PER_ROW)));
  EXPECT_TRUE(
      IsOk(it_pipeline_set_fixed_point(p.pipeline, IT_DOUBLE_ROUNDING, mantissas, exponents, 3)));
  std::vector<int32_t> expected = p.Sums();
  for (int i = 0; i < kRows * kChannels; ++i) {
    expected[static_cast<size_t>(i)] *= 1 << (i / kChannels);
  }
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), expected);
}

TEST(CProduct, FloatOutput) {
  Problem p;
  const float scale = 0.25f;
  EXPECT_TRUE(IsOk(it_pipeline_set_float_output(p.pipeline, &scale, 1)));
  const std::vector<float> result = p.Run<float>(IT_FLOAT32);
  for (size_t i = 0; i < result.size(); ++i) {
    EXPECT_EQ(result[i], static_cast<float>(p.Sums()[i]) * scale);
  }
}

TEST(CProduct, RunsAsAnotherNumberOfRows) {
  for (const bool by_row : {false, true}) {
    Problem p;
    const std::vector<int32_t> bias(by_row ? kRows : kChannels, 5);
    EXPECT_TRUE(IsOk(it_pipeline_set_axis(p.pipeline, by_row ? IT_PER_ROW : IT_PER_COLUMN)));
    EXPECT_TRUE(IsOk(it_pipeline_set_bias(p.pipeline, bias.data(), bias.size())));
    Product product;
    EXPECT_TRUE(
        IsOk(it_product_create(p.left_form, p.weights, p.result_form, p.pipeline, &product)));
    EXPECT_TRUE(IsOk(it_matrix_set_shape(p.left_form, 2, kDepth)));
    EXPECT_TRUE(IsOk(it_matrix_set_shape(p.result_form, 2, kChannels)));
    std::vector<int32_t> result(2 * kChannels);
    const Answer answer = it_product_run_as(product, p.context, p.left_form, p.left.data(),
                                            p.result_form, result.data());
    if (by_row) {
      EXPECT_TRUE(IsInvalid(answer, "3 biases for 2 channels"));
      continue;
    }
    EXPECT_TRUE(IsOk(answer));
    for (size_t i = 0; i < result.size(); ++i) EXPECT_EQ(result[i], p.Sums()[i] + 5);
    EXPECT_TRUE(IsOk(it_matrix_set_zero_point(p.left_form, 8)));
    EXPECT_TRUE(IsInvalid(it_product_run_as(product, p.context, p.left_form, p.left.data(),
                                            p.result_form, result.data()),
                          "other types or zero points"));
  }
}

TEST(CProduct, OutlivesWhatItWasMadeOf) {
  Problem p;
  Product product;
  EXPECT_TRUE(IsOk(it_product_create(p.left_form, p.weights, p.result_form, p.pipeline, &product)));
  const std::vector<int32_t> sums = p.Sums();
  EXPECT_TRUE(IsOk(it_weights_pack(p.right_form, p.right.data(), IT_RIGHT, "", &p.weights)));
  const int32_t bias[kChannels] = {9, 9, 9, 9};
  EXPECT_TRUE(IsOk(it_pipeline_set_bias(p.pipeline, bias, kChannels)));
  std::vector<std::thread> threads;
  std::vector<std::vector<int32_t>> results(4, std::vector<int32_t>(kRows * kChannels));
  for (std::vector<int32_t>& result : results) {
    threads.emplace_back([&] {
      Context context;
      EXPECT_TRUE(IsOk(it_context_create(1, &context)));
      EXPECT_TRUE(IsOk(it_product_run(product, context, p.left.data(), result.data())));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<int32_t>& result : results) EXPECT_EQ(result, sums);
}

// Runs the parts in reverse, and counts them.
void Reverse(void* pool, int n, void (*task)(void*, int), void* arg) {
  for (int i = n - 1; i >= 0; --i) task(arg, i);
  *static_cast<int*>(pool) += n;
}

TEST(CContext, RunsInTheCallersPool) {
  constexpr int kLarge = 300;
  int parts = 0;
  Problem p;
  Context context;
  EXPECT_TRUE(IsOk(it_context_create_in_pool(4, Reverse, &parts, &context)));
  EXPECT_EQ(it_context_threads(context), 4);
  Matrix left, right, result;
  EXPECT_TRUE(IsOk(it_matrix_create(IT_INT8, kLarge, kLarge, &left)));
  EXPECT_TRUE(IsOk(it_matrix_create(IT_INT8, kLarge, kLarge, &right)));
  EXPECT_TRUE(IsOk(it_matrix_create(IT_INT32, kLarge, kLarge, &result)));
  const std::vector<int8_t> ones(kLarge * kLarge, 1);
  std::vector<int32_t> sums(kLarge * kLarge);
  EXPECT_TRUE(IsOk(it_multiply(context, left, ones.data(), right, ones.data(), result, sums.data(),
                               p.pipeline)));
  EXPECT_EQ(sums, std::vector<int32_t>(kLarge * kLarge, kLarge));
  EXPECT_GT(parts, 1);
  EXPECT_GT(it_context_scratch_bytes(context), 0u);
}

TEST(CKernels, AreListedAndChosen) {
  Kernels kernels;
  EXPECT_TRUE(IsOk(it_kernels_create(&kernels)));
  const size_t count = it_kernels_count(kernels);
  ASSERT_GT(count, 0u);
  Problem p;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = it_kernels_name(kernels, i);
    const Answer answer =
        it_weights_pack(p.right_form, p.right.data(), IT_RIGHT, name.c_str(), &p.weights);
    if (answer.code == IT_UNSUPPORTED) {
      EXPECT_NE(it_kernels_why_not(kernels, i), std::string());
      continue;
    }
    EXPECT_TRUE(IsOk(answer));
    EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums()) << name;
  }
  EXPECT_EQ(it_kernels_name(kernels, count), nullptr);
  EXPECT_EQ(it_kernels_why_not(kernels, count), nullptr);
  EXPECT_TRUE(IsInvalid(it_weights_pack(p.right_form, p.right.data(), IT_RIGHT, "none", &p.weights),
                        "kernel none is none of"));
  EXPECT_EQ(p.weights, nullptr);
}

TEST(CDescription, SaysWhatRunsAndWhyNothingFaster) {
  Problem p;
  Kernels kernels;
  EXPECT_TRUE(IsOk(it_kernels_create(&kernels)));
  const char* const slowest = it_kernels_name(kernels, it_kernels_count(kernels) - 1);
  EXPECT_TRUE(IsOk(it_weights_pack(p.right_form, p.right.data(), IT_RIGHT, slowest, &p.weights)));
  Product product;
  EXPECT_TRUE(IsOk(it_product_create(p.left_form, p.weights, p.result_form, p.pipeline, &product)));
  Description description;
  EXPECT_TRUE(IsOk(it_product_describe(product, p.context, &description)));
  EXPECT_EQ(it_description_kernel(description), std::string(slowest));
  EXPECT_EQ(it_weights_kernel(p.weights), std::string(slowest));
  const size_t skipped = it_description_skipped_count(description);
  EXPECT_EQ(skipped, it_kernels_count(kernels) - 1);
  EXPECT_EQ(it_description_skipped(description, skipped), nullptr);
  if (skipped > 0) {
    EXPECT_NE(std::string(it_description_skipped(description, 0)).find(": "), std::string::npos);
  }
  EXPECT_NE(std::string(it_description_text(description)).find("3 rows x 4 channels x K 5"),
            std::string::npos);
}

TEST(CProduct, RefusesWhatDoesNotFit) {
  Problem p;
  Product product;
  Matrix form;
  const auto create = [&](const it_matrix* operand, const it_matrix* result) {
    return Answer(it_product_create(operand, p.weights, result, p.pipeline, &product));
  };
  EXPECT_TRUE(IsOk(it_matrix_create(IT_INT16, kRows, kDepth, &form)));
  EXPECT_TRUE(IsInvalid(create(form, p.result_form), "int16; it must be int8 or uint8"));
  EXPECT_TRUE(IsOk(it_matrix_create(IT_INT8, kRows, kDepth + 1, &form)));
  EXPECT_TRUE(IsInvalid(create(form, p.result_form), "6"));
  EXPECT_TRUE(IsOk(it_matrix_create(IT_INT32, kRows, kChannels + 1, &form)));
  EXPECT_TRUE(IsInvalid(create(p.left_form, form), "5 channels, the weights have 4"));
  EXPECT_TRUE(IsOk(it_matrix_create(IT_FLOAT32, kRows, kChannels, &form)));
  EXPECT_TRUE(IsInvalid(create(p.left_form, form), "float32"));
  EXPECT_TRUE(IsOk(it_matrix_set_zero_point(p.left_form, 256)));
  EXPECT_TRUE(IsInvalid(create(p.left_form, p.result_form), "256"));
  EXPECT_TRUE(IsOk(it_matrix_set_zero_point(p.left_form, 0)));
  const double scales[] = {.5, .5, .5};
  EXPECT_TRUE(IsOk(it_pipeline_set_scales(p.pipeline, IT_REAL64, scales, 3)));
  EXPECT_TRUE(IsInvalid(create(p.left_form, p.result_form), "3 scales for 4 channels"));
  EXPECT_TRUE(IsOk(it_pipeline_set_scales(p.pipeline, IT_REAL64, scales, 1)));
  const int32_t bias[] = {1, 2};
  EXPECT_TRUE(IsOk(it_pipeline_set_bias(p.pipeline, bias, 2)));
  EXPECT_TRUE(IsInvalid(create(p.left_form, p.result_form), "2 biases for 4 channels"));
  EXPECT_EQ(product, nullptr);
}

TEST(CProduct, RefusesBadCalls) {
  Problem p;
  Product product;
  EXPECT_TRUE(IsOk(it_product_create(p.left_form, p.weights, p.result_form, p.pipeline, &product)));
  std::vector<int32_t> result(kRows * kChannels);
  EXPECT_TRUE(IsInvalid(it_product_run(product, p.context, nullptr, result.data()), "null"));
  EXPECT_TRUE(IsInvalid(it_product_run(product, p.context, p.left.data(), nullptr), "null"));
  EXPECT_TRUE(
      IsInvalid(it_product_run(product, p.context, result.data(), result.data()), "overlaps"));
  EXPECT_TRUE(IsInvalid(it_product_run(nullptr, p.context, p.left.data(), result.data()),
                        "product is null"));
  EXPECT_TRUE(
      IsInvalid(it_product_run(product, nullptr, p.left.data(), result.data()), "context is null"));
}

TEST(CPipeline, RefusesBadSettings) {
  Pipeline pipeline;
  EXPECT_TRUE(IsOk(it_pipeline_create(&pipeline)));
  const double good = .5;
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(Answer(it_pipeline_set_scales(pipeline, IT_DOUBLE_ROUNDING, &bad, 1)).code,
              IT_INVALID_ARGUMENT);
  }
  EXPECT_TRUE(IsInvalid(it_pipeline_set_scales(pipeline, 4, &good, 1), "no rounding 4"));
  EXPECT_TRUE(IsInvalid(it_pipeline_set_scales(pipeline, -1, &good, 1), "no rounding -1"));
  EXPECT_TRUE(IsInvalid(it_pipeline_set_scales(pipeline, IT_REAL64, &good, 0), "0 scales"));
  EXPECT_TRUE(IsInvalid(it_pipeline_set_scales(pipeline, IT_REAL64, nullptr, 1), "null"));
  const int32_t one = 1 << 30;
  EXPECT_TRUE(IsInvalid(it_pipeline_set_fixed_point(pipeline, IT_REAL64, &one, &one, 1), "real"));
  EXPECT_TRUE(IsInvalid(it_pipeline_set_fixed_point(pipeline, IT_DOUBLE_ROUNDING, &one, nullptr, 1),
                        "exponents is null"));
  EXPECT_TRUE(IsInvalid(it_pipeline_set_float_output(pipeline, nullptr, 1), "null"));
  EXPECT_TRUE(IsInvalid(it_pipeline_set_axis(pipeline, 2), "no axis 2"));
  EXPECT_TRUE(IsInvalid(it_pipeline_set_bias(pipeline, nullptr, 1), "bias is null"));
  // A multiplier that no rounding takes is found with the product.
  Problem p;
  const int32_t small = 5, exponent = 0;
  EXPECT_TRUE(
      IsOk(it_pipeline_set_fixed_point(p.pipeline, IT_SINGLE_ROUNDING, &small, &exponent, 1)));
  Product product;
  EXPECT_EQ(
      Answer(it_product_create(p.left_form, p.weights, p.result_form, p.pipeline, &product)).code,
      IT_INVALID_ARGUMENT);
}

TEST(CMatrix, RefusesBadForms) {
  Matrix matrix;
  EXPECT_TRUE(IsInvalid(it_matrix_create(8, 1, 1, &matrix), "no type 8"));
  EXPECT_TRUE(IsInvalid(it_matrix_create(-1, 1, 1, &matrix), "no type -1"));
  EXPECT_TRUE(IsInvalid(it_matrix_create(IT_INT8, -1, 1, &matrix), "-1 x 1"));
  EXPECT_TRUE(IsInvalid(it_matrix_create(IT_INT8, 1, 1, nullptr), "out is null"));
  EXPECT_TRUE(IsOk(it_matrix_create(IT_INT8, 2, 3, &matrix)));
  EXPECT_TRUE(IsInvalid(it_matrix_set_shape(matrix, 1, -2), "1 x -2"));
  EXPECT_TRUE(IsInvalid(it_matrix_set_order(matrix, 2, 0), "no order 2"));
  EXPECT_TRUE(IsInvalid(it_matrix_set_order(matrix, IT_ROW_MAJOR, -1), "stride -1"));
  EXPECT_TRUE(IsInvalid(it_matrix_set_order(matrix, IT_ROW_MAJOR, 2), "less than 3"));
  EXPECT_TRUE(IsInvalid(it_matrix_set_channel_zero_points(matrix, nullptr, 1), "null"));
  const int32_t zero_point = 0;
  EXPECT_TRUE(Fails(it_matrix_set_channel_zero_points(matrix, &zero_point, SIZE_MAX),
                    IT_OUT_OF_MEMORY, "address space"));
  EXPECT_EQ(it_type_bytes(IT_FLOAT32), 4u);
  EXPECT_EQ(it_type_name(IT_UINT8), std::string("uint8"));
  EXPECT_EQ(it_type_name(IT_UINT16), std::string("uint16"));
  EXPECT_EQ(it_type_bytes(IT_UINT16), 2u);
  EXPECT_EQ(it_type_bytes(IT_UINT16 + 1), 0u);
  EXPECT_EQ(it_type_name(-1), std::string("?"));
}

TEST(CContext, RefusesBadThreads) {
  Context context;
  EXPECT_TRUE(IsInvalid(it_context_create(0, &context), "0 threads"));
  EXPECT_TRUE(IsInvalid(it_context_create(1025, &context), "1025 threads"));
  EXPECT_TRUE(IsInvalid(it_context_create_in_pool(2, nullptr, nullptr, &context), "parallel_for"));
  EXPECT_TRUE(IsInvalid(it_context_create_in_pool(0, Reverse, nullptr, &context), "0 threads"));
  EXPECT_EQ(context, nullptr);
}

// A folder that is gone after the test.
struct Folder {
  Folder() {
    std::string name = testing::TempDir() + "intaglio_c_XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

TEST(CWeights, AreSavedLoadedAndShared) {
  Problem p;
  EXPECT_EQ(it_weights_rows(p.weights), kDepth);
  EXPECT_EQ(it_weights_cols(p.weights), kChannels);
  EXPECT_GT(it_weights_bytes(p.weights), 0u);
  std::vector<uint8_t> bytes(it_weights_saved_bytes(p.weights));
  EXPECT_TRUE(IsOk(it_weights_save(p.weights, bytes.data(), bytes.size())));
  EXPECT_TRUE(IsInvalid(it_weights_save(p.weights, bytes.data(), bytes.size() - 1), "bytes"));
  EXPECT_TRUE(IsOk(it_weights_load(bytes.data(), bytes.size(), &p.weights)));
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums());
  Weights shared;
  EXPECT_TRUE(IsOk(it_weights_share(p.weights, &shared)));
  EXPECT_TRUE(IsOk(it_weights_share(shared, &p.weights)));
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums());

  const Folder folder;
  const std::string path = folder.path + "/weights";
  EXPECT_TRUE(IsOk(it_weights_save_file(p.weights, path.c_str())));
  EXPECT_TRUE(IsOk(it_weights_load_file(path.c_str(), &p.weights)));
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums());
  std::filesystem::resize_file(path, bytes.size() - 1);
  EXPECT_TRUE(IsInvalid(it_weights_load_file(path.c_str(), &shared), path));
  EXPECT_TRUE(Fails(it_weights_load_file((path + "2").c_str(), &shared), IT_IO_ERROR, path));
  EXPECT_TRUE(Fails(it_weights_save_file(p.weights, (path + "2/w").c_str()), IT_IO_ERROR, path));
}

TEST(CWeights, LoadedInPlaceReleaseTheBytes) {
  Problem p;
  const size_t size = it_weights_saved_bytes(p.weights);
  std::vector<uint8_t> memory(size + 64);
  void* first = memory.data();
  size_t space = memory.size();
  auto* const bytes = static_cast<uint8_t*>(std::align(64, size, first, space));
  EXPECT_TRUE(IsOk(it_weights_save(p.weights, bytes, size)));
  int released = 0;
  const auto release = [](void* arg) { ++*static_cast<int*>(arg); };
  EXPECT_TRUE(IsOk(it_weights_load_in_place(bytes, size, release, &released, &p.weights)));
  EXPECT_EQ(released, 0);
  {
    Product product;
    EXPECT_TRUE(
        IsOk(it_product_create(p.left_form, p.weights, p.result_form, p.pipeline, &product)));
    (void)&p.weights;  // ends the handle; the product still needs the bytes
    EXPECT_EQ(released, 0);
    std::vector<int32_t> result(kRows * kChannels);
    EXPECT_TRUE(IsOk(it_product_run(product, p.context, p.left.data(), result.data())));
    EXPECT_EQ(result, p.Sums());
  }
  EXPECT_EQ(released, 1);
  bytes[size - 1] ^= 1;
  EXPECT_TRUE(
      IsInvalid(it_weights_load_in_place(bytes, size, release, &released, &p.weights), "checksum"));
  EXPECT_EQ(released, 2);
  EXPECT_TRUE(
      IsInvalid(it_weights_load_in_place(nullptr, size, release, &released, &p.weights), "null"));
  EXPECT_EQ(released, 3);
  EXPECT_TRUE(IsInvalid(it_weights_load_in_place(bytes, size, release, &released, nullptr), "out"));
  EXPECT_EQ(released, 4);
  bytes[size - 1] ^= 1;
  EXPECT_TRUE(IsOk(it_weights_load_in_place(bytes, size, nullptr, nullptr, &p.weights)));
}

TEST(CWeights, AreFoundInAFolder) {
  Problem p;
  const Folder folder;
  const char* const path = folder.path.c_str();
  const auto pack = [&](int32_t& found) {
    return Answer(it_weights_pack_cached(p.right_form, p.right.data(), IT_RIGHT, nullptr, path,
                                         &p.weights, &found));
  };
  const auto files = [&] {
    std::vector<std::filesystem::path> all;
    for (const auto& file : std::filesystem::directory_iterator(path)) all.push_back(file.path());
    return all;
  };
  int32_t found = -1;
  EXPECT_TRUE(IsOk(pack(found)));
  EXPECT_EQ(found, 0);
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums());
  EXPECT_TRUE(IsOk(pack(found)));
  EXPECT_EQ(found, 1);
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums());
  EXPECT_EQ(files().size(), 1u);
  // A damaged file is written anew, and other numbers have a file of their own.
  std::filesystem::resize_file(files()[0], 100);
  EXPECT_TRUE(IsOk(pack(found)));
  EXPECT_EQ(found, 0);
  EXPECT_TRUE(IsOk(pack(found)));
  EXPECT_EQ(found, 1);
  p.right[3] ^= 1;
  EXPECT_TRUE(IsOk(pack(found)));
  EXPECT_EQ(found, 0);
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums());
  EXPECT_EQ(files().size(), 2u);
  EXPECT_TRUE(IsOk(it_weights_pack_cached(p.right_form, p.right.data(), IT_RIGHT, nullptr,
                                          "/no/such/folder", &p.weights, nullptr)));
  EXPECT_EQ(p.Run<int32_t>(IT_INT32), p.Sums());
  EXPECT_TRUE(IsInvalid(it_weights_pack_cached(p.right_form, p.right.data(), IT_RIGHT, "../x", path,
                                               &p.weights, nullptr),
                        "no kernel ../x"));
  EXPECT_TRUE(IsInvalid(
      it_weights_pack_cached(p.right_form, p.right.data(), 2, nullptr, path, &p.weights, nullptr),
      "no side 2"));
  EXPECT_TRUE(IsInvalid(
      it_weights_pack_cached(p.right_form, nullptr, IT_RIGHT, nullptr, path, &p.weights, nullptr),
      "null"));
}

TEST(CWeights, RefuseBadMatrices) {
  Problem p;
  EXPECT_TRUE(
      IsInvalid(it_weights_pack(p.right_form, nullptr, IT_RIGHT, nullptr, &p.weights), "null"));
  EXPECT_TRUE(IsInvalid(it_weights_pack(p.right_form, p.right.data(), 2, nullptr, &p.weights),
                        "no side 2"));
  EXPECT_TRUE(Fails(it_weights_pack(p.result_form, p.right.data(), IT_RIGHT, nullptr, &p.weights),
                    IT_UNSUPPORTED, "int32"));
  const int32_t zero_points[] = {0, 0};
  EXPECT_TRUE(IsOk(it_matrix_set_channel_zero_points(p.right_form, zero_points, 2)));
  EXPECT_TRUE(
      IsInvalid(it_weights_pack(p.right_form, p.right.data(), IT_RIGHT, nullptr, &p.weights), "2"));
  const uint8_t garbage[200] = {};
  EXPECT_TRUE(IsInvalid(it_weights_load(garbage, 200, &p.weights), "these bytes are none"));
  EXPECT_TRUE(IsInvalid(it_weights_load(garbage, 5, &p.weights), "5 bytes"));
  // What a program gets that takes the -1 of ftell for a size.
  EXPECT_TRUE(IsInvalid(it_weights_load(garbage, SIZE_MAX, &p.weights), "18446744073709551615"));
}

TEST(CMultiply, RefusesNullsAndAResultThatOverlaps) {
  Problem p;
  std::vector<int32_t> sums(kRows * kChannels);
  const auto call = [&](const it_matrix* left, const it_matrix* right, const it_matrix* result,
                        void* data, const it_pipeline* pipeline) {
    return Answer(
        it_multiply(p.context, left, p.left.data(), right, p.right.data(), result, data, pipeline));
  };
  void* const data = sums.data();
  EXPECT_TRUE(IsInvalid(call(nullptr, p.right_form, p.result_form, data, p.pipeline), "left"));
  EXPECT_TRUE(IsInvalid(call(p.left_form, nullptr, p.result_form, data, p.pipeline), "right"));
  EXPECT_TRUE(IsInvalid(call(p.left_form, p.right_form, nullptr, data, p.pipeline), "result"));
  EXPECT_TRUE(IsInvalid(call(p.left_form, p.right_form, p.result_form, data, nullptr), "pipeline"));
  EXPECT_TRUE(IsInvalid(call(p.left_form, p.right_form, p.result_form, nullptr, p.pipeline), ""));
  EXPECT_TRUE(IsInvalid(call(p.left_form, p.right_form, p.result_form, p.right.data(), p.pipeline),
                        "overlaps"));
}

}  // namespace
}  // namespace intaglio::test
