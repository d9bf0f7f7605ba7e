// The handles of matrices and pipelines, and what the engine takes instead.
#ifndef INTAGLIO_BINDINGS_C_FORMS_H_
#define INTAGLIO_BINDINGS_C_FORMS_H_

#include <cstdint>
#include <vector>

#include "intaglio/bindings/c/intaglio.h"
#include "intaglio/fixedpoint/status.h"
#include "intaglio/pack/matrix.h"
#include "intaglio/pipeline/standard.h"

struct it_matrix {
  intaglio::ConstMatrix view;
  std::vector<int32_t> channel_zero_points;
};

struct it_pipeline {
  intaglio::Axis axis = intaglio::Axis::kCols;
  std::vector<int32_t> bias;
  intaglio::Scaling scaling = intaglio::Scaling::kNone;
  // One of these pairs has the scales, as `scaling` says: 1, or one for each channel.
  std::vector<int32_t> mantissas;
  std::vector<int32_t> exponents;
  std::vector<float> floats;
  std::vector<double> reals;
  int32_t zero_point = 0;
  int32_t clamp_min = INT32_MIN;
  int32_t clamp_max = INT32_MAX;
};

namespace intaglio::c {

// The integer that stands for a type, checked.
Result<Type> TypeFrom(it_type type);
inline it_type FromType(Type type) { return static_cast<it_type>(type); }

// With data.
ConstMatrix OperandOf(const it_matrix& matrix, const void* data);
MutableMatrix ResultOf(const it_matrix& matrix, void* data);
// An error for zero points per channel, which only packing takes.
Status CheckNoChannels(const it_matrix& matrix, const char* name);

// Points into `pipeline`. Checks how many values the arrays have. The engine checks the values.
Result<StandardPipeline> StandardOf(const it_pipeline& pipeline, Type output, int rows, int cols);

}  // namespace intaglio::c

#endif  // INTAGLIO_BINDINGS_C_FORMS_H_
