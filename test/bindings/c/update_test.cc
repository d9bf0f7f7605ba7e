// Other constants and quantizations for a session, through the C interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "intaglio/test/bindings/c/handles.h"

namespace intaglio::test {
namespace {

const std::string kDigits = INTAGLIO_SOURCE_DIR "/examples/digits/digits.tflite";
constexpr size_t kClasses = 10;

struct Loaded {
  Loaded() {
    EXPECT_TRUE(IsOk(it_model_options_create(&options)));
    EXPECT_TRUE(IsOk(it_model_options_set_flag(options, IT_KEEP_TENSORS, 1)));
    EXPECT_TRUE(IsOk(it_model_load_file(kDigits.c_str(), options, &model)));
    EXPECT_TRUE(IsOk(it_session_create(model, &session)));
  }
  // The scores of a blank image.
  std::vector<int8_t> Run(it_session* of) const {
    const std::vector<int8_t> image(64);
    std::vector<int8_t> scores(kClasses);
    EXPECT_TRUE(IsOk(it_session_set_input(of, 0, image.data(), image.size(), IT_INT8)));
    EXPECT_TRUE(IsOk(it_session_set_output(of, 0, scores.data(), scores.size(), IT_INT8)));
    EXPECT_TRUE(IsOk(it_session_run(of)));
    return scores;
  }
  // The only tensor of this type and shape.
  size_t Find(it_type type, size_t elements) const {
    for (size_t i = 0; i < it_session_tensor_count(session); ++i) {
      const it_tensor* const tensor = it_session_tensor(session, i);
      const size_t last = it_tensor_rank(tensor) - 1;
      if (it_tensor_type(tensor) == type && it_tensor_rank(tensor) == 1 &&
          static_cast<size_t>(it_tensor_dim(tensor, last)) == elements) {
        return i;
      }
    }
    ADD_FAILURE() << "there is no such tensor";
    return 0;
  }
  Options options;
  Model model;
  Session session;
};

TEST(CUpdate, ChangesConstants) {
  Loaded loaded;
  Session other;
  ASSERT_TRUE(IsOk(it_session_create(loaded.model, &other)));
  const std::vector<int8_t> before = loaded.Run(loaded.session);
  const size_t bias = loaded.Find(IT_INT32, kClasses);
  std::vector<int32_t> values(kClasses, -1'000'000);
  values[3] = 1'000'000;
  ASSERT_TRUE(
      IsOk(it_session_set_constant(loaded.session, bias, values.data(), 4 * kClasses, IT_INT32)));
  EXPECT_EQ(loaded.Run(loaded.session), before);
  ASSERT_TRUE(IsOk(it_session_update(loaded.session)));
  const std::vector<int8_t> after = loaded.Run(loaded.session);
  EXPECT_EQ(std::max_element(after.begin(), after.end()) - after.begin(), 3);
  EXPECT_EQ(loaded.Run(other), before);
  EXPECT_EQ(std::memcmp(it_session_tensor_data(loaded.session, bias), values.data(), 4 * kClasses),
            0);
}

TEST(CUpdate, ChangesScales) {
  Loaded loaded;
  const auto logits = [&] {
    // What the last layer reads, if that is a softmax; the output otherwise.
    size_t found = 0;
    for (size_t i = 0; i < it_session_tensor_count(loaded.session); ++i) {
      const it_tensor* const tensor = it_session_tensor(loaded.session, i);
      const bool fits = it_tensor_type(tensor) == IT_INT8 && it_tensor_bytes(tensor) == kClasses;
      if (fits && tensor != it_session_output(loaded.session, 0)) found = i;
    }
    return found;
  }();
  const auto read = [&] {
    const auto* const data =
        static_cast<const int8_t*>(it_session_tensor_data(loaded.session, logits));
    return data == nullptr ? std::vector<int8_t>() : std::vector<int8_t>(data, data + kClasses);
  };
  loaded.Run(loaded.session);
  const std::vector<int8_t> before = read();
  ASSERT_EQ(before.size(), kClasses) << "all tensors are kept";
  const it_tensor* const tensor = it_session_tensor(loaded.session, logits);
  const float scale = it_tensor_scale(tensor, 0) * 2;
  const int32_t zero_point = it_tensor_zero_point(tensor, 0);
  ASSERT_TRUE(IsOk(it_session_set_quantization(loaded.session, logits, &scale, &zero_point, 1, 0)));
  ASSERT_TRUE(IsOk(it_session_update(loaded.session)));
  EXPECT_EQ(it_tensor_scale(it_session_tensor(loaded.session, logits), 0), scale);
  loaded.Run(loaded.session);
  const std::vector<int8_t> after = read();
  for (size_t i = 0; i < kClasses; ++i) {
    EXPECT_NEAR(after[i] - zero_point, (before[i] - zero_point) / 2.0, 0.51) << i;
  }
}

TEST(CUpdate, RefusesWhatDoesNotFit) {
  Loaded loaded;
  const std::vector<int8_t> before = loaded.Run(loaded.session);
  const size_t bias = loaded.Find(IT_INT32, kClasses);
  const int32_t number = 1;
  EXPECT_TRUE(IsInvalid(it_session_set_constant(loaded.session, 999, &number, 4, IT_INT32),
                        "there is no tensor 999"));
  EXPECT_TRUE(
      IsInvalid(it_session_set_constant(loaded.session, bias, &number, 4, IT_FLOAT32), "is int32"));
  EXPECT_TRUE(IsInvalid(it_session_set_constant(loaded.session, bias, nullptr, 4, IT_INT32),
                        "data is null"));
  ASSERT_TRUE(IsOk(it_session_set_constant(loaded.session, bias, &number, 4, IT_INT32)));
  EXPECT_TRUE(IsInvalid(it_session_update(loaded.session), "40 bytes"));
  EXPECT_TRUE(IsOk(it_session_update(loaded.session))) << "it forgets";
  EXPECT_EQ(loaded.Run(loaded.session), before);
}

}  // namespace
}  // namespace intaglio::test
