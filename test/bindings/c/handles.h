// Handles of the C interface that destroy themselves, and answers that tests compare.
#ifndef INTAGLIO_TEST_BINDINGS_C_HANDLES_H_
#define INTAGLIO_TEST_BINDINGS_C_HANDLES_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "intaglio/bindings/c/intaglio.h"

namespace intaglio::test {

template <class Handle, void (*kDestroy)(Handle*)>
struct Owned {
  Owned() = default;
  ~Owned() { kDestroy(handle); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Handle*() const { return handle; }
  // To be written to.
  Handle** operator&() {
    kDestroy(handle);
    handle = nullptr;
    return &handle;
  }
  Handle* handle = nullptr;
};

using Kernels = Owned<it_kernels, it_kernels_destroy>;
using Context = Owned<it_context, it_context_destroy>;
using Matrix = Owned<it_matrix, it_matrix_destroy>;
using Weights = Owned<it_weights, it_weights_destroy>;
using Pipeline = Owned<it_pipeline, it_pipeline_destroy>;
using Product = Owned<it_product, it_product_destroy>;
using Description = Owned<it_description, it_description_destroy>;
using Options = Owned<it_model_options, it_model_options_destroy>;
using Model = Owned<it_model, it_model_destroy>;
using Plan = Owned<it_plan, it_plan_destroy>;
using TuneOptions = Owned<it_tune_options, it_tune_options_destroy>;
using QuantizeOptions = Owned<it_quantize_options, it_quantize_options_destroy>;
using Quantized = Owned<it_quantized, it_quantized_destroy>;
using Session = Owned<it_session, it_session_destroy>;

// What a call answered. Ends the status.
struct Answer {
  Answer(it_status* status)  // NOLINT: implicit
      : code(it_status_code(status)), message(it_status_message(status)) {
    it_status_destroy(status);
  }
  int32_t code;
  std::string message;
};

inline testing::AssertionResult IsOk(const Answer& answer) {
  if (answer.code == IT_OK) return testing::AssertionSuccess();
  return testing::AssertionFailure() << answer.code << ": " << answer.message;
}

// The code, and that the message has these words.
inline testing::AssertionResult Fails(const Answer& answer, int32_t code,
                                      const std::string& words) {
  if (answer.code == code && answer.message.find(words) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << answer.code << ": " << answer.message;
}
inline testing::AssertionResult IsInvalid(const Answer& answer, const std::string& words) {
  return Fails(answer, IT_INVALID_ARGUMENT, words);
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_BINDINGS_C_HANDLES_H_
