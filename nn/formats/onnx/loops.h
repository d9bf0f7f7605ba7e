// Inside the .onnx reader: nodes that run a graph several times.
#ifndef INTAGLIO_NN_FORMATS_ONNX_LOOPS_H_
#define INTAGLIO_NN_FORMATS_ONNX_LOOPS_H_

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

// A loop of few rounds, whose number is known, becomes the layers of these rounds, one after the
// other. Others become WHILE, so what they carry from round to round keeps its shape, and what they
// collect needs a number of rounds that is known. If a condition of the body ends a loop that
// collects before its last round, the run fails.
void ReadLoop(Translation& t);
void ReadScan(Translation& t);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_LOOPS_H_
