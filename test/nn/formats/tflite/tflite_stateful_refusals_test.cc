// Crafted files against operators with states, products of activations and long products; the class
// of vulnerability stands above each group, as in tflite_refusals_test.cc.
#include <limits>
#include <vector>

#include "intaglio/test/nn/formats/tflite/refusals.h"

namespace intaglio::nn::test {
namespace {

using tflite::TensorType;
using Case = RefusalCase;

class StatefulRefusals : public testing::TestWithParam<Case> {};

TEST_P(StatefulRefusals, SayWhatIsWrong) { ExpectRefusal(GetParam()); }

TEST(SmallStateful, IsRight) { EXPECT_EQ(Exercise(Build(SmallStateful())), ""); }

// Tensors: 0 x, 1 feature, 2 time, 3 bias, 4 state, 5 filtered, 6 axes, 7 y, 8 a, 9 b, 10 product.
// Operators: 0 SVDF, 1 REDUCE_PROD, 2 BATCH_MATMUL.
ModelSpec Small() { return SmallStateful(); }

void Axes(ModelSpec& m, const std::vector<int32_t>& axes) {
  m.tensors[6].data = Bytes(axes);
  m.tensors[6].shape = {static_cast<int>(axes.size())};
}

// States that are none. CVE-2021-37681, CVE-2020-15209, -15210.
INSTANTIATE_TEST_SUITE_P(
    States, StatefulRefusals,
    testing::Values(
        Case{"no state", Small, [](ModelSpec& m) { m.operators[0].inputs[4] = -1; }, "SVDF #0"},
        Case{"state not given", Small, [](ModelSpec& m) { m.operators[0].inputs.pop_back(); },
             "input 4 is absent"},
        Case{"state beyond the tensors", Small, [](ModelSpec& m) { m.operators[0].inputs[4] = 11; },
             "operator #0 SVDF"},
        Case{"state not variable", Small, [](ModelSpec& m) { m.tensors[4].variable = false; },
             "state"},
        Case{"state constant", Small,
             [](ModelSpec& m) {
               m.tensors[4].variable = false;
               m.tensors[4].data.resize(12);
             },
             "SVDF #0"},
        Case{"state is the input", Small, [](ModelSpec& m) { m.operators[0].inputs[4] = 0; },
             "SVDF #0"},
        Case{"state is the output", Small, [](ModelSpec& m) { m.operators[0].outputs[0] = 4; },
             "tensor #4 is both input and output"},
        Case{"state too short", Small,
             [](ModelSpec& m) {
               m.tensors[4].shape = {1, 11};
             },
             "SVDF #0"},
        Case{"state without elements", Small,
             [](ModelSpec& m) {
               m.tensors[4].shape = {1, 0};
             },
             "SVDF #0"},
        Case{"state of int32", Small, [](ModelSpec& m) { m.tensors[4].type = TensorType::INT32; },
             "SVDF #0"},
        Case{"state of int16, weights of int8", Small,
             [](ModelSpec& m) {
               m.tensors[4].type = TensorType::INT16;
               m.tensors[4].zero_points = {0};
             },
             "SVDF #0"}));

// Quantization that is missing or of no use. CVE-2021-37682.
INSTANTIATE_TEST_SUITE_P(
    Quantization, StatefulRefusals,
    testing::Values(
        Case{"state", Small, [](ModelSpec& m) { m.tensors[4].scales.clear(); }, "SVDF #0"},
        Case{"weights over time", Small, [](ModelSpec& m) { m.tensors[2].scales.clear(); },
             "SVDF #0"},
        Case{"weights' zero point", Small, [](ModelSpec& m) { m.tensors[1].zero_points = {1}; },
             "SVDF #0"},
        Case{"factors", Small, [](ModelSpec& m) { m.tensors[5].scales.clear(); }, "SVDF #0"},
        Case{"product", Small, [](ModelSpec& m) { m.tensors[7].scales.clear(); }, "REDUCE_PROD #1"},
        Case{"matrix", Small, [](ModelSpec& m) { m.tensors[8].scales.clear(); }, "BATCH_MATMUL #2"},
        Case{"matrix's zero point", Small, [](ModelSpec& m) { m.tensors[8].zero_points = {1}; },
             "BATCH_MATMUL #2"}));

// Dimensions that do not belong together, and divisors. CVE-2020-15208, -15207, CVE-2021-37685,
// CVE-2021-29594 and the like.
INSTANTIATE_TEST_SUITE_P(
    Dimensions, StatefulRefusals,
    testing::Values(
        Case{"rank 0", Small, [](ModelSpec& m) { m.operators[0].options = SvdfOptions(0); },
             "SVDF #0"},
        Case{"rank negative", Small, [](ModelSpec& m) { m.operators[0].options = SvdfOptions(-2); },
             "SVDF #0"},
        Case{"rank no divisor", Small,
             [](ModelSpec& m) { m.operators[0].options = SvdfOptions(3); }, "SVDF #0"},
        Case{"feature weights", Small,
             [](ModelSpec& m) {
               m.tensors[1].shape = {2, 8};
             },
             "SVDF #0"},
        Case{"weights over time", Small,
             [](ModelSpec& m) {
               m.tensors[2].shape = {3, 4};
             },
             "SVDF #0"},
        Case{"no memory", Small,
             [](ModelSpec& m) {
               m.tensors[2].shape = {4, 0};
               m.tensors[2].data.clear();
             },
             "SVDF #0"},
        Case{"bias length", Small,
             [](ModelSpec& m) {
               m.tensors[3].shape = {1};
               m.tensors[3].data.resize(4);
             },
             "SVDF #0"},
        Case{"axis", Small, [](ModelSpec& m) { Axes(m, {2}); }, "REDUCE_PROD"},
        Case{"axis negative", Small, [](ModelSpec& m) { Axes(m, {-3}); }, "REDUCE_PROD"},
        Case{"axis least", Small,
             [](ModelSpec& m) { Axes(m, {std::numeric_limits<int32_t>::min()}); }, "REDUCE_PROD"},
        Case{"depths", Small,
             [](ModelSpec& m) {
               m.tensors[9].shape = {1, 3, 4};
             },
             "BATCH_MATMUL #2"},
        Case{"depth 0", Small,
             [](ModelSpec& m) {
               m.tensors[8].shape = {2, 1, 0};
               m.tensors[9].shape = {1, 0, 3};
             },
             "BATCH_MATMUL #2"},
        Case{"vector", Small, [](ModelSpec& m) { m.tensors[9].shape = {4}; }, "BATCH_MATMUL #2"},
        Case{"batches", Small,
             [](ModelSpec& m) {
               m.tensors[9].shape = {3, 4, 3};
             },
             "BATCH_MATMUL #2"},
        Case{"transposed", Small,
             [](ModelSpec& m) { m.operators[2].options = BatchMatMulOptions(true, false); },
             "BATCH_MATMUL #2"}));

// Sizes that overflow, and more than there is. CVE-2021-29601, -29605, CVE-2022-23559.
INSTANTIATE_TEST_SUITE_P(Sizes, StatefulRefusals,
                         testing::Values(Case{"batch of SVDF", Small,
                                              [](ModelSpec& m) {
                                                m.tensors[0].shape = {1 << 30, 4};
                                              },
                                              "SVDF #0"},
                                         Case{"batches of products", Small,
                                              [](ModelSpec& m) {
                                                m.tensors[8].shape = {1 << 20, 1 << 10, 1, 4};
                                                m.tensors[9].shape = {1 << 20, 1, 4, 1 << 20};
                                              },
                                              "bytes"},
                                         Case{"depth beyond the sums", Small,
                                              [](ModelSpec& m) {
                                                m.tensors[8].shape = {1, 1, 1 << 17};
                                                m.tensors[9].shape = {1, 1 << 17, 1};
                                              },
                                              "BATCH_MATMUL #2"}));

}  // namespace
}  // namespace intaglio::nn::test
