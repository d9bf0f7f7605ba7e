// Which operators of the .tflite format run here, with which element types.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_REGISTRY_H_
#define INTAGLIO_NN_FORMATS_TFLITE_REGISTRY_H_

#include <string>
#include <vector>

namespace intaglio::nn {

struct TfliteOperator {
  std::string name;     // TFLite's, such as "CONV_2D"
  int max_version = 1;  // versions 1 to this one are read
  std::string types;    // of the data: "int8, uint8", or "any"
  std::string remark;   // what else holds, in a few words; may be empty
};

// In alphabetical order.
std::vector<TfliteOperator> ListTfliteOperators();

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_REGISTRY_H_
