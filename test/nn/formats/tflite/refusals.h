// Files that are refused, each made from a right one.
#ifndef INTAGLIO_TEST_NN_FORMATS_TFLITE_REFUSALS_H_
#define INTAGLIO_TEST_NN_FORMATS_TFLITE_REFUSALS_H_

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/test/nn/formats/tflite/exercise.h"

namespace intaglio::nn::test {

struct RefusalCase {
  const char* what;
  ModelSpec (*base)();
  std::function<void(ModelSpec&)> harm;
  const char* message;  // a part of the error
};

// How a failing case prints.
inline void PrintTo(const RefusalCase& c, std::ostream* out) { *out << c.what; }

inline void ExpectRefusal(const RefusalCase& c) {
  ModelSpec spec = c.base();
  c.harm(spec);
  const std::string error = Exercise(Build(spec));
  EXPECT_TRUE(Says(error, c.message)) << "the error is: " << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_FORMATS_TFLITE_REFUSALS_H_
