// Indices that are data: they are checked in each run, before anything is read there.
#ifndef INTAGLIO_NN_OPS_SUPPORT_INDICES_H_
#define INTAGLIO_NN_OPS_SUPPORT_INDICES_H_

#include <cstdint>
#include <string>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The place that an index names, which exists only in [0, extent). Negative indices may count from
// the end.
inline int64_t PlaceOf(int64_t index, int64_t extent, bool from_end) {
  return from_end && index < 0 ? index + extent : index;
}

inline bool Exists(int64_t place, int64_t extent) { return place >= 0 && place < extent; }

inline Status NoSuchIndex(int64_t index, int64_t extent, bool from_end = false) {
  return InvalidArgument("the index " + std::to_string(index) + " is not in [" +
                         std::to_string(from_end ? -extent : 0) + ", " + std::to_string(extent) +
                         ")");
}

// The type is int16, int32 or int64.
inline Status CheckIndexType(const LayerView& layer, Type type) {
  if (type == Type::kInt16 || type == Type::kInt32 || type == Type::kInt64) return {};
  return layer.Unsupported(std::string("the indices are ") + NameOf(type) +
                           ", not int16, int32 or int64");
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_INDICES_H_
