// A number that names the interface between a library of custom operators and who loads it: it
// follows from the layouts of all that passes between them.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_INTERFACE_H_
#define INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_INTERFACE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/graph/candidate.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/numerics.h"
#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// A number that depends on each of these and on their order.
constexpr uint64_t Digest(std::initializer_list<uint64_t> numbers) {
  uint64_t digest = 0;
  for (const uint64_t number : numbers) digest = digest * 0x100000001b3 + number + 1;
  return digest;
}

// Where a member lies, and its size. The offsets of two members of one size that change places
// change.
#define INTAGLIO_AT(type, member) Digest({offsetof(type, member), sizeof(type::member)})

// Compilers have offsetof for these types, too, whose layout the standard leaves open.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
inline constexpr uint64_t kCustomOperatorLayout = Digest(
    {sizeof(CustomOperator), INTAGLIO_AT(CustomOperator, name), INTAGLIO_AT(CustomOperator, row),
     INTAGLIO_AT(CustomOperator, read), INTAGLIO_AT(CustomOperator, write)});
inline constexpr uint64_t kOperatorRowLayout =
    Digest({sizeof(OperatorRow), INTAGLIO_AT(OperatorRow, name),
            INTAGLIO_AT(OperatorRow, min_inputs), INTAGLIO_AT(OperatorRow, max_inputs),
            INTAGLIO_AT(OperatorRow, types), INTAGLIO_AT(OperatorRow, infer),
            INTAGLIO_AT(OperatorRow, candidates), INTAGLIO_AT(OperatorRow, remark),
            INTAGLIO_AT(OperatorRow, parameters), INTAGLIO_AT(OperatorRow, forces_float),
            INTAGLIO_AT(OperatorRow, numerics), INTAGLIO_AT(OperatorRow, nested_graphs),
            INTAGLIO_AT(OperatorRow, reads_only_shapes), INTAGLIO_AT(OperatorRow, packing),
            INTAGLIO_AT(OperatorRow, list_bytes), INTAGLIO_AT(OperatorRow, extra_work)});
inline constexpr uint64_t kCandidateLayout =
    Digest({sizeof(Candidate), INTAGLIO_AT(Candidate, algorithm), INTAGLIO_AT(Candidate, prepare),
            INTAGLIO_AT(Candidate, types), INTAGLIO_AT(Candidate, why_not),
            INTAGLIO_AT(Candidate, bounded), INTAGLIO_AT(Candidate, kind),
            INTAGLIO_AT(Candidate, typed_input), INTAGLIO_AT(Candidate, backend),
            INTAGLIO_AT(Candidate, parameters), INTAGLIO_AT(Candidate, extra_bytes),
            INTAGLIO_AT(Candidate, childnet)});
inline constexpr uint64_t kPackingLayout = Digest(
    {sizeof(Packing), INTAGLIO_AT(Packing, matrices), INTAGLIO_AT(Packing, packs_activations),
     INTAGLIO_AT(Packing, to_float32), INTAGLIO_AT(Packing, copies)});
inline constexpr uint64_t kMatrixCountsLayout =
    Digest({sizeof(MatrixCounts), INTAGLIO_AT(MatrixCounts, count),
            INTAGLIO_AT(MatrixCounts, channels), INTAGLIO_AT(MatrixCounts, depth)});
inline constexpr uint64_t kNumericsLayout =
    Digest({sizeof(Numerics), INTAGLIO_AT(Numerics, scaling), INTAGLIO_AT(Numerics, float32_scales),
            INTAGLIO_AT(Numerics, checks_bias_scale), INTAGLIO_AT(Numerics, accumulator),
            INTAGLIO_AT(Numerics, clamp_min), INTAGLIO_AT(Numerics, clamp_max)});
inline constexpr uint64_t kQuantizationLayout =
    Digest({sizeof(Quantization), INTAGLIO_AT(Quantization, scales),
            INTAGLIO_AT(Quantization, zero_points), INTAGLIO_AT(Quantization, axis)});
