// Where in the result a vector of accumulators stands.
#ifndef INTAGLIO_PIPELINE_PLACE_H_
#define INTAGLIO_PIPELINE_PLACE_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

// The place of lane 0; the other lanes follow in the direction `along`: along kCols, lane i is at
// column col + i of the same row.
struct Place {
  int row;
  int col;
  Axis along;
};

// values[i] for every lane, i being the lane's index along `axis`. Reads R::kLanes values, or one.
template <class R>
INTAGLIO_INLINE typename R::I32 LoadAlong(const int32_t* values, Axis axis, const Place& at) {
  const int32_t* p = values + (axis == Axis::kRows ? at.row : at.col);
  if (axis == at.along) [[likely]]
    return R::Load(p);
  return R::Set(*p);
}
template <class R>
INTAGLIO_INLINE typename R::F32 LoadAlong(const float* values, Axis axis, const Place& at) {
  const float* p = values + (axis == Axis::kRows ? at.row : at.col);
  if (axis == at.along) [[likely]]
    return R::LoadF(p);
  return R::SetF(*p);
}

}  // namespace intaglio

#endif  // INTAGLIO_PIPELINE_PLACE_H_
