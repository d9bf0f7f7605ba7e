// One crafted file for each way in which importers of this format have been attacked: the class of
// vulnerability stands above each group. All are refused, in one line that names the thing.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "intaglio/test/nn/formats/tflite/refusals.h"

namespace intaglio::nn::test {
namespace {

using Code = tflite::BuiltinOperator;
using tflite::TensorType;

using Case = RefusalCase;

class TfliteRefusals : public testing::TestWithParam<Case> {};

TEST_P(TfliteRefusals, SayWhatIsWrong) { ExpectRefusal(GetParam()); }

// Tensors of SmallNetwork: 0 x, 1 conv filter, 2 conv bias, 3 conv, 4 depthwise filter, 5 its bias,
// 6 dw, 7 pooled, 8 sum, 9 mean, 10 new shape, 11 flat, 12 fc weights, 13 fc bias, 14 logits, 15
// scores. Operators: 0 conv, 1 depthwise, 2 max pool, 3 add, 4 average pool, 5 reshape, 6 fully
// connected, 7 softmax. Of SmallElementwise: 0 x, 1 q, 2 paddings, 3 padded, 4 logistic, 5 joined,
// 6 axes, 7 mean, 8 relu, 9 tanh, 10 y. Operators: 0 quantize, 1 pad, 2 logistic, 3 concatenation,
// 4 mean, 5 relu, 6 tanh, 7 dequantize.

Window Strides(int height, int width) {
  Window window;
  window.stride_height = height;
  window.stride_width = width;
  return window;
}
Window Dilations(int height, int width) {
  Window window;
  window.dilation_height = height;
  window.dilation_width = width;
  return window;
}
Window Filters(int height, int width) {
  Window window;
  window.filter_height = height;
  window.filter_width = width;
  return window;
}

void Axes(ModelSpec& m, const std::vector<int32_t>& axes) {
  m.tensors[6].data = Bytes(axes);
  m.tensors[6].shape = {static_cast<int>(axes.size())};
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kHuge = 1 << 30;

// Operators that are not ours.
INSTANTIATE_TEST_SUITE_P(
    Operators, TfliteRefusals,
    testing::Values(
        Case{"unsupported", SmallNetwork,
             [](ModelSpec& m) {
               m.operators[2].code = Code::RFFT2D;
               m.operators[2].version = 3;
             },
             "bytes: operator #2 RFFT2D v3: not supported"},
        Case{"unsupported, code over 127", SmallNetwork,
             [](ModelSpec& m) { m.operators[1].code = Code::STABLEHLO_ADD; },
             "operator #1 STABLEHLO_ADD v3: not supported"},
        Case{"newer version", SmallNetwork, [](ModelSpec& m) { m.operators[3].version = 99; },
             "operator #3 ADD v99: not supported"},
        Case{"version 0", SmallNetwork, [](ModelSpec& m) { m.operators[3].version = 0; },
             "operator #3 ADD v0: not supported"},
        Case{"custom", SmallNetwork,
             [](ModelSpec& m) {
               m.operators[7].code = Code::CUSTOM;
               m.operators[7].custom_code = "edge\ntpu";
             },
             "operator #7 CUSTOM 'edge\\x0atpu' v2: not supported"},
        Case{"no such code", SmallNetwork,
             [](ModelSpec& m) { m.operators[0].code = static_cast<Code>(4711); },
             "operator #0 number 4711 v3: not supported"},
        Case{"negative code", SmallNetwork,
             [](ModelSpec& m) { m.operators[0].code = static_cast<Code>(-5); },
             "operator #0 number -5 v3: not supported"},
        Case{"control flow", SmallNetwork,
             [](ModelSpec& m) {
               m.subgraphs = 3;
               m.operators[4].code = Code::WHILE;
             },
             "operator #4 WHILE v2: not supported"},
        Case{"code index", SmallNetwork, [](ModelSpec& m) { m.operators[0].code_index = 8; },
             "operator #0: code index 8 does not exist (there are 8)"},
        Case{"options of another operator", SmallNetwork,
             [](ModelSpec& m) { m.operators[0].options = PoolOptions(); },
             "operator #0 CONV_2D v3: its options are missing or another operator's"},
        Case{"options missing", SmallNetwork,
             [](ModelSpec& m) { m.operators[4].options = nullptr; },
             "operator #4 AVERAGE_POOL_2D v2: its options are missing"},
        Case{"fused tanh", SmallNetwork,
             [](ModelSpec& m) {
               Window window;
               window.activation = tflite::ActivationFunctionType::TANH;
               m.operators[0].options = ConvOptions(window);
             },
             "fused activation number 4 is not supported"},
        Case{"no such padding", SmallNetwork,
             [](ModelSpec& m) {
               Window window;
               window.padding = static_cast<tflite::Padding>(7);
               m.operators[1].options = DepthwiseOptions(window);
             },
             "padding number 7 does not exist"},
        Case{"beta", SmallNetwork,
             [](ModelSpec& m) { m.operators[7].options = SoftmaxOptions(kNan); },
             "operator #7 SOFTMAX v2: beta is nan"}));

// Files that are no model, or one without parts. CVE-2021-37688, CVE-2021-37689.
INSTANTIATE_TEST_SUITE_P(
    Files, TfliteRefusals,
    testing::Values(Case{"identifier", SmallNetwork, [](ModelSpec& m) { m.identifier = "TFL2"; },
                         "not a .tflite file (no TFL3 identifier)"},
                    Case{"schema version", SmallNetwork, [](ModelSpec& m) { m.version = 4; },
                         "schema version 4 is not supported (3 is)"},
                    Case{"no subgraph", SmallNetwork, [](ModelSpec& m) { m.subgraphs = 0; },
                         "the model has no subgraph"},
                    Case{"no tensors", SmallNetwork, [](ModelSpec& m) { m.tensors.clear(); },
                         "input 0 of the model is tensor #0, which does not exist (there are 0)"},
                    Case{"no operators", SmallNetwork, [](ModelSpec& m) { m.operators.clear(); },
                         "'scores' is an output, but nothing writes it"}));

// Tensor ids. CVE-2020-15211 (-1 where a tensor is needed), CVE-2022-23561.
INSTANTIATE_TEST_SUITE_P(
    Ids, TfliteRefusals,
    testing::Values(
        Case{"required input absent", SmallNetwork,
             [](ModelSpec& m) { m.operators[0].inputs[0] = -1; }, "CONV_2D #0"},
        Case{"required filter absent", SmallNetwork,
             [](ModelSpec& m) { m.operators[6].inputs[1] = -1; }, "FULLY_CONNECTED #6"},
        Case{"output absent", SmallNetwork, [](ModelSpec& m) { m.operators[0].outputs[0] = -1; },
             "output 0 is tensor #-1, which does not exist (there are 16)"},
        Case{"input too large", SmallNetwork, [](ModelSpec& m) { m.operators[3].inputs[1] = 16; },
             "operator #3 ADD v2: input 1 is tensor #16, which does not exist (there are 16)"},
        Case{"input below -1", SmallNetwork,
             [](ModelSpec& m) { m.operators[3].inputs[0] = std::numeric_limits<int>::min(); },
             "input 0 is tensor #-2147483648"},
        Case{"output too large", SmallNetwork,
             [](ModelSpec& m) { m.operators[7].outputs[0] = 1 << 20; },
             "output 0 is tensor #1048576"},
        Case{"model input", SmallNetwork, [](ModelSpec& m) { m.inputs[0] = -1; },
             "input 0 of the model is tensor #-1"},
        Case{"model output", SmallNetwork, [](ModelSpec& m) { m.outputs[0] = 99; },
             "output 0 of the model is tensor #99"},
        Case{"no inputs", SmallNetwork, [](ModelSpec& m) { m.operators[0].inputs.clear(); },
             "CONV_2D #0"},
        Case{"no outputs", SmallNetwork, [](ModelSpec& m) { m.operators[7].outputs.clear(); },
             "SOFTMAX #7"},
        Case{"reshape of nothing", SmallNetwork,
             [](ModelSpec& m) { m.operators[5].inputs.clear(); }, "operator #5 RESHAPE v1"},
        Case{"mean without axes", SmallElementwise,
             [](ModelSpec& m) { m.operators[4].inputs = {5}; },
             "operator #4 MEAN v2: has no axes (input 1)"}));

// Who writes what. CVE-2020-15209, CVE-2021-29592 (a constant that became an unwritten tensor),
// CVE-2020-15210 (one tensor in and out), CVE-2021-29591 (cycles), CVE-2021-37681 (variables).
INSTANTIATE_TEST_SUITE_P(
    Writers, TfliteRefusals,
    testing::Values(
        Case{"constant without data", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[1].data.clear();
               m.tensors[1].buffer = 0;
             },
             "reads tensor #1 'conv_filter', which nothing has written before"},
        Case{"shape without data", SmallNetwork, [](ModelSpec& m) { m.tensors[10].data.clear(); },
             "operator #5 RESHAPE v1"},
        Case{"paddings without data", SmallElementwise,
             [](ModelSpec& m) { m.tensors[2].data.clear(); },
             "operator #1 PAD v2: paddings that are not constant are not supported"},
        Case{"in and out", SmallNetwork, [](ModelSpec& m) { m.operators[3].outputs[0] = 3; },
             "operator #3 ADD v2: tensor #3 is both input and output"},
        Case{"shape in and out", SmallNetwork, [](ModelSpec& m) { m.operators[5].outputs[0] = 10; },
             "operator #5 RESHAPE v1: tensor #10 is both input and output"},
        Case{"writes a constant", SmallNetwork,
             [](ModelSpec& m) { m.operators[3].outputs[0] = 12; }, "writes tensor #12"},
        Case{"writes an input", SmallNetwork, [](ModelSpec& m) { m.operators[3].outputs[0] = 0; },
             "writes tensor #0 'x'"},
        Case{"two writers", SmallNetwork, [](ModelSpec& m) { m.operators[2].outputs[0] = 3; },
             "writes tensor #3 'conv'"},
        Case{"reads what comes later", SmallNetwork,
             [](ModelSpec& m) { m.operators[1].inputs[0] = 8; },
             "reads tensor #8 'sum', which nothing has written before"},
        Case{"cycle", SmallNetwork,
             [](ModelSpec& m) {
               m.operators[2].inputs[0] = 8;
               m.operators[3].inputs[0] = 7;
             },
             "reads tensor #8 'sum', which nothing has written before"},
        Case{"constant input", SmallNetwork,
             [](ModelSpec& m) {
               m.inputs = {0, 12};
             },
             "tensor #12 'fc_weights' cannot be an input"},
        Case{"input twice", SmallNetwork,
             [](ModelSpec& m) {
               m.inputs = {0, 0};
             },
             "tensor #0 'x' cannot be an input"},
        Case{"variable", SmallNetwork, [](ModelSpec& m) { m.tensors[3].variable = true; },
             "writes tensor #3 'conv', which is a constant, a variable"}));

// Shapes and sizes. CVE-2021-29605, CVE-2022-23558, CVE-2022-23559, CVE-2021-29601 (products that
// overflow), CVE-2020-15213, CVE-2026-34445 (huge allocations), CVE-2022-23560 (sparsity).
INSTANTIATE_TEST_SUITE_P(
    Sizes, TfliteRefusals,
    testing::Values(
        Case{"negative dimension", SmallNetwork, [](ModelSpec& m) { m.tensors[0].shape[1] = -4; },
             "tensor #0 'x'"},
        Case{"product over 2^64", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[0].shape = {kHuge, kHuge, kHuge, kHuge};
             },
             "tensor #0 'x'"},
        Case{"product that wraps to a small number", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[1].shape = {1 << 16, 1 << 16, 1 << 16, 1 << 16};
             },
             "tensor #1 'conv_filter'"},
        Case{"rank", SmallNetwork, [](ModelSpec& m) { m.tensors[0].shape.assign(9, 1); },
             "tensor #0 'x': has 9 dimensions, more than 8"},
        Case{"more than the limit", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[0].shape = {1, 1 << 14, 1 << 14, 2};
             },
             "tensor 'x', int8 [1, 16384, 16384, 2], needs more than the limit of 8388608 bytes"},
        Case{"huge by paddings", SmallElementwise,
             [](ModelSpec& m) {
               m.tensors[2].data = Bytes<int32_t>({0, 0, 1, kHuge / 2});
             },
             "more than the limit"},
        Case{"paddings overflow", SmallElementwise,
             [](ModelSpec& m) {
               m.tensors[2].data = Bytes<int32_t>({0, 0, 0x7fffffff, 0x7fffffff});
             },
             "PAD #1"},
        Case{"negative padding", SmallElementwise,
             [](ModelSpec& m) {
               m.tensors[2].data = Bytes<int32_t>({0, 0, -1, 2});
             },
             "PAD #1"},
        Case{"too few paddings", SmallElementwise,
             [](ModelSpec& m) {
               m.tensors[2].data = Bytes<int32_t>({0, 0});
               m.tensors[2].shape = {1, 2};
             },
             "PAD #1"},
        Case{"paddings of another shape", SmallElementwise,
             [](ModelSpec& m) {
               m.tensors[2].shape = {4, 1};
             },
             "paddings have shape [4, 1], not [rank, 2]"},
        Case{"paddings of another type", SmallElementwise,
             [](ModelSpec& m) { m.tensors[2].type = TensorType::FLOAT32; },
             "paddings are float32, not int32 or int64"},
        Case{"concatenation overflows", SmallElementwise,
             [](ModelSpec& m) {
               m.tensors[2].data = Bytes<int32_t>({0, 0, kHuge, kHuge - 10});
             },
             "CONCATENATION #3"},
        Case{"buffer too short", SmallNetwork, [](ModelSpec& m) { m.tensors[1].data.resize(71); },
             "tensor #1 'conv_filter': its buffer holds 71 bytes, int8 [4, 3, 3, 2] needs 72"},
        Case{"buffer too long", SmallNetwork, [](ModelSpec& m) { m.tensors[2].data.resize(20); },
             "tensor #2 'conv_bias': its buffer holds 20 bytes, int32 [4] needs 16"},
        Case{"buffer index", SmallNetwork, [](ModelSpec& m) { m.tensors[1].buffer = 1000; },
             "tensor #1 'conv_filter': buffer 1000 does not exist (there are 8)"},
        Case{"far buffer behind the end", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[1].buffer = 1;
               m.far_buffers = {{1 << 20, 72}};
             },
             "buffer 1 (offset 1048576, size 72) is not inside the file"},
        Case{"far buffer that wraps", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[1].buffer = 1;
               m.far_buffers = {{16, std::numeric_limits<uint64_t>::max() - 8}};
             },
             "is not inside the file"},
        Case{"external file", SmallNetwork, [](ModelSpec& m) { m.tensors[1].external_buffer = 3; },
             "tensor #1 'conv_filter': its data is in another file"},
        Case{"sparse", SmallNetwork, [](ModelSpec& m) { m.tensors[12].sparse = true; },
             "tensor #12 'fc_weights': sparse tensors are not supported"},
        Case{"sparse narrow", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[12].type = TensorType::FLOAT16;
               m.tensors[12].sparse = true;
             },
             "tensor #12 'fc_weights': sparse tensors are not supported"},
        Case{"narrow variable", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[12].type = TensorType::INT4;
               m.tensors[12].variable = true;
             },
             "tensor #12 'fc_weights': is a variable with data of its own"},
        Case{"type", SmallNetwork, [](ModelSpec& m) { m.tensors[3].type = TensorType::COMPLEX64; },
             "tensor #3 'conv': type COMPLEX64 is not supported"},
        Case{"no such type", SmallNetwork,
             [](ModelSpec& m) { m.tensors[3].type = static_cast<TensorType>(-3); },
             "tensor #3 'conv': type number -3 is not supported"}));

