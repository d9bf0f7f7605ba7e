// Which operators of the .onnx format run here, with which element types.
#ifndef INTAGLIO_NN_FORMATS_ONNX_REGISTRY_H_
#define INTAGLIO_NN_FORMATS_ONNX_REGISTRY_H_

#include <string>
#include <vector>

namespace intaglio::nn {

struct OnnxOperator {
  std::string name;    // ONNX's, such as "Conv"; with the domain where it is not the standard's
  std::string opsets;  // those that are read: "7-28", "10-28"
  std::string types;   // of the data
  std::string remark;  // what else holds, in a few words; may be empty
};

// In alphabetical order.
std::vector<OnnxOperator> ListOnnxOperators();

// The operators of layers that can be written into .onnx files, by our names (OperatorRow::name),
// in alphabetical order.
std::vector<std::string> ListOperatorsWrittenAsOnnx();

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_ONNX_REGISTRY_H_
