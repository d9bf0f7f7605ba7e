// The quantizer through the C interface.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "intaglio/test/bindings/c/handles.h"

namespace intaglio::test {
namespace {

// y = Relu(x) for x of float32 [2, 3], as an .onnx file.
constexpr uint8_t kRelu[] = {0x08, 0x08, 0x12, 0x00, 0x3a, 0x3b, 0x0a, 0x0c, 0x0a, 0x01, 0x78, 0x12,
                             0x01, 0x79, 0x22, 0x04, 0x52, 0x65, 0x6c, 0x75, 0x12, 0x01, 0x67, 0x5a,
                             0x13, 0x0a, 0x01, 0x78, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08,
                             0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x62, 0x13, 0x0a, 0x01,
                             0x79, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08,
                             0x02, 0x0a, 0x02, 0x08, 0x03, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x11};
constexpr size_t kElements = 6;

// Samples of the network above, and how the quantizer asked for them.
struct Data {
  std::vector<std::vector<float>> samples;
  std::vector<size_t> asked;
  int32_t failure = 0;  // what is answered instead of the last sample, if it is not 0
};

int32_t Next(void* user, size_t sample, void* const* inputs) {
  auto* const data = static_cast<Data*>(user);
  data->asked.push_back(sample);
  if (sample >= data->samples.size()) return 0;
  if (data->failure != 0 && sample + 1 == data->samples.size()) return data->failure;
  std::memcpy(inputs[0], data->samples[sample].data(), kElements * sizeof(float));
  return 1;
}

Data TwoSamples() { return {{{-2, -1, 0, 1, 2, 3}, {0, 0, 0, 0, 0, 8}}, {}, 0}; }

Answer Quantize(const it_quantize_options* options, Data& data, Quantized& quantized) {
  return it_quantize_bytes(kRelu, sizeof(kRelu), "relu", nullptr, options, Next, &data, &quantized);
}

TEST(CQuantize, MakesAFileThatRuns) {
  Data data = TwoSamples();
  QuantizeOptions options;
  ASSERT_TRUE(IsOk(it_quantize_options_create(&options)));
  ASSERT_TRUE(IsOk(it_quantize_options_set_flag(options, IT_QUANTIZE_REPORT, 1)));
  Quantized quantized;
  ASSERT_TRUE(IsOk(Quantize(options, data, quantized)));
  // One pass to observe, and one for the report.
  EXPECT_EQ(data.asked, (std::vector<size_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(it_quantized_sample_count(quantized), 2u);
  ASSERT_EQ(it_quantized_layer_count(quantized), 1u);
  EXPECT_NE(std::string(it_quantized_layer_label(quantized, 0)).find("Relu"), std::string::npos);
  EXPECT_EQ(it_quantized_layer_has_integers(quantized, 0), 1);
  EXPECT_STREQ(it_quantized_layer_note(quantized, 0), "");
  EXPECT_NE(std::string(it_quantized_report(quantized)).find("sqnr_alone"), std::string::npos);

  Model model;
  ASSERT_TRUE(IsOk(it_model_load_bytes(it_quantized_data(quantized), it_quantized_bytes(quantized),
                                       nullptr, nullptr, &model)));
  Session session;
  ASSERT_TRUE(IsOk(it_session_create(model, &session)));
  float y[kElements];
  ASSERT_TRUE(
      IsOk(it_session_set_input(session, 0, data.samples[0].data(), sizeof(y), IT_FLOAT32)));
  ASSERT_TRUE(IsOk(it_session_set_output(session, 0, y, sizeof(y), IT_FLOAT32)));
  ASSERT_TRUE(IsOk(it_session_run(session)));
  for (size_t i = 0; i < kElements; ++i) {
    // Steps of 10 / 255 on the input, and of 8 / 255 on the output.
    EXPECT_NEAR(y[i], std::fmax(0.0f, data.samples[0][i]), 0.04f) << i;
  }
}

TEST(CQuantize, LearnsRounding) {
  Data data = TwoSamples();
  QuantizeOptions options;
  ASSERT_TRUE(IsOk(it_quantize_options_create(&options)));
  ASSERT_TRUE(IsOk(it_quantize_options_set_flag(options, IT_QUANTIZE_LEARN_ROUNDING, 1)));
  Quantized quantized;
  ASSERT_TRUE(IsOk(Quantize(options, data, quantized)));
  // One pass to observe. This network has no weights, so there is none to learn.
  EXPECT_EQ(data.asked, (std::vector<size_t>{0, 1, 2}));
  ASSERT_TRUE(IsOk(it_quantize_options_set_bits(options, "w8")));
  EXPECT_FALSE(IsOk(Quantize(options, data, quantized)));
}

TEST(CQuantize, ReachesGoals) {
  Data data = TwoSamples();
  QuantizeOptions options;
  ASSERT_TRUE(IsOk(it_quantize_options_create(&options)));
  ASSERT_TRUE(IsOk(it_quantize_options_set_bits(options, "w8a2")));
  ASSERT_TRUE(IsOk(it_quantize_options_set_min_sqnr(options, 10)));
  Quantized quantized;
  ASSERT_TRUE(IsOk(Quantize(options, data, quantized)));
  EXPECT_EQ(it_quantized_change_count(quantized), 0u);  // outputs of the graph keep 8 bits
  EXPECT_EQ(it_quantized_change(quantized, 0), nullptr);
  // The only layer would have to stay float32.
  ASSERT_TRUE(IsOk(it_quantize_options_set_min_sqnr(options, 190)));
  EXPECT_FALSE(IsOk(Quantize(options, data, quantized)));
  // Rows of the output are answers: two in each sample.
  const int32_t labels[] = {2, 2, 0, 2};
  ASSERT_TRUE(IsOk(it_quantize_options_set_max_drop(options, 0, labels, 4)));
  ASSERT_TRUE(IsOk(Quantize(options, data, quantized)));
  ASSERT_TRUE(IsOk(it_quantize_options_set_max_drop(options, 0, labels, 3)));
  EXPECT_TRUE(IsInvalid(Quantize(options, data, quantized), "there are 3 labels for 4 answers"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_max_drop(options, 101, nullptr, 0), "points"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_max_drop(options, 1, nullptr, 1), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_max_drop(nullptr, 1, nullptr, 0), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_min_sqnr(nullptr, 1), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_min_sqnr(options, NAN), "not finite"));
  EXPECT_EQ(it_quantized_change_count(nullptr), 0u);
}

TEST(CQuantize, NamesWhatIsWrong) {
  QuantizeOptions options;
  ASSERT_TRUE(IsOk(it_quantize_options_create(&options)));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_bits(options, "w9a8"), "bits 'w9a8'"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_method(options, "best"), "no method 'best'"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_recipe(options, "[{}]", 4), "lacks 'layers'"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_interface(options, IT_INT32), "type is 3"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_flag(options, 9, 1), "no flag 9"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_flag(options, 0, 2), "not 2"));

  Quantized quantized;
  Data none;
  EXPECT_TRUE(IsInvalid(Quantize(nullptr, none, quantized), "no sample"));
  EXPECT_TRUE(IsInvalid(it_quantize_bytes(kRelu, sizeof(kRelu), nullptr, nullptr, nullptr, nullptr,
                                          nullptr, &quantized),
                        "no samples"));
  Data broken = TwoSamples();
  broken.failure = -7;
  EXPECT_TRUE(IsInvalid(Quantize(nullptr, broken, quantized), "sample 1: the caller could not"));
  Data ill = TwoSamples();
  ill.samples[1][4] = std::nanf("");
  EXPECT_TRUE(
      IsInvalid(Quantize(nullptr, ill, quantized), "sample 1: tensor 'x' has NaN in element 4"));
  Data good = TwoSamples();
  ASSERT_TRUE(IsOk(it_quantize_options_keep_float(options, "CONV")));
  EXPECT_TRUE(IsInvalid(Quantize(options, good, quantized), "'CONV' matches no layer"));
  ASSERT_TRUE(IsOk(it_quantize_options_create(&options)));
  ASSERT_TRUE(IsOk(it_quantize_options_keep_float(options, "Relu")));
  EXPECT_TRUE(IsInvalid(Quantize(options, good, quantized), "no layer can be quantized"));
  ASSERT_TRUE(IsOk(it_quantize_options_create(&options)));
  ASSERT_TRUE(IsOk(it_quantize_options_set_bits(options, "w8a16")));
  EXPECT_TRUE(Fails(Quantize(options, good, quantized), IT_UNSUPPORTED, "int16"));
  EXPECT_TRUE(Fails(it_quantize_file("/nowhere/x.onnx", nullptr, nullptr, Next, &good, &quantized),
                    IT_IO_ERROR, "/nowhere/x.onnx"));
  EXPECT_TRUE(IsInvalid(
      it_quantize_bytes("no model", 8, "text", nullptr, nullptr, Next, &good, &quantized), "text"));
  // All of its layers have integers already.
  const std::string digits = INTAGLIO_SOURCE_DIR "/examples/digits/digits.tflite";
  EXPECT_TRUE(IsInvalid(it_quantize_file(
                            digits.c_str(), nullptr, nullptr,
                            [](void*, size_t sample, void* const* inputs) -> int32_t {
                              std::memset(inputs[0], 0, 64);
                              return sample == 0 ? 1 : 0;
                            },
                            nullptr, &quantized),
                        "no layer can be quantized"));
  EXPECT_EQ(quantized.handle, nullptr);
}

TEST(CQuantize, NullHandlesAreInvalidOrNothing) {
  Quantized quantized;
  EXPECT_TRUE(IsInvalid(it_quantize_options_create(nullptr), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_bits(nullptr, "w8a8"), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_method(nullptr, "mse"), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_recipe(nullptr, "[]", 2), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_keep_float(nullptr, "x"), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_interface(nullptr, IT_INT8), "is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_flag(nullptr, 0, 1), "is null"));
  QuantizeOptions options;
  ASSERT_TRUE(IsOk(it_quantize_options_create(&options)));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_bits(options, nullptr), "bits is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_method(options, nullptr), "method is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_set_recipe(options, nullptr, 2), "text is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_options_keep_float(options, nullptr), "pattern is null"));
  EXPECT_TRUE(IsInvalid(it_quantize_file(nullptr, nullptr, nullptr, Next, nullptr, &quantized),
                        "path is null"));
  EXPECT_TRUE(
      IsInvalid(it_quantize_bytes(nullptr, 0, nullptr, nullptr, nullptr, Next, nullptr, &quantized),
                "data is null"));
  EXPECT_TRUE(IsInvalid(
      it_quantize_bytes(kRelu, sizeof(kRelu), nullptr, nullptr, nullptr, Next, nullptr, nullptr),
      "out is null"));
  it_quantize_options_destroy(nullptr);
  it_quantized_destroy(nullptr);
  EXPECT_EQ(it_quantized_data(nullptr), nullptr);
  EXPECT_EQ(it_quantized_bytes(nullptr), 0u);
  EXPECT_EQ(it_quantized_sample_count(nullptr), 0u);
  EXPECT_EQ(it_quantized_layer_count(nullptr), 0u);
  EXPECT_EQ(it_quantized_layer_label(nullptr, 0), nullptr);
  EXPECT_EQ(it_quantized_layer_has_integers(nullptr, 0), 0);
  EXPECT_EQ(it_quantized_layer_note(nullptr, 0), nullptr);
  EXPECT_EQ(it_quantized_report(nullptr), nullptr);
}

}  // namespace
}  // namespace intaglio::test
