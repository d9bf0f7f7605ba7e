// Well-known networks of int8 with random weights, to verify and to measure a backend on. They need
// no file and no reader of files.
#ifndef INTAGLIO_BENCH_CUDA_NETWORKS_H_
#define INTAGLIO_BENCH_CUDA_NETWORKS_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::bench {

// Of images of side x side pixels, multiples of 32; `width` divides the channels of every layer.
// The results are the 1000 / width logits.
Result<nn::Graph> ResNet50(int batch, int side, int width = 1);
Result<nn::Graph> MobileNetV1(int batch, int side, int width = 1);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_CUDA_NETWORKS_H_
