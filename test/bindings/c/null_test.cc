// Null handles and pointers: an error or nothing, never a crash.
#include <gtest/gtest.h>

#include <cstdint>

#include "intaglio/test/bindings/c/handles.h"

namespace intaglio::test {
namespace {

#define EXPECT_NULL_IS_INVALID(call) EXPECT_TRUE(IsInvalid(call, "is null")) << #call

// A pool that is never asked.
void NoPool(void*, int, void (*)(void*, int), void*) {}

TEST(CNull, OutIsInvalid) {
  EXPECT_NULL_IS_INVALID(it_kernels_create(nullptr));
  EXPECT_NULL_IS_INVALID(it_context_create(1, nullptr));
  EXPECT_NULL_IS_INVALID(it_context_create_in_pool(1, NoPool, nullptr, nullptr));
  EXPECT_NULL_IS_INVALID(it_matrix_create(IT_INT8, 1, 1, nullptr));
  EXPECT_NULL_IS_INVALID(it_pipeline_create(nullptr));
  EXPECT_NULL_IS_INVALID(it_model_options_create(nullptr));
  EXPECT_NULL_IS_INVALID(it_weights_load("", 0, nullptr));
}

TEST(CNull, HandlesOfTheEngineAreInvalid) {
  const int32_t number = 1;
  const double scale = 1;
  const float scale32 = 1;
  Weights weights;
  Product product;
  Description description;
  EXPECT_NULL_IS_INVALID(it_matrix_set_shape(nullptr, 1, 1));
  EXPECT_NULL_IS_INVALID(it_matrix_set_order(nullptr, 0, 0));
  EXPECT_NULL_IS_INVALID(it_matrix_set_zero_point(nullptr, 0));
  EXPECT_NULL_IS_INVALID(it_matrix_set_channel_zero_points(nullptr, &number, 1));
  EXPECT_NULL_IS_INVALID(it_weights_pack(nullptr, &number, IT_LEFT, nullptr, &weights));
  EXPECT_NULL_IS_INVALID(
      it_weights_pack_cached(nullptr, &number, IT_LEFT, nullptr, "/tmp", &weights, nullptr));
  EXPECT_NULL_IS_INVALID(it_weights_share(nullptr, &weights));
  EXPECT_NULL_IS_INVALID(it_weights_save(nullptr, &weights, 1));
  EXPECT_NULL_IS_INVALID(it_weights_save_file(nullptr, "/tmp/x"));
  EXPECT_NULL_IS_INVALID(it_weights_load(nullptr, 0, &weights));
  EXPECT_NULL_IS_INVALID(it_weights_load_in_place(nullptr, 0, nullptr, nullptr, &weights));
  EXPECT_NULL_IS_INVALID(it_weights_load_file(nullptr, &weights));
  EXPECT_NULL_IS_INVALID(it_pipeline_set_axis(nullptr, 0));
  EXPECT_NULL_IS_INVALID(it_pipeline_set_bias(nullptr, &number, 1));
  EXPECT_NULL_IS_INVALID(it_pipeline_set_scales(nullptr, 0, &scale, 1));
  EXPECT_NULL_IS_INVALID(it_pipeline_set_fixed_point(nullptr, 0, &number, &number, 1));
  EXPECT_NULL_IS_INVALID(it_pipeline_set_float_output(nullptr, &scale32, 1));
  EXPECT_NULL_IS_INVALID(it_pipeline_set_zero_point(nullptr, 0));
  EXPECT_NULL_IS_INVALID(it_pipeline_set_clamp(nullptr, 0, 1));
  EXPECT_NULL_IS_INVALID(it_product_create(nullptr, nullptr, nullptr, nullptr, &product));
  EXPECT_NULL_IS_INVALID(it_product_run(nullptr, nullptr, nullptr, nullptr));
  EXPECT_NULL_IS_INVALID(it_product_run_as(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_NULL_IS_INVALID(
      it_multiply(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_NULL_IS_INVALID(it_product_describe(nullptr, nullptr, &description));
}

TEST(CNull, HandlesOfTheRuntimeAreInvalid) {
  const int32_t number = 1;
  int32_t result = 0;
  Session session;
  EXPECT_NULL_IS_INVALID(it_model_options_set_threads(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_model_options_set_pool(nullptr, 1, NoPool, nullptr));
  EXPECT_NULL_IS_INVALID(it_model_options_set_kernel(nullptr, nullptr));
  EXPECT_NULL_IS_INVALID(it_model_options_set_device(nullptr, "cuda"));
  EXPECT_NULL_IS_INVALID(it_model_options_set_max_bytes(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_model_options_set_max_work(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_model_options_set_max_rounds(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_model_options_set_input_shape(nullptr, 0, &number, 1));
  EXPECT_NULL_IS_INVALID(
      it_model_options_set_constant(nullptr, "x", IT_INT32, nullptr, 0, &number, 4));
  EXPECT_NULL_IS_INVALID(it_tune_options_set_seconds(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_tune_options_set_allow_float32(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_tune_options_set_max_error(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_tune_options_set_max_bytes(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_tune_options_set_ranges(nullptr, nullptr, 0));
  EXPECT_NULL_IS_INVALID(it_tune_options_set_input(nullptr, 0, &number, 4));
  it_tune_options_destroy(nullptr);
  EXPECT_NULL_IS_INVALID(it_model_options_set_plan(nullptr, nullptr, 0, 0));
  it_plan* plan = nullptr;
  EXPECT_NULL_IS_INVALID(it_model_tune(nullptr, nullptr, &plan));
  EXPECT_EQ(plan, nullptr);
  it_plan_destroy(nullptr);
  EXPECT_EQ(it_plan_text(nullptr), nullptr);
  EXPECT_EQ(it_plan_bytes(nullptr), 0u);
  EXPECT_EQ(it_plan_untuned_nanoseconds(nullptr), 0);
  EXPECT_EQ(it_plan_tuned_nanoseconds(nullptr), 0);
  EXPECT_EQ(it_model_plan_warning_count(nullptr), 0u);
  EXPECT_EQ(it_model_plan_warning(nullptr, 0), nullptr);
  EXPECT_NULL_IS_INVALID(it_model_options_set_data_folder(nullptr, nullptr));
  EXPECT_NULL_IS_INVALID(it_model_options_set_flag(nullptr, 0, 1));
  EXPECT_NULL_IS_INVALID(it_session_create(nullptr, &session));
  EXPECT_NULL_IS_INVALID(it_session_share(nullptr, &session));
  EXPECT_NULL_IS_INVALID(it_session_warm_up(nullptr));
  EXPECT_NULL_IS_INVALID(it_session_set_input(nullptr, 0, &number, 4, IT_INT32));
  EXPECT_NULL_IS_INVALID(it_session_set_output(nullptr, 0, &result, 4, IT_INT32));
  EXPECT_NULL_IS_INVALID(it_session_run(nullptr));
  EXPECT_NULL_IS_INVALID(it_session_bind_input(nullptr, 0, &number, 4, IT_INT32));
  EXPECT_NULL_IS_INVALID(it_session_bind_output(nullptr, 0, &result, 4, IT_INT32));
  EXPECT_NULL_IS_INVALID(it_session_run_bound(nullptr));
  EXPECT_NULL_IS_INVALID(it_session_reset_state(nullptr));
  EXPECT_NULL_IS_INVALID(it_session_set_input_shape(nullptr, 0, &number, 1));
  EXPECT_NULL_IS_INVALID(it_session_resize(nullptr));
  EXPECT_NULL_IS_INVALID(it_session_set_profiling(nullptr, 1));
  EXPECT_NULL_IS_INVALID(it_session_verify(nullptr, 1, nullptr));
  const float scale = 1;
  EXPECT_NULL_IS_INVALID(it_session_set_constant(nullptr, 0, &number, 4, IT_INT32));
  EXPECT_NULL_IS_INVALID(it_session_set_quantization(nullptr, 0, &scale, &number, 1, 0));
  EXPECT_NULL_IS_INVALID(it_session_update(nullptr));
}

TEST(CNull, DestroyingDoesNothing) {
  it_status_destroy(nullptr);
  it_kernels_destroy(nullptr);
  it_context_destroy(nullptr);
  it_matrix_destroy(nullptr);
  it_weights_destroy(nullptr);
  it_pipeline_destroy(nullptr);
  it_product_destroy(nullptr);
  it_description_destroy(nullptr);
  it_model_options_destroy(nullptr);
  it_model_destroy(nullptr);
  it_session_destroy(nullptr);
}

TEST(CNull, PlainValuesAreNothing) {
  EXPECT_EQ(it_status_code(nullptr), IT_OK);
  EXPECT_STREQ(it_status_message(nullptr), "");
  EXPECT_EQ(it_kernels_count(nullptr), 0u);
  EXPECT_EQ(it_kernels_name(nullptr, 0), nullptr);
  EXPECT_EQ(it_kernels_why_not(nullptr, 0), nullptr);
  EXPECT_EQ(it_context_threads(nullptr), 0);
  EXPECT_EQ(it_context_scratch_bytes(nullptr), 0u);
  EXPECT_EQ(it_weights_side(nullptr), 0);
  EXPECT_EQ(it_weights_rows(nullptr), 0);
  EXPECT_EQ(it_weights_cols(nullptr), 0);
  EXPECT_EQ(it_weights_bytes(nullptr), 0u);
  EXPECT_EQ(it_weights_saved_bytes(nullptr), 0u);
  EXPECT_EQ(it_weights_kernel(nullptr), nullptr);
  EXPECT_EQ(it_description_kernel(nullptr), nullptr);
  EXPECT_EQ(it_description_skipped_count(nullptr), 0u);
  EXPECT_EQ(it_description_skipped(nullptr, 0), nullptr);
  EXPECT_EQ(it_description_text(nullptr), nullptr);
  EXPECT_EQ(it_model_input_count(nullptr), 0u);
  EXPECT_EQ(it_model_output_count(nullptr), 0u);
  EXPECT_EQ(it_model_input(nullptr, 0), nullptr);
  EXPECT_EQ(it_model_output(nullptr, 0), nullptr);
  EXPECT_EQ(it_model_layer_count(nullptr), 0u);
  EXPECT_EQ(it_model_layer(nullptr, 0), nullptr);
  EXPECT_EQ(it_model_arena_bytes(nullptr), 0u);
  EXPECT_EQ(it_model_constant_bytes(nullptr), 0u);
  EXPECT_EQ(it_model_taken_bytes(nullptr), 0u);
  EXPECT_EQ(it_model_max_bytes(nullptr), 0u);
  EXPECT_EQ(it_model_work(nullptr), 0);
  EXPECT_EQ(it_tensor_name(nullptr), nullptr);
  EXPECT_EQ(it_tensor_type(nullptr), 0);
  EXPECT_EQ(it_tensor_rank(nullptr), 0u);
  EXPECT_EQ(it_tensor_dim(nullptr, 0), 0);
  EXPECT_EQ(it_tensor_bytes(nullptr), 0u);
  EXPECT_EQ(it_tensor_scale_count(nullptr), 0u);
  EXPECT_EQ(it_tensor_scale(nullptr, 0), 0);
  EXPECT_EQ(it_tensor_zero_point(nullptr, 0), 0);
  EXPECT_EQ(it_tensor_axis(nullptr), 0);
  EXPECT_EQ(it_layer_label(nullptr), nullptr);
  EXPECT_EQ(it_layer_operator(nullptr), nullptr);
  EXPECT_EQ(it_layer_routine(nullptr), nullptr);
  EXPECT_EQ(it_layer_kernel(nullptr), nullptr);
  EXPECT_EQ(it_layer_macs(nullptr), 0);
  EXPECT_EQ(it_layer_work(nullptr), 0);
  EXPECT_EQ(it_layer_constant_bytes(nullptr), 0u);
  EXPECT_EQ(it_layer_scratch_bytes(nullptr), 0u);
  EXPECT_EQ(it_session_input_count(nullptr), 0u);
  EXPECT_EQ(it_session_output_count(nullptr), 0u);
  EXPECT_EQ(it_session_input(nullptr, 0), nullptr);
  EXPECT_EQ(it_session_output(nullptr, 0), nullptr);
  EXPECT_EQ(it_session_layer_count(nullptr), 0u);
  EXPECT_EQ(it_session_layer(nullptr, 0), nullptr);
  EXPECT_EQ(it_session_arena_bytes(nullptr), 0u);
  EXPECT_EQ(it_session_tensor_count(nullptr), 0u);
  EXPECT_EQ(it_session_tensor(nullptr, 0), nullptr);
  EXPECT_EQ(it_session_tensor_data(nullptr, 0), nullptr);
  EXPECT_EQ(it_session_input_data(nullptr, 0), nullptr);
  EXPECT_EQ(it_session_output_data(nullptr, 0), nullptr);
  EXPECT_EQ(it_session_layer_nanoseconds(nullptr, 0), 0);
}

TEST(CVersion, IsThatOfTheHeader) {
  EXPECT_EQ(it_version(), IT_VERSION);
  EXPECT_EQ(it_abi_version(), IT_ABI_VERSION);
}

}  // namespace
}  // namespace intaglio::test
