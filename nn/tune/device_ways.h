// Layers on a device (PrepareOptions::device) as ways that the tuner tries.
#ifndef INTAGLIO_NN_TUNE_DEVICE_WAYS_H_
#define INTAGLIO_NN_TUNE_DEVICE_WAYS_H_

#include <string>
#include <vector>

#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/ways.h"

namespace intaglio::nn::tune {

// Whether a routine's name says that it runs elsewhere than on the CPU: "cuda:qint8/gemm".
bool RunsOnDevice(const std::string& routine);

// "cuda: NVIDIA H200"; empty if there is no device.
std::string DeviceName(const PrepareOptions& options);

// Why the device cannot compute a layer by this routine; empty: it can.
std::string WhyNotOnDevice(const Graph& graph, size_t layer, const std::string& routine,
                           const PrepareOptions& options);

// The device's routines that accept each layer; none for layers with variables.
std::vector<Ways> WaysOnDevice(const Graph& graph, const PrepareOptions& options,
                               bool allow_bounded);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_DEVICE_WAYS_H_
