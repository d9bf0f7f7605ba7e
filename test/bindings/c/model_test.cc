// Models and sessions through the C interface.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "intaglio/test/bindings/c/handles.h"

namespace intaglio::test {
namespace {

const std::string kDigits = INTAGLIO_SOURCE_DIR "/examples/digits/";
constexpr size_t kPixels = 64;
constexpr size_t kClasses = 10;

// y = Relu(x) for x of float32 [2, 3], as an .onnx file.
constexpr uint8_t kOnnx[] = {0x08, 0x08, 0x12, 0x00, 0x3a, 0x3b, 0x0a, 0x0c, 0x0a, 0x01, 0x78, 0x12,
                             0x01, 0x79, 0x22, 0x04, 0x52, 0x65, 0x6c, 0x75, 0x12, 0x01, 0x67, 0x5a,
                             0x13, 0x0a, 0x01, 0x78, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08,
                             0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x62, 0x13, 0x0a, 0x01,
                             0x79, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08,
                             0x02, 0x0a, 0x02, 0x08, 0x03, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x11};

// y = ReduceSum(x, axes), without the dimensions of axes, for x of float32 [2, 3] and axes of int64
// [n], as an .onnx file.
constexpr uint8_t kSum[] = {
    0x08, 0x08, 0x3a, 0x62, 0x0a, 0x28, 0x0a, 0x01, 0x78, 0x0a, 0x04, 0x61, 0x78, 0x65, 0x73, 0x12,
    0x01, 0x79, 0x22, 0x09, 0x52, 0x65, 0x64, 0x75, 0x63, 0x65, 0x53, 0x75, 0x6d, 0x2a, 0x0f, 0x0a,
    0x08, 0x6b, 0x65, 0x65, 0x70, 0x64, 0x69, 0x6d, 0x73, 0x18, 0x00, 0xa0, 0x01, 0x02, 0x12, 0x01,
    0x67, 0x5a, 0x13, 0x0a, 0x01, 0x78, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02,
    0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x5a, 0x13, 0x0a, 0x04, 0x61, 0x78, 0x65, 0x73, 0x12, 0x0b,
    0x0a, 0x09, 0x08, 0x07, 0x12, 0x05, 0x0a, 0x03, 0x12, 0x01, 0x6e, 0x62, 0x09, 0x0a, 0x01, 0x79,
    0x12, 0x04, 0x0a, 0x02, 0x08, 0x01, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x12};

std::vector<uint8_t> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The elements of a .npy file of bytes.
std::vector<uint8_t> ReadNpy(const std::string& name) {
  const std::vector<uint8_t> bytes = ReadFile(kDigits + name);
  EXPECT_GT(bytes.size(), 10u);
  const size_t first = 10 + bytes[8] + size_t{256} * bytes[9];
  return {bytes.begin() + static_cast<ptrdiff_t>(first), bytes.end()};
}

struct Digits {
  std::vector<uint8_t> images = ReadNpy("heldout_images.npy");
  std::vector<uint8_t> expected = ReadNpy("expected_outputs.npy");
  const uint8_t* Image(size_t i) const { return images.data() + i * kPixels; }
  std::vector<uint8_t> Scores(size_t i) const {
    const auto first = expected.begin() + static_cast<ptrdiff_t>(i * kClasses);
    return {first, first + kClasses};
  }
};

struct Loaded {
  explicit Loaded(const it_model_options* options = nullptr) {
    EXPECT_TRUE(IsOk(it_model_load_file((kDigits + "digits.tflite").c_str(), options, &model)));
    EXPECT_TRUE(IsOk(it_session_create(model, &session)));
  }
  Answer Run(const uint8_t* image, std::vector<uint8_t>& scores, size_t images = 1) {
    scores.assign(images * kClasses, 0);
    EXPECT_TRUE(IsOk(it_session_set_input(session, 0, image, images * kPixels, IT_INT8)));
    EXPECT_TRUE(IsOk(it_session_set_output(session, 0, scores.data(), scores.size(), IT_INT8)));
    return it_session_run(session);
  }
  Model model;
  Session session;
};

TEST(CModel, ReadsDigits) {
  const Digits digits;
  Loaded loaded;
  std::vector<uint8_t> scores;
  for (size_t i = 0; i < 500; ++i) {
    ASSERT_TRUE(IsOk(loaded.Run(digits.Image(i), scores)));
    ASSERT_EQ(scores, digits.Scores(i)) << i;
  }
}

TEST(CModel, TellsWhatItIs) {
  Loaded loaded;
  const it_model* const model = loaded.model;
  ASSERT_EQ(it_model_input_count(model), 1u);
  ASSERT_EQ(it_model_output_count(model), 1u);
  const it_tensor* const input = it_model_input(model, 0);
  EXPECT_EQ(it_tensor_type(input), IT_INT8);
  EXPECT_EQ(it_tensor_bytes(input), kPixels);
  ASSERT_GT(it_tensor_rank(input), 0u);
  EXPECT_EQ(it_tensor_dim(input, 0), 1);
  EXPECT_EQ(it_tensor_dim(input, it_tensor_rank(input)), 0);
  EXPECT_EQ(it_tensor_scale_count(input), 1u);
  EXPECT_GT(it_tensor_scale(input, 0), 0);
  EXPECT_EQ(it_tensor_scale(input, 1), 0);
  EXPECT_EQ(it_tensor_zero_point(input, 0), -128);
  EXPECT_EQ(it_tensor_zero_point(input, 1), 0);
  EXPECT_EQ(it_tensor_axis(input), 0);
  EXPECT_NE(it_tensor_name(input), std::string());
  EXPECT_EQ(it_model_input(model, 1), nullptr);
  EXPECT_EQ(it_model_output(model, 1), nullptr);
  int64_t macs = 0;
  size_t constant_bytes = 0;
  for (size_t i = 0; i < it_model_layer_count(model); ++i) {
    const it_layer* const layer = it_model_layer(model, i);
    EXPECT_NE(it_layer_label(layer), std::string());
    EXPECT_NE(it_layer_operator(layer), std::string());
    EXPECT_EQ(std::string(it_layer_routine(layer)).find("cpu:"), 0u);
    EXPECT_NE(it_layer_kernel(layer), nullptr);
    EXPECT_LE(it_layer_macs(layer), it_layer_work(layer));
    EXPECT_LE(it_layer_scratch_bytes(layer), it_model_arena_bytes(model));
    macs += it_layer_macs(layer);
    constant_bytes += it_layer_constant_bytes(layer);
  }
  EXPECT_GT(macs, 0);
  EXPECT_LE(macs, it_model_work(model));
  EXPECT_EQ(constant_bytes, it_model_constant_bytes(model));
  EXPECT_EQ(it_model_layer(model, it_model_layer_count(model)), nullptr);
  EXPECT_GT(it_model_taken_bytes(model), it_model_arena_bytes(model));
  EXPECT_GT(it_model_max_bytes(model), it_model_taken_bytes(model));
  EXPECT_EQ(it_session_arena_bytes(loaded.session), it_model_arena_bytes(model));
  EXPECT_EQ(it_session_layer_count(loaded.session), it_model_layer_count(model));
}

TEST(CModel, ComesFromMemoryByItsContent) {
  const Digits digits;
  const std::vector<uint8_t> bytes = ReadFile(kDigits + "digits.tflite");
  for (const int32_t in_place : {0, 1}) {
    Options options;
    EXPECT_TRUE(IsOk(it_model_options_create(&options)));
    EXPECT_TRUE(IsOk(it_model_options_set_flag(options, IT_BYTES_IN_PLACE, in_place)));
    Loaded loaded;
    std::vector<uint8_t> copy = bytes;
    EXPECT_TRUE(
        IsOk(it_model_load_bytes(copy.data(), copy.size(), "digits", options, &loaded.model)));
    if (in_place == 0) std::vector<uint8_t>().swap(copy);  // a sanitizer sees who reads it still
    EXPECT_TRUE(IsOk(it_session_create(loaded.model, &loaded.session)));
    (void)&loaded.model;  // sessions outlive it
    std::vector<uint8_t> scores;
    EXPECT_TRUE(IsOk(loaded.Run(digits.Image(0), scores)));
    EXPECT_EQ(scores, digits.Scores(0));
    EXPECT_TRUE(IsOk(it_session_verify(loaded.session, 1, nullptr)));  // reads all constants again
    (void)&loaded.session;
  }
}

TEST(CModel, OnnxComesFromMemory) {
  Model model;
  const Answer answer = it_model_load_bytes(kOnnx, sizeof(kOnnx), "relu", nullptr, &model);
  if (answer.code == IT_UNSUPPORTED || answer.message.find("FlatBuffer") != std::string::npos) {
    GTEST_SKIP() << "this build has no .onnx files: " << answer.message;
  }
  ASSERT_TRUE(IsOk(answer));
  Session session;
  EXPECT_TRUE(IsOk(it_session_create(model, &session)));
  const std::vector<float> x = {-1, 2, -3, 4, 5, -6};
  std::vector<float> y(6);
  EXPECT_TRUE(IsOk(it_session_set_input(session, 0, x.data(), 24, IT_FLOAT32)));
  EXPECT_TRUE(IsOk(it_session_set_output(session, 0, y.data(), 24, IT_FLOAT32)));
  EXPECT_TRUE(IsOk(it_session_run(session)));
  EXPECT_EQ(y, (std::vector<float>{0, 2, 0, 4, 5, 0}));
  EXPECT_EQ(it_tensor_name(it_model_output(model, 0)), std::string("y"));
}

TEST(CModel, EveryOptionIsTaken) {
  const Digits digits;
  Options options;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  for (const it_flag flag : {IT_COPY_FILE, IT_BYTES_IN_PLACE, IT_INTEGER_ONLY, IT_ONNX_ORT_FUSED,
                             IT_ONNX_NHWC_INPUTS, IT_ONNX_FLOAT64_AS_32, IT_UNFUSED_SUMS}) {
    EXPECT_TRUE(IsOk(it_model_options_set_flag(options, flag, 1)));
  }
  EXPECT_TRUE(IsOk(it_model_options_set_threads(options, 2)));
  EXPECT_TRUE(IsOk(it_model_options_set_max_bytes(options, 1 << 30)));
  EXPECT_TRUE(IsOk(it_model_options_set_max_work(options, 1 << 30)));
  EXPECT_TRUE(IsOk(it_model_options_set_max_rounds(options, 5)));
  EXPECT_TRUE(IsOk(it_model_options_set_data_folder(options, "/nowhere")));
  EXPECT_TRUE(IsOk(it_model_options_set_data_folder(options, nullptr)));
  EXPECT_TRUE(IsOk(it_model_options_set_kernel(options, nullptr)));
  Loaded loaded(options);
  std::vector<uint8_t> scores;
  EXPECT_TRUE(IsOk(loaded.Run(digits.Image(3), scores)));
  EXPECT_EQ(scores, digits.Scores(3));
}

TEST(CModel, InputsBecomeConstants) {
  Options options;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  Model model;
  const Answer missing = Answer(it_model_load_bytes(kSum, sizeof(kSum), nullptr, options, &model));
  if (missing.message.find("no .onnx files") != std::string::npos) {
    GTEST_SKIP() << "this build has no .onnx files: " << missing.message;
  }
  EXPECT_NE(missing.message.find("give input 'axes' a value"), std::string::npos)
      << missing.message;
  const int32_t dims[] = {1};
  int64_t axis = 1;
  EXPECT_TRUE(
      IsOk(it_model_options_set_constant(options, "axes", IT_INT64, dims, 1, &axis, sizeof(axis))));
  axis = 0;  // it was copied
  EXPECT_TRUE(IsOk(it_model_load_bytes(kSum, sizeof(kSum), nullptr, options, &model)));
  ASSERT_EQ(it_model_input_count(model), 1u);
  EXPECT_STREQ(it_tensor_name(it_model_input(model, 0)), "x");
  Session session;
  EXPECT_TRUE(IsOk(it_session_create(model, &session)));
  const float x[] = {1, 2, 3, 4, 5, 6};
  float y[2] = {};
  EXPECT_TRUE(IsOk(it_session_set_input(session, 0, x, sizeof(x), IT_FLOAT32)));
  EXPECT_TRUE(IsOk(it_session_set_output(session, 0, y, sizeof(y), IT_FLOAT32)));
  EXPECT_TRUE(IsOk(it_session_run(session)));
  EXPECT_EQ(y[0], 6);
  EXPECT_EQ(y[1], 15);
}

TEST(CModel, APlanIsMadeAndTaken) {
  const std::string path = kDigits + "digits.tflite";
  Model model;
  EXPECT_TRUE(IsOk(it_model_load_file(path.c_str(), nullptr, &model)));
  TuneOptions tune;
  EXPECT_TRUE(IsOk(it_tune_options_create(&tune)));
  EXPECT_TRUE(IsOk(it_tune_options_set_seconds(tune, 0.01)));
  for (const int allow_float32 : {0, 1}) {
    Plan plan;
    EXPECT_TRUE(IsOk(it_tune_options_set_allow_float32(tune, allow_float32)));
    EXPECT_TRUE(IsOk(it_model_tune(model, tune, &plan)));
    EXPECT_GT(it_plan_untuned_nanoseconds(plan), 0);
    EXPECT_LE(it_plan_tuned_nanoseconds(plan), 1.5 * it_plan_untuned_nanoseconds(plan));
    const std::string text = it_plan_text(plan);
    EXPECT_EQ(text.size(), it_plan_bytes(plan));
    Options options;
    EXPECT_TRUE(IsOk(it_model_options_create(&options)));
    EXPECT_TRUE(IsOk(it_model_options_set_plan(options, text.data(), text.size(), 1)));
    Model planned;
    EXPECT_TRUE(IsOk(it_model_load_file(path.c_str(), options, &planned)));
    EXPECT_EQ(it_model_plan_warning_count(planned), 0u);
    EXPECT_TRUE(IsInvalid(it_model_tune(planned, tune, &plan), "loaded with a plan"));
  }
}

TEST(CModel, ADeviceThatIsNotHereIsAnError) {
  Options options;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  EXPECT_TRUE(IsInvalid(it_model_options_set_device(options, "vga"), "there is no device 'vga'"));
  EXPECT_TRUE(IsOk(it_model_options_set_device(options, nullptr)));
  EXPECT_TRUE(IsOk(it_model_options_set_device(options, "")));
#ifndef INTAGLIO_HAS_CUDA
  EXPECT_TRUE(Fails(it_model_options_set_device(options, "cuda"), IT_UNSUPPORTED,
                    "cuda: this build does not have it"));
#endif
  Model model;
  EXPECT_TRUE(IsOk(it_model_load_file((kDigits + "digits.tflite").c_str(), options, &model)));
}

TEST(CModel, LimitsOfATuning) {
  Model model;
  EXPECT_TRUE(IsOk(it_model_load_file((kDigits + "digits.tflite").c_str(), nullptr, &model)));
  TuneOptions tune;
  EXPECT_TRUE(IsOk(it_tune_options_create(&tune)));
  EXPECT_TRUE(IsInvalid(it_tune_options_set_seconds(tune, -1), "seconds"));
  EXPECT_TRUE(IsInvalid(it_tune_options_set_seconds(tune, std::nan("")), "seconds"));
  EXPECT_TRUE(IsInvalid(it_tune_options_set_allow_float32(tune, 2), "value is 0 or 1"));
  EXPECT_TRUE(IsInvalid(it_tune_options_set_max_error(tune, -0.1), "share"));
  EXPECT_TRUE(IsInvalid(it_tune_options_set_max_error(tune, std::nan("")), "share"));
  EXPECT_TRUE(IsOk(it_tune_options_set_seconds(tune, 0)));
  Plan plan;
  EXPECT_TRUE(IsOk(it_tune_options_set_max_bytes(tune, 1)));
  EXPECT_TRUE(Fails(it_model_tune(model, tune, &plan), IT_UNSUPPORTED, "within 1 bytes"));
  EXPECT_TRUE(IsOk(it_tune_options_set_max_bytes(tune, 0)));
  EXPECT_TRUE(IsOk(it_tune_options_set_max_error(tune, 0)));
  EXPECT_TRUE(
      IsInvalid(it_model_tune(model, tune, &plan), "max_error needs allow_float32 or ranges"));
  // No difference is allowed: layers compute in float32 only if that gives the same outputs.
  EXPECT_TRUE(IsOk(it_tune_options_set_allow_float32(tune, 1)));
  EXPECT_TRUE(IsOk(it_model_tune(model, tune, &plan)));
  const std::string text = it_plan_text(plan);
  EXPECT_TRUE(text.find("\"bounded\": true") == std::string::npos ||
              text.find("\"relative\": 0.0\n") != std::string::npos)
      << text;
}

// digits.tflite has integers alone.
TEST(CModel, RangesOfATuning) {
  Model model;
  EXPECT_TRUE(IsOk(it_model_load_file((kDigits + "digits.tflite").c_str(), nullptr, &model)));
  TuneOptions tune;
  EXPECT_TRUE(IsOk(it_tune_options_create(&tune)));
  EXPECT_TRUE(IsOk(it_tune_options_set_seconds(tune, 0)));
  const std::string text = R"({"format": "intaglio-ranges-1", "ranges": {"nobody": [0, 1]}})";
  EXPECT_TRUE(IsInvalid(it_tune_options_set_ranges(tune, nullptr, 4), "text is null"));
  EXPECT_TRUE(IsInvalid(it_tune_options_set_ranges(tune, "{", 1), "the ranges are no JSON"));
  EXPECT_TRUE(IsOk(it_tune_options_set_ranges(tune, text.data(), text.size())));
  EXPECT_TRUE(IsOk(it_tune_options_set_max_error(tune, 1)));
  Plan plan;
  EXPECT_TRUE(IsInvalid(it_model_tune(model, tune, &plan), "'nobody' fits no activation"));
  EXPECT_TRUE(IsOk(it_tune_options_set_ranges(tune, nullptr, 0)));
  EXPECT_TRUE(IsInvalid(it_model_tune(model, tune, &plan), "max_error needs"));
}

TEST(CModel, ATuningOnInputsThatAreGiven) {
  Model model;
  EXPECT_TRUE(IsOk(it_model_load_file((kDigits + "digits.tflite").c_str(), nullptr, &model)));
  TuneOptions tune;
  EXPECT_TRUE(IsOk(it_tune_options_create(&tune)));
  EXPECT_TRUE(IsOk(it_tune_options_set_seconds(tune, 0)));
  std::vector<int8_t> image(it_tensor_bytes(it_model_input(model, 0)), 3);
  EXPECT_TRUE(IsInvalid(it_tune_options_set_input(tune, 0, nullptr, 4), "data is null"));
  EXPECT_TRUE(IsInvalid(it_tune_options_set_input(tune, SIZE_MAX, image.data(), 4), "no input"));
  EXPECT_TRUE(IsOk(it_tune_options_set_input(tune, 0, image.data(), image.size())));
  Plan plan;
  EXPECT_TRUE(IsOk(it_model_tune(model, tune, &plan)));
  // What is given reaches the tuner, which checks it.
  EXPECT_TRUE(IsOk(it_tune_options_set_input(tune, 0, image.data(), 3)));
  EXPECT_TRUE(IsInvalid(it_model_tune(model, tune, &plan), "input 0 has 3 bytes"));
  EXPECT_TRUE(IsOk(it_tune_options_set_input(tune, 0, nullptr, 0)));
  EXPECT_TRUE(IsOk(it_model_tune(model, tune, &plan)));
  EXPECT_TRUE(IsOk(it_tune_options_set_input(tune, 1, image.data(), 1)));
  EXPECT_TRUE(IsInvalid(it_model_tune(model, tune, &plan), "more inputs than"));
}

TEST(CModel, APlanThatDoesNotFitIsAWarningOrAnError) {
  const std::string path = kDigits + "digits.tflite";
  Model model;
  EXPECT_TRUE(IsOk(it_model_load_file(path.c_str(), nullptr, &model)));
  Plan plan;
  TuneOptions tune;
  EXPECT_TRUE(IsOk(it_tune_options_create(&tune)));
  EXPECT_TRUE(IsOk(it_tune_options_set_seconds(tune, 0)));
  EXPECT_TRUE(IsOk(it_model_tune(model, tune, &plan)));
  std::string text = it_plan_text(plan);
  const std::string here = "\"threads\": 1,\n \"untuned_ns\"";
  ASSERT_NE(text.find(here), std::string::npos);
  text.replace(text.find(here), here.size(), "\"threads\": 7,\n \"untuned_ns\"");
  Options options;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  const auto load = [&](const std::string& plan_text, int strict) {
    EXPECT_TRUE(
        IsOk(it_model_options_set_plan(options, plan_text.data(), plan_text.size(), strict)));
    return Answer(it_model_load_file(path.c_str(), options, &model));
  };
  EXPECT_TRUE(IsOk(load(text, 0)));
  ASSERT_EQ(it_model_plan_warning_count(model), 1u);
  EXPECT_NE(std::string(it_model_plan_warning(model, 0)).find("7 threads"), std::string::npos);
  EXPECT_EQ(it_model_plan_warning(model, 1), nullptr);
  EXPECT_TRUE(IsInvalid(load(text, 1), "7 threads"));
  EXPECT_TRUE(IsInvalid(load("{", 0), "the plan is no JSON"));
  EXPECT_TRUE(IsOk(load("", 1)));
  EXPECT_TRUE(IsInvalid(it_model_options_set_plan(options, nullptr, 1, 0), "text is null"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_plan(options, "", 0, 2), "strict"));
}

TEST(CModel, ConstantsThatDoNotFitAreErrors) {
  const auto set = [](it_model_options* options, const char* name, it_type type, size_t bytes) {
    static const int32_t dims[] = {1};
    static const int64_t axis = 1;
    return it_model_options_set_constant(options, name, type, dims, 1, &axis, bytes);
  };
  Options options;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  EXPECT_TRUE(IsInvalid(set(options, nullptr, IT_INT64, 8), "name is null"));
  EXPECT_TRUE(IsInvalid(set(options, "axes", 99, 8), "99"));
  EXPECT_TRUE(IsInvalid(set(options, "axes", IT_INT64, 4), "data has 4 bytes"));
  EXPECT_TRUE(IsInvalid(
      it_model_options_set_constant(options, "axes", IT_INT64, nullptr, 1, nullptr, 0), "dims"));
  EXPECT_TRUE(IsInvalid(
      it_model_options_set_constant(options, "axes", IT_INT64, nullptr, 0, nullptr, 8), "data"));
  EXPECT_TRUE(IsInvalid(
      it_model_options_set_constant(options, "axes", IT_INT64, nullptr, 65, nullptr, 0), "65"));
  const int32_t negative[] = {-1};
  EXPECT_FALSE(
      Answer(it_model_options_set_constant(options, "axes", IT_INT64, negative, 1, nullptr, 0))
          .message.empty());
  EXPECT_TRUE(IsOk(set(options, "axes", IT_INT64, 8)));
  EXPECT_TRUE(IsInvalid(set(options, "axes", IT_INT64, 8), "given twice"));
  Model model;
  EXPECT_TRUE(IsInvalid(it_model_load_file((kDigits + "digits.tflite").c_str(), options, &model),
                        "no input 'axes'"));
}

TEST(CModel, RunsInTheCallersPool) {
  const auto pool = [](void* parts, int n, void (*task)(void*, int), void* arg) {
    for (int i = n - 1; i >= 0; --i) task(arg, i);
    *static_cast<int*>(parts) += n;
  };
  const Digits digits;
  Options options;
  int parts = 0;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  EXPECT_TRUE(IsOk(it_model_options_set_pool(options, 3, pool, &parts)));
  Loaded loaded(options);
  EXPECT_GT(parts, 0);  // layers were prepared in it
  std::vector<uint8_t> scores;
  EXPECT_TRUE(IsOk(loaded.Run(digits.Image(0), scores)));
  EXPECT_EQ(scores, digits.Scores(0));
}

TEST(CModel, LimitsAreKept) {
  const std::string path = kDigits + "digits.tflite";
  Model model;
  Options options;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  EXPECT_TRUE(IsOk(it_model_options_set_max_work(options, 10)));
  EXPECT_FALSE(IsOk(it_model_load_file(path.c_str(), options, &model)));
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  EXPECT_TRUE(IsOk(it_model_options_set_max_bytes(options, 100)));
  EXPECT_TRUE(Fails(it_model_load_file(path.c_str(), options, &model), IT_OUT_OF_MEMORY, "100"));
  EXPECT_EQ(model, nullptr);
}

TEST(CModel, RefusesBadFilesAndOptions) {
  Model model;
  Options options;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  EXPECT_TRUE(
      Fails(it_model_load_file("/no/such.tflite", nullptr, &model), IT_IO_ERROR, "/no/such"));
  EXPECT_TRUE(IsInvalid(it_model_load_file(nullptr, nullptr, &model), "path is null"));
  EXPECT_TRUE(IsInvalid(it_model_load_bytes(nullptr, 3, nullptr, nullptr, &model), "data is null"));
  EXPECT_TRUE(IsInvalid(it_model_load_bytes("abc", 3, "abc", nullptr, &model), "abc"));
  EXPECT_TRUE(IsInvalid(it_model_load_bytes("abc", 0, nullptr, nullptr, &model), "model"));
  std::vector<uint8_t> cut = ReadFile(kDigits + "digits.tflite");
  cut.resize(cut.size() / 2);
  EXPECT_TRUE(
      IsInvalid(it_model_load_bytes(cut.data(), cut.size(), "cut", nullptr, &model), "cut"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_threads(options, 0), "0 threads"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_pool(options, 2, nullptr, nullptr), "parallel_for"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_max_work(options, -1), "-1"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_max_rounds(options, -1), "-1"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_flag(options, 8, 1), "no flag 8"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_flag(options, IT_COPY_FILE, 2), "not 2"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_input_shape(options, 0, nullptr, 2), "dims is null"));
  EXPECT_TRUE(IsInvalid(it_model_options_set_input_shape(options, SIZE_MAX, nullptr, 0), "input"));
  const int32_t dims[65] = {};
  EXPECT_TRUE(IsInvalid(it_model_options_set_input_shape(options, 0, dims, 65), "rank 65"));
  EXPECT_TRUE(IsOk(it_model_options_set_kernel(options, "none")));
  EXPECT_TRUE(IsInvalid(it_model_load_file((kDigits + "digits.tflite").c_str(), options, &model),
                        "kernel none"));
  EXPECT_EQ(model, nullptr);
}

TEST(CSession, BoundBuffersAreUsedInPlace) {
  const Digits digits;
  Loaded loaded;
  it_session* const session = loaded.session;
  std::vector<uint8_t> image(digits.Image(1), digits.Image(1) + kPixels);
  std::vector<uint8_t> scores(kClasses);
  EXPECT_TRUE(IsOk(it_session_bind_input(session, 0, image.data(), kPixels, IT_INT8)));
  EXPECT_TRUE(IsOk(it_session_bind_output(session, 0, scores.data(), kClasses, IT_INT8)));
  EXPECT_EQ(it_session_input_data(session, 0), image.data());
  EXPECT_TRUE(IsOk(it_session_run_bound(session)));
  EXPECT_EQ(scores, digits.Scores(1));
  EXPECT_TRUE(IsInvalid(loaded.Run(image.data(), scores), "bound"));
  EXPECT_TRUE(IsOk(it_session_bind_input(session, 0, nullptr, 0, IT_INT8)));
  EXPECT_TRUE(IsOk(it_session_bind_output(session, 0, nullptr, 0, IT_INT8)));
  std::memcpy(it_session_input_data(session, 0), digits.Image(2), kPixels);
  EXPECT_TRUE(IsOk(it_session_run_bound(session)));
  EXPECT_EQ(std::memcmp(it_session_output_data(session, 0), digits.Scores(2).data(), kClasses), 0);
  EXPECT_EQ(it_session_input_data(session, 1), nullptr);
  EXPECT_EQ(it_session_output_data(session, 1), nullptr);
  EXPECT_TRUE(IsInvalid(it_session_bind_input(session, 1, image.data(), 1, IT_INT8), "no input 1"));
  EXPECT_TRUE(IsInvalid(it_session_bind_output(session, 0, scores.data(), 1, IT_INT8), "10 bytes"));
  EXPECT_TRUE(IsInvalid(it_session_bind_input(session, 0, image.data(), kPixels, 9), "no type 9"));
  EXPECT_TRUE(IsInvalid(it_session_bind_output(session, 0, scores.data(), 10, -1), "no type -1"));
}

TEST(CSession, RefusesBadBuffers) {
  const Digits digits;
  Loaded loaded;
  it_session* const session = loaded.session;
  std::vector<uint8_t> scores(kClasses);
  EXPECT_EQ(Answer(it_session_run(session)).code, IT_INVALID_ARGUMENT);  // there are no buffers
  EXPECT_TRUE(IsOk(it_session_set_input(session, 0, digits.Image(0), kPixels - 1, IT_INT8)));
  EXPECT_TRUE(IsOk(it_session_set_output(session, 0, scores.data(), kClasses, IT_INT8)));
  EXPECT_TRUE(IsInvalid(it_session_run(session), "64 bytes"));
  EXPECT_TRUE(IsOk(it_session_set_input(session, 0, digits.Image(0), kPixels, IT_UINT8)));
  EXPECT_TRUE(IsInvalid(it_session_run(session), "uint8"));
  EXPECT_TRUE(IsOk(it_session_set_input(session, 0, nullptr, kPixels, IT_INT8)));
  EXPECT_TRUE(IsInvalid(it_session_run(session), "null"));
  EXPECT_TRUE(IsInvalid(it_session_set_input(session, 1, nullptr, 0, IT_INT8), "no input 1"));
  EXPECT_TRUE(IsInvalid(it_session_set_output(session, 1, nullptr, 0, IT_INT8), "no output 1"));
  EXPECT_TRUE(IsInvalid(it_session_set_input(session, 0, nullptr, 0, 8), "no type 8"));
  EXPECT_TRUE(IsOk(loaded.Run(digits.Image(0), scores)));
}

TEST(CSession, TakesAnotherShape) {
  const Digits digits;
  Loaded loaded;
  it_session* const session = loaded.session;
  std::vector<int32_t> dims;
  for (size_t i = 0; i < it_tensor_rank(it_session_input(session, 0)); ++i) {
    dims.push_back(it_tensor_dim(it_session_input(session, 0), i));
  }
  dims[0] = 3;
  EXPECT_TRUE(IsOk(it_session_set_profiling(session, 1)));
  EXPECT_TRUE(IsOk(it_session_set_input_shape(session, 0, dims.data(), dims.size())));
  EXPECT_TRUE(IsOk(it_session_resize(session)));
  EXPECT_EQ(it_tensor_dim(it_session_input(session, 0), 0), 3);
  EXPECT_EQ(it_tensor_bytes(it_session_output(session, 0)), 3 * kClasses);
  EXPECT_EQ(it_tensor_dim(it_model_input(loaded.model, 0), 0), 1);
  std::vector<uint8_t> scores;
  EXPECT_TRUE(IsOk(loaded.Run(digits.Image(0), scores, 3)));
  EXPECT_EQ(std::vector<uint8_t>(scores.begin() + 20, scores.end()), digits.Scores(2));
  const auto time = [&] {
    int64_t sum = 0;
    for (size_t i = 0; i < it_session_layer_count(session); ++i) {
      sum += it_session_layer_nanoseconds(session, i);
    }
    return sum;
  };
  EXPECT_GT(time(), 0);
  Session shared;
  EXPECT_TRUE(IsOk(it_session_share(session, &shared)));
  EXPECT_EQ(it_tensor_dim(it_session_input(shared, 0), 0), 3);

  dims[0] = -1;
  EXPECT_TRUE(IsOk(it_session_set_input_shape(session, 0, dims.data(), dims.size())));
  EXPECT_EQ(Answer(it_session_resize(session)).code, IT_INVALID_ARGUMENT);
  EXPECT_TRUE(IsOk(it_session_resize(session)));  // no shape is named any more
  EXPECT_EQ(time(), 0);                           // its layers have not run yet
  EXPECT_TRUE(IsOk(loaded.Run(digits.Image(0), scores, 3)));
  EXPECT_TRUE(IsInvalid(it_session_set_input_shape(session, 1, dims.data(), 1), "no input 1"));
  EXPECT_TRUE(IsInvalid(it_session_set_input_shape(session, 0, nullptr, 1), "dims is null"));

  Options options;
  dims[0] = 2;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  EXPECT_TRUE(IsOk(it_model_options_set_input_shape(options, 0, dims.data(), dims.size())));
  const Loaded read_so(options);
  EXPECT_EQ(it_tensor_dim(it_model_input(read_so.model, 0), 0), 2);
}

TEST(CSession, MeasuresLayers) {
  const Digits digits;
  Loaded loaded;
  std::vector<uint8_t> scores;
  EXPECT_TRUE(IsOk(it_session_warm_up(loaded.session)));
  EXPECT_TRUE(IsOk(it_session_reset_state(loaded.session)));
  EXPECT_TRUE(IsOk(loaded.Run(digits.Image(0), scores)));
  EXPECT_EQ(it_session_layer_nanoseconds(loaded.session, 0), 0);
  EXPECT_TRUE(IsOk(it_session_set_profiling(loaded.session, 1)));
  EXPECT_TRUE(IsOk(loaded.Run(digits.Image(0), scores)));
  const size_t layers = it_session_layer_count(loaded.session);
  int64_t time = 0;
  for (size_t i = 0; i < layers; ++i) time += it_session_layer_nanoseconds(loaded.session, i);
  EXPECT_GT(time, 0);
  EXPECT_NE(it_session_layer(loaded.session, 0), nullptr);
  EXPECT_EQ(it_session_layer(loaded.session, layers), nullptr);
  EXPECT_EQ(it_session_layer_nanoseconds(loaded.session, layers), 0);
  EXPECT_TRUE(IsInvalid(it_session_set_profiling(loaded.session, 2), "2"));
  EXPECT_TRUE(IsOk(it_session_set_profiling(loaded.session, 0)));
  EXPECT_EQ(it_session_layer_nanoseconds(loaded.session, 0), 0);
}

TEST(CSession, SeveralRunAtOnce) {
  const Digits digits;
  Loaded loaded;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Session session;
      EXPECT_TRUE(IsOk(it_session_create(loaded.model, &session)));
      std::vector<uint8_t> scores(kClasses);
      EXPECT_TRUE(IsOk(it_session_set_output(session, 0, scores.data(), kClasses, IT_INT8)));
      for (size_t i = t; i < 100; i += 4) {
        EXPECT_TRUE(IsOk(it_session_set_input(session, 0, digits.Image(i), kPixels, IT_INT8)));
        EXPECT_TRUE(IsOk(it_session_run(session)));
        EXPECT_EQ(scores, digits.Scores(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CSession, Verifies) {
  const Digits digits;
  Loaded loaded;
  int32_t combinations = -1;
  EXPECT_EQ(Answer(it_session_verify(loaded.session, 2, &combinations)).code, IT_INVALID_ARGUMENT);
  EXPECT_TRUE(IsOk(it_session_set_input(loaded.session, 0, digits.Image(0), kPixels, IT_INT8)));
  EXPECT_TRUE(IsOk(it_session_verify(loaded.session, 2, &combinations)));
  int32_t with_one = 0;
  EXPECT_TRUE(IsOk(it_session_verify(loaded.session, 1, &with_one)));
  const int32_t kernels = combinations - with_one;  // each once more, with two threads
  EXPECT_GE(kernels, 1);
  EXPECT_GE(with_one - kernels, 2);  // and some routines
  EXPECT_TRUE(IsOk(it_session_verify(loaded.session, 1, nullptr)));
  EXPECT_TRUE(IsInvalid(it_session_verify(loaded.session, 0, nullptr), "max_threads is 0"));
  EXPECT_TRUE(IsInvalid(it_session_verify(loaded.session, 65, nullptr), "max_threads is 65"));
}

}  // namespace
}  // namespace intaglio::test
