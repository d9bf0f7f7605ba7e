// Networks of 8-bit integers on an NVIDIA GPU: pass the backend to Model::Prepare.
//
//   auto backend = cuda::MakeBackend(nullptr);
//   PrepareOptions options;
//   options.backend = *backend;
//   auto model = Model::Prepare(std::move(graph), options);
//   model->Run(inputs, outputs);
//
// The results are the bits of the CPU's. Weights are uploaded when the model is prepared; a run
// copies its inputs, enqueues the layers, and waits once, for its outputs. It allocates nothing.
//
// Operators, of int8 and uint8: CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, ADD, SUB and MUL with
// broadcasting over at most five dimensions that differ, AVERAGE_POOL_2D, MAX_POOL_2D, MEAN over
// neighbouring axes, CONCATENATION, PAD, RESHAPE, SQUEEZE, EXPAND_DIMS, SOFTMAX, the functions of
// one number that the CPU has as tables, QUANTIZE from float32, and DEQUANTIZE to it, per axis too.
// SOFTMAX of float32 at the end of a network runs on the CPU, between copies. Any other layer is an
// error that names it, unless BackendOptions::others_on_host.
#ifndef INTAGLIO_NN_CUDA_BACKEND_H_
#define INTAGLIO_NN_CUDA_BACKEND_H_

#include <memory>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/cuda/stream.h"

namespace intaglio::nn {
class Backend;
}

namespace intaglio::nn::cuda {

struct BackendOptions {
  // Layers that the device refuses run on the CPU, between copies. Layers with variables cannot.
  bool others_on_host = false;
};

// On the current device, which must be current wherever a model of it is prepared or run. Null is
// the default stream. Runs of several instances follow each other in the stream. Errors are those
// of Stream::Wrap.
Result<std::shared_ptr<const Backend>> MakeBackend(CUstream_st* stream,
                                                   const BackendOptions& options = {});

}  // namespace intaglio::nn::cuda

#endif  // INTAGLIO_NN_CUDA_BACKEND_H_
