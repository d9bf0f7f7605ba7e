// Networks of ONNX are quantized by pairs of layers: DEQUANTIZE stands before an operator of
// float32, and QUANTIZE behind it. This pass finds such groups and makes integer layers of them.
#ifndef INTAGLIO_NN_PASSES_FUSE_QUANTIZATION_H_
#define INTAGLIO_NN_PASSES_FUSE_QUANTIZATION_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// How many layers, or groups of them, it replaced.
struct FusedQuantization {
  size_t moves = 0;             // layers that move elements, or choose the largest, now of integers
  size_t products = 0;          // convolutions and matrix products, now from integers to integers
  size_t real_products = 0;     // the same, from integers to float32
  size_t dynamic_products = 0;  // products with scales that each run tells, now with these scales
  size_t tables = 0;            // functions of one tensor of 8 bits, of any number of layers
  size_t pairs = 0;             // sums, differences and products of two tensors of 8 bits
  size_t real_pairs = 0;        // sums and products of a tensor of 8 bits and one of float32
  size_t identities = 0;        // quantizations of what had been dequantized by the same parameters

  size_t total() const {
    return moves + products + real_products + dynamic_products + tables + pairs + real_pairs +
           identities;
  }
};

// Takes a graph that passed Validate. It looks only at DEQUANTIZE and QUANTIZE layers whose
// numerics have the scaling kFloatHalfEven, and at products whose numerics have kNone. Weights must
// still be dequantized by layers: constants that FoldConstants has made of them are weights of
// float32.
//
// A product that another tensor is added to before it is quantized becomes two layers, as in
//
//   x - DEQUANTIZE - CONV_2D - ADD - QUANTIZE - y     x - CONV_2D - ADD - y
//                    z - DEQUANTIZE -+                          z -+
//
// where CONV_2D has integers and its result is float32.
//
// Compilers write layers of integers as sums of int32, which other layers scale, round, move by a
// zero point and clamp. Such groups become one layer, with the same bits. What rounds otherwise,
// such as sums that the zero point is added to before they are rounded, stays as it is. Functions
// of one tensor of 8 bits become tables if they end with a cast, too.
//
// Moves, tables, pairs and identities keep the bits. Products are computed by the formulas of
// nn/graph/numerics.h, which round less often than float32 sums do. A bias of float32 is rounded to
// a multiple of input scale * weight scale if the output is quantized. What cannot be fused stays
// as it is. That holds for products, too, whose sums could overflow int32.
//
// With ort_fused, sums and products of two tensors of one type follow ONNX Runtime's fused kernels
// instead (QLINEAR_ADD and QLINEAR_MUL), which add the zero point before they round. Those that
// clamp before they quantize do not: ONNX Runtime does not fuse them.
//
// The graph does not know any more how its constants follow from shapes, if it did before
// (Graph::folded_shapes), so that ResizeInputs refuses it. Throws std::bad_alloc.
FusedQuantization FuseQuantization(Graph& graph, bool ort_fused = false);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_FUSE_QUANTIZATION_H_