// Quantization. CVE-2021-37682.
INSTANTIATE_TEST_SUITE_P(
    Quantization, TfliteRefusals,
    testing::Values(
        Case{"missing on an input", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[0].scales.clear();
               m.tensors[0].zero_points.clear();
             },
             "CONV_2D #0"},
        Case{"missing on an output", SmallNetwork,
             [](ModelSpec& m) { m.tensors[14].scales.clear(); }, "FULLY_CONNECTED #6"},
        Case{"missing on weights", SmallNetwork, [](ModelSpec& m) { m.tensors[4].scales.clear(); },
             "DEPTHWISE_CONV_2D #1"},
        Case{"NaN", SmallNetwork, [](ModelSpec& m) { m.tensors[3].scales = {kNan}; },
             "tensor #3 'conv': scale 0 is nan; scales are finite and not negative"},
        Case{"infinite", SmallNetwork, [](ModelSpec& m) { m.tensors[1].scales[2] = kInfinity; },
             "tensor #1 'conv_filter': scale 2 is inf; scales are finite and not negative"},
        Case{"negative", SmallNetwork, [](ModelSpec& m) { m.tensors[0].scales = {-0.5f}; },
             "tensor #0 'x': scale 0 is -0.500000; scales are finite and not negative"},
        Case{"zero point of int8", SmallNetwork,
             [](ModelSpec& m) { m.tensors[0].zero_points = {128}; },
             "tensor #0 'x': zero point 128 is not in int8"},
        Case{"zero point of uint8", SmallUint8,
             [](ModelSpec& m) { m.tensors[0].zero_points = {-1}; },
             "tensor #0 'x': zero point -1 is not in uint8"},
        Case{"zero point over 32 bits", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[2].scales = {1.0f};
               m.tensors[2].zero_points = {int64_t{1} << 32};
             },
             "tensor #2 'conv_bias': zero point 4294967296 is not in int32"},
        Case{"fewer zero points", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[1].zero_points = {0, 0};
             },
             "tensor #1 'conv_filter': has 4 scales, but 2 zero points"},
        Case{"no zero points", SmallNetwork, [](ModelSpec& m) { m.tensors[0].zero_points.clear(); },
             "tensor #0 'x': has 1 scales, but 0 zero points"},
        Case{"more scales than channels", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[1].scales.assign(5, 0.1f);
               m.tensors[1].zero_points.assign(5, 0);
             },
             "tensor #1 'conv_filter': has 5 scales, but dimension 0 has length 4"},
        Case{"axis too large", SmallNetwork,
             [](ModelSpec& m) { m.tensors[1].quantized_dimension = 4; },
             "tensor #1 'conv_filter': quantized dimension 4 is not one of shape [4, 3, 3, 2]"},
        Case{"axis negative", SmallNetwork,
             [](ModelSpec& m) { m.tensors[1].quantized_dimension = -1; },
             "tensor #1 'conv_filter': quantized dimension -1 is not one of"},
        Case{"axis that is not the channels", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[4].scales.assign(3, 0.1f);
               m.tensors[4].zero_points.assign(3, 0);
               m.tensors[4].quantized_dimension = 1;
             },
             "DEPTHWISE_CONV_2D #1"},
        Case{"blockwise", SmallNetwork, [](ModelSpec& m) { m.tensors[12].blockwise = true; },
             "tensor #12 'fc_weights': has a quantization scheme other than affine"}));

