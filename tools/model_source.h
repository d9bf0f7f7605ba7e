// A model's file, and what it is read with: what every command that reads a model takes.
#ifndef INTAGLIO_TOOLS_MODEL_SOURCE_H_
#define INTAGLIO_TOOLS_MODEL_SOURCE_H_

#include <string>
#include <vector>

#include "intaglio/nn/graph/limits.h"

namespace intaglio::tools {

struct ModelSource {
  std::string path;
  nn::Limits limits;
  std::vector<std::string> operators;  // libraries of custom operators (operator_library.h)
  std::vector<std::string> shapes;     // of inputs: "[NAME=]1x3x224x224"
  std::vector<std::string> constants;  // for inputs: "axes=0,1" or "weights=FILE.npy"
  std::string external_data;  // the folder of an .onnx file's outer constants; may be empty
  bool ort_fused = false;     // how an .onnx file's sums and products are computed
  bool nhwc_inputs = false;
  bool float64_as_float32 = false;
  bool unfused_sums = false;                // nn::FloatSums::kUnfused
  std::string winograd_weights;             // nn::PrepareOptions: "kept", "per-call", or empty
  std::vector<std::string> without_passes;  // names of passes that shall not run
  std::string plan;                         // of `intaglio tune`; may be empty
  bool strict_plan = false;                 // what of the plan does not fit is an error
  std::string device;                       // on which layers may run: "cuda"; empty: none
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_MODEL_SOURCE_H_
