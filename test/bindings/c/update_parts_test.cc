// What a session keeps for its next update, which the C interface does not show.
#include <gtest/gtest.h>

#include <cstdint>

#include "intaglio/bindings/c/model.h"
#include "intaglio/test/bindings/c/handles.h"

namespace intaglio::test {
namespace {

// An update without contents would prepare the tensor's layers again, for nothing.
TEST(CUpdateParts, KeepNothingOfCallsThatFail) {
  Model model;
  Session session;
  ASSERT_TRUE(IsOk(
      it_model_load_file(INTAGLIO_SOURCE_DIR "/examples/digits/digits.tflite", nullptr, &model)));
  ASSERT_TRUE(IsOk(it_session_create(model, &session)));
  const auto& updates = session.handle->updates;
  size_t bias = 0;
  while (it_tensor_type(it_session_tensor(session, bias)) != IT_INT32) ++bias;
  const float number = 1;
  const int32_t zero = 0;
  EXPECT_TRUE(
      IsInvalid(it_session_set_constant(session, bias, &number, 4, IT_FLOAT32), "is int32"));
  EXPECT_TRUE(updates.empty());

  // What was named before stays.
  ASSERT_TRUE(IsOk(it_session_set_quantization(session, bias, &number, &zero, 1, 0)));
  EXPECT_FALSE(IsOk(it_session_set_constant(session, bias, &number, 4, IT_FLOAT32)));
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(updates[0].data, nullptr);
  ASSERT_TRUE(updates[0].quantization.has_value());
  EXPECT_EQ(updates[0].quantization->scales.size(), 1u);
}

}  // namespace
}  // namespace intaglio::test