// Axes. CVE-2020-15207, CVE-2021-29606, CVE-2021-37685.
INSTANTIATE_TEST_SUITE_P(
    Axes, TfliteRefusals,
    testing::Values(
        Case{"mean, too large", SmallElementwise, [](ModelSpec& m) { Axes(m, {2}); }, "MEAN #4"},
        Case{"mean, too negative", SmallElementwise, [](ModelSpec& m) { Axes(m, {-3}); },
             "MEAN #4"},
        Case{"mean, int32 minimum", SmallElementwise,
             [](ModelSpec& m) { Axes(m, {std::numeric_limits<int32_t>::min()}); }, "MEAN #4"},
        Case{"mean, too many", SmallElementwise,
             [](ModelSpec& m) { Axes(m, std::vector<int32_t>(65, 0)); },
             "operator #4 MEAN v2: axes has 65 elements"},
        Case{"concatenation, too large", SmallElementwise,
             [](ModelSpec& m) { m.operators[3].options = ConcatenationOptions(2); },
             "CONCATENATION #3"},
        Case{"concatenation, too negative", SmallElementwise,
             [](ModelSpec& m) {
               m.operators[3].options = ConcatenationOptions(std::numeric_limits<int>::min());
             },
             "CONCATENATION #3"},
        Case{"int64 axes out of range", SmallElementwise,
             [](ModelSpec& m) {
               m.tensors[6].type = TensorType::INT64;
               m.tensors[6].data = Bytes<int64_t>({int64_t{1} << 40});
             },
             "operator #4 MEAN v2: axes hold 1099511627776"}));