inline constexpr uint64_t kTensorLayout = Digest(
    {sizeof(Tensor), INTAGLIO_AT(Tensor, name), INTAGLIO_AT(Tensor, type),
     INTAGLIO_AT(Tensor, shape), INTAGLIO_AT(Tensor, quantization), INTAGLIO_AT(Tensor, constant),
     INTAGLIO_AT(Tensor, data), INTAGLIO_AT(Tensor, data_bytes), INTAGLIO_AT(Tensor, owner),
     INTAGLIO_AT(Tensor, variable)});
inline constexpr uint64_t kLayerLayout =
    Digest({sizeof(Layer), INTAGLIO_AT(Layer, op), INTAGLIO_AT(Layer, inputs),
            INTAGLIO_AT(Layer, outputs), INTAGLIO_AT(Layer, label), INTAGLIO_AT(Layer, numerics)});
inline constexpr uint64_t kGraphLayout =
    Digest({sizeof(Graph), INTAGLIO_AT(Graph, name), INTAGLIO_AT(Graph, tensors),
            INTAGLIO_AT(Graph, layers), INTAGLIO_AT(Graph, inputs), INTAGLIO_AT(Graph, outputs),
            INTAGLIO_AT(Graph, folded_shapes)});
inline constexpr uint64_t kLayerOptionsLayout =
    Digest({sizeof(LayerOptions), INTAGLIO_AT(LayerOptions, kernel), INTAGLIO_AT(LayerOptions, fit),
            INTAGLIO_AT(LayerOptions, cold), INTAGLIO_AT(LayerOptions, float_sums),
            INTAGLIO_AT(LayerOptions, winograd_weights), INTAGLIO_AT(LayerOptions, ledger),
            INTAGLIO_AT(LayerOptions, packed), INTAGLIO_AT(LayerOptions, routine),
            INTAGLIO_AT(LayerOptions, device)});
inline constexpr uint64_t kPreparedLayerLayout = Digest(
    {sizeof(PreparedLayer), INTAGLIO_AT(PreparedLayer, routine), INTAGLIO_AT(PreparedLayer, name),
     INTAGLIO_AT(PreparedLayer, kernel), INTAGLIO_AT(PreparedLayer, macs),
     INTAGLIO_AT(PreparedLayer, work), INTAGLIO_AT(PreparedLayer, round_work),
     INTAGLIO_AT(PreparedLayer, constant_bytes), INTAGLIO_AT(PreparedLayer, scratch_bytes),
     INTAGLIO_AT(PreparedLayer, shared_scratch_key), INTAGLIO_AT(PreparedLayer, in_place_inputs),
     INTAGLIO_AT(PreparedLayer, packed_inputs), INTAGLIO_AT(PreparedLayer, alias),
     INTAGLIO_AT(PreparedLayer, joined_axis), INTAGLIO_AT(PreparedLayer, strides_output),
     INTAGLIO_AT(PreparedLayer, threads)});
inline constexpr uint64_t kRunArgumentsLayout = Digest(
    {sizeof(RunArguments), INTAGLIO_AT(RunArguments, inputs), INTAGLIO_AT(RunArguments, outputs),
     INTAGLIO_AT(RunArguments, scratch), INTAGLIO_AT(RunArguments, variables),
     INTAGLIO_AT(RunArguments, output_stride), INTAGLIO_AT(RunArguments, scratch_is_ready)});
#pragma GCC diagnostic pop

// The references in RunArguments have no offset; what lies around them has.
inline constexpr uint64_t kOperatorInterface =
    Digest({2,  // raised if something changes that layouts do not show
            kCustomOperatorLayout, kOperatorRowLayout, kCandidateLayout, kPackingLayout,
            kMatrixCountsLayout, kNumericsLayout, kQuantizationLayout, kTensorLayout, kLayerLayout,
            kGraphLayout, kLayerOptionsLayout, kPreparedLayerLayout, kRunArgumentsLayout,
            sizeof(Operator), sizeof(LayerView), sizeof(Status)});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_OPERATOR_INTERFACE_H_
