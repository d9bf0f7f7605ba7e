// The device that a program asks for by its name, in builds that have one.
#ifndef INTAGLIO_NN_CUDA_DEVICE_NAMED_H_
#define INTAGLIO_NN_CUDA_DEVICE_NAMED_H_

#include <memory>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/runtime/backend.h"
#if defined(INTAGLIO_HAS_CUDA)
#include "intaglio/nn/cuda/backend.h"
#endif

namespace intaglio::nn {

// "cuda": the current NVIDIA GPU. An error where this build or this machine lacks it. Whoever
// includes this defines INTAGLIO_HAS_CUDA if it links intaglio_nn_cuda.
inline Result<std::shared_ptr<const Backend>> DeviceNamed(const std::string& name) {
  if (name != "cuda") {
    return InvalidArgument("there is no device '" + Printable(name) + "'; there is 'cuda'");
  }
#if defined(INTAGLIO_HAS_CUDA)
  return cuda::MakeBackend(nullptr);
#else
  return Unsupported("cuda: this build does not have it; configure with -DINTAGLIO_CUDA=on");
#endif
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_CUDA_DEVICE_NAMED_H_