// Shapes that do not fit each other. CVE-2020-15208, CVE-2021-29590, CVE-2022-23557.
INSTANTIATE_TEST_SUITE_P(Mismatches, TfliteRefusals,
                         testing::Values(Case{"add", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.operators[3].inputs = {0, 7};
                                              },
                                              "ADD #3"},
                                         Case{"filter channels", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[1].shape = {4, 3, 2, 3};
                                              },
                                              "CONV_2D #0"},
                                         Case{"filter rank", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[1].shape = {4, 18};
                                              },
                                              "CONV_2D #0"},
                                         Case{"depthwise filter", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[4].shape = {1, 3, 4, 3};
                                                m.tensors[4].scales = {1.0f};
                                                m.tensors[4].zero_points = {0};
                                              },
                                              "DEPTHWISE_CONV_2D #1"},
                                         Case{"bias length", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[2].shape = {2};
                                                m.tensors[2].data.resize(8);
                                              },
                                              "CONV_2D #0"},
                                         Case{"bias without elements", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[2].shape = {0};
                                                m.tensors[2].data.clear();
                                              },
                                              "CONV_2D #0"},
                                         Case{"bias type", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[2].type = TensorType::INT16;
                                                m.tensors[2].data.resize(8);
                                              },
                                              "CONV_2D #0"},
                                         Case{"weights depth", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[12].shape = {16, 3};
                                              },
                                              "FULLY_CONNECTED #6"},
                                         Case{"weights type", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[12].type = TensorType::INT16;
                                                m.tensors[12].data.resize(96);
                                              },
                                              "FULLY_CONNECTED #6"},
                                         Case{"reshape", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[10].data = Bytes<int32_t>({3, -1});
                                              },
                                              "RESHAPE #5"},
                                         Case{"reshape, two inferred", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[10].data = Bytes<int32_t>({-1, -1});
                                              },
                                              "RESHAPE #5"},
                                         Case{"reshape, zero and inferred", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[10].data = Bytes<int32_t>({0, -1});
                                              },
                                              "RESHAPE #5"},
                                         Case{"empty against four", SmallNetwork,
                                              [](ModelSpec& m) {
                                                m.tensors[0].shape = {1, 4, 4, 0};
                                              },
                                              "CONV_2D #0"}));

