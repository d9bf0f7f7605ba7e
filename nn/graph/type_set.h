// Sets of element types.
#ifndef INTAGLIO_NN_GRAPH_TYPE_SET_H_
#define INTAGLIO_NN_GRAPH_TYPE_SET_H_

#include <cstdint>
#include <string>

#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn {

// Bits 1 << type.
using TypeSet = uint32_t;
constexpr TypeSet SetOf(Type type) { return TypeSet{1} << static_cast<unsigned>(type); }
inline constexpr TypeSet kAnyType = ~TypeSet{0};

std::string ListTypes(TypeSet types);  // "int8, uint8", or "any"

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_TYPE_SET_H_
