// Splits a quantized model into what meets real numbers and what computes with integers only.
#ifndef INTAGLIO_NN_PASSES_PARTITION_H_
#define INTAGLIO_NN_PASSES_PARTITION_H_

#include <optional>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// The numbers of a sensor: real = scale * (raw - mean), in the units of the model's input.
struct Sensor {
  Type type = Type::kUInt8;  // int8, uint8, int16 or int32
  double mean = 0;           // finite; where it is no number of the type, below 2^29 in magnitude
  double scale = 1;          // positive, of float32
};

struct PartitionOptions {
  // Per input of the model: what feeds it, instead of real or quantized numbers. Empty, or as many
  // as inputs. An input with a sensor is a quantized one, or a float32 one that only QUANTIZE
  // reads.
  std::vector<std::optional<Sensor>> sensors;
};

// Run one after the other, each on the outputs of the one before in their order, they give the bits
// of the whole. Tensors between parts stand in the order of the model's inputs, or outputs, that
// they belong to. A part may have no layers: its outputs are its inputs.
struct Parts {
  // Float32 inputs become quantized ones. Those with a sensor do it in integers: by one QUANTIZE
  // where the mean is a number of the sensor's type, else by CAST, MUL, SUB and QUANTIZE of int32,
  // with the mean to the nearest 2^-f, where f is 16 or what int32 leaves. Either is within one
  // step of the model's input of what the real numbers would have given. Where every input has one,
  // this part passes CheckIntegerOnly too.
  Graph quantize_inputs;
  // Passes CheckIntegerOnly.
  Graph quantized_main;
  // Quantized results become float32 ones.
  Graph dequantize_outputs;
};

// quantize_inputs gets the layers with float32 tensors that depend on the model's inputs only;
// dequantize_outputs those on which only its outputs depend. Every other layer, and every tensor
// that goes from one part to the next, must be free of floating point: the first layer that is not
// is named, with what forces float on it.
Result<Parts> Partition(const Graph& graph, const PartitionOptions& options = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_PARTITION_H_