// Divisors. CVE-2021-29585, -29586, -29594, -29602, CVE-2022-21741, CVE-2021-37680, -29587 and the
// like.
INSTANTIATE_TEST_SUITE_P(
    Divisors, TfliteRefusals,
    testing::Values(
        Case{"conv stride", SmallNetwork,
             [](ModelSpec& m) { m.operators[0].options = ConvOptions(Strides(0, 1)); },
             "CONV_2D #0"},
        Case{"conv stride negative", SmallNetwork,
             [](ModelSpec& m) { m.operators[0].options = ConvOptions(Strides(1, -1)); },
             "CONV_2D #0"},
        Case{"conv dilation", SmallNetwork,
             [](ModelSpec& m) { m.operators[0].options = ConvOptions(Dilations(1, 0)); },
             "CONV_2D #0"},
        Case{"conv dilation overflows", SmallNetwork,
             [](ModelSpec& m) { m.operators[0].options = ConvOptions(Dilations(0x7fffffff, 1)); },
             "CONV_2D #0"},
        Case{"depthwise stride", SmallNetwork,
             [](ModelSpec& m) { m.operators[1].options = DepthwiseOptions(Strides(1, 0)); },
             "DEPTHWISE_CONV_2D #1"},
        Case{"depthwise dilation", SmallNetwork,
             [](ModelSpec& m) { m.operators[1].options = DepthwiseOptions(Dilations(-7, 1)); },
             "DEPTHWISE_CONV_2D #1"},
        Case{"pool stride", SmallNetwork,
             [](ModelSpec& m) { m.operators[2].options = PoolOptions(Strides(0, 0)); },
             "MAX_POOL_2D #2"},
        Case{"pool stride, average", SmallNetwork,
             [](ModelSpec& m) { m.operators[4].options = PoolOptions(Strides(2, 0)); },
             "AVERAGE_POOL_2D #4"},
        Case{"pool filter", SmallNetwork,
             [](ModelSpec& m) { m.operators[4].options = PoolOptions(Filters(0, 2)); },
             "AVERAGE_POOL_2D #4"},
        Case{"pool filter negative", SmallNetwork,
             [](ModelSpec& m) { m.operators[2].options = PoolOptions(Filters(2, -2)); },
             "MAX_POOL_2D #2"},
        Case{"filter without channels", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[1].shape = {4, 3, 3, 0};
               m.tensors[1].data.clear();
             },
             "CONV_2D #0"},
        Case{"depthwise input without channels", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[0].shape = {1, 4, 4, 0};
               m.operators[1].inputs[0] = 0;
               m.operators[0] = m.operators[1];
             },
             "DEPTHWISE_CONV_2D #0"},
        Case{"weights without depth", SmallNetwork,
             [](ModelSpec& m) {
               m.tensors[12].shape = {3, 0};
               m.tensors[12].data.clear();
             },
             "FULLY_CONNECTED #6"}));

// A small file that names one long vector from many tables.
TEST(TfliteAmplification, IsRefused) {
  Builder b;
  const auto scales = b.CreateVector(std::vector<float>(10000, 1.0f));
  const auto zero_points = b.CreateVector(std::vector<int64_t>(10000, 0));
  const auto quantization = tflite::CreateQuantizationParameters(b, 0, 0, scales, zero_points);
  const auto shape = b.CreateVector(std::vector<int>{10000});
  const auto tensor = tflite::CreateTensor(b, shape, TensorType::INT8, 0, 0, quantization);
  const std::vector<flatbuffers::Offset<tflite::Tensor>> tensors(10000, tensor);
  const auto subgraph = tflite::CreateSubGraph(b, b.CreateVector(tensors));
  const auto subgraphs = b.CreateVector(&subgraph, 1);
  b.Finish(tflite::CreateModel(b, 3, 0, subgraphs), "TFL3");
  const std::string error = Exercise({b.GetBufferPointer(), b.GetSize()});
  EXPECT_NE(error.find("names more metadata than a file of its size can hold"), std::string::npos)
      << error;
}

}  // namespace
}  // namespace intaglio::nn::test
