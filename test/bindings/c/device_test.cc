// A device through the C interface. The host plays it (test/cuda/host_device.cc).
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/test/bindings/c/handles.h"

namespace intaglio::test {
namespace {

const std::string kFile = INTAGLIO_SOURCE_DIR "/examples/digits/digits.tflite";
constexpr size_t kPixels = 64;
constexpr size_t kClasses = 10;
const char* const kRoutine = "cuda:qint8/gemm";

std::vector<uint8_t> ScoresOf(const it_model* model) {
  std::vector<uint8_t> image(kPixels);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(i * 37);
  std::vector<uint8_t> scores(kClasses);
  Session session;
  EXPECT_TRUE(IsOk(it_session_create(model, &session)));
  EXPECT_TRUE(IsOk(it_session_set_input(session, 0, image.data(), image.size(), IT_INT8)));
  EXPECT_TRUE(IsOk(it_session_set_output(session, 0, scores.data(), scores.size(), IT_INT8)));
  EXPECT_TRUE(IsOk(it_session_run(session)));
  return scores;
}

// The plan with one layer on the device.
std::string WithLayerOnDevice(const std::string& plan, size_t layer, const std::string& name) {
  const std::string way = R"(", "kernel": "", "threads": 0, "ns": 1})";
  return plan.substr(0, plan.find("\"layers\":")) +
         R"("device": "cuda: the host", "layers": [{"layer": )" + std::to_string(layer) +
         R"(, "operator": ")" + name +
         R"(", "label": "", "schema": "cuda:qint8", "bounded": false, "noise": 0, "chosen": )" +
         R"({"routine": ")" + kRoutine + way + R"(, "untuned": {"routine": ")" + way + "}]}";
}

size_t FindDense(const it_model* model) {
  for (size_t i = 0; i < it_model_layer_count(model); ++i) {
    if (it_layer_operator(it_model_layer(model, i)) == std::string("FULLY_CONNECTED")) return i;
  }
  ADD_FAILURE() << "there is no dense layer";
  return 0;
}

TEST(CDevice, IsTunedForAndTakenByPlans) {
  Options options;
  EXPECT_TRUE(IsOk(it_model_options_create(&options)));
  EXPECT_TRUE(IsOk(it_model_options_set_device(options, "cuda")));
  Model model;
  EXPECT_TRUE(IsOk(it_model_load_file(kFile.c_str(), options, &model)));
  TuneOptions tune;
  EXPECT_TRUE(IsOk(it_tune_options_create(&tune)));
  EXPECT_TRUE(IsOk(it_tune_options_set_seconds(tune, 0)));
  Plan plan;
  EXPECT_TRUE(IsOk(it_model_tune(model, tune, &plan)));
  const std::string text = it_plan_text(plan);
  EXPECT_NE(text.find("\"name\": \"cuda\""), text.npos) << text;  // a network that was compared
  const size_t dense = FindDense(model);
  const std::string on_device =
      WithLayerOnDevice(text, dense, it_layer_operator(it_model_layer(model, dense)));
  EXPECT_TRUE(IsOk(it_model_options_set_plan(options, on_device.data(), on_device.size(), 1)));
  Model planned;
  EXPECT_TRUE(IsOk(it_model_load_file(kFile.c_str(), options, &planned)));
  EXPECT_EQ(it_model_plan_warning_count(planned), 0u);
  EXPECT_EQ(it_layer_routine(it_model_layer(planned, dense)), std::string(kRoutine));
  EXPECT_EQ(ScoresOf(planned), ScoresOf(model));
  // Without the device, the layer runs on the CPU, or the plan is refused.
  EXPECT_TRUE(IsOk(it_model_options_set_device(options, nullptr)));
  EXPECT_TRUE(IsInvalid(it_model_load_file(kFile.c_str(), options, &planned), "there is none"));
  EXPECT_TRUE(IsOk(it_model_options_set_plan(options, on_device.data(), on_device.size(), 0)));
  EXPECT_TRUE(IsOk(it_model_load_file(kFile.c_str(), options, &planned)));
  EXPECT_GT(it_model_plan_warning_count(planned), 0u);
  EXPECT_EQ(ScoresOf(planned), ScoresOf(model));
}

}  // namespace
}  // namespace intaglio::test
