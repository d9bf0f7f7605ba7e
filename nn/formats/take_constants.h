// What the readers of all formats do with the values that a caller gives inputs of a model.
#ifndef INTAGLIO_NN_FORMATS_TAKE_CONSTANTS_H_
#define INTAGLIO_NN_FORMATS_TAKE_CONSTANTS_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/input_constant.h"
#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn {

// An error if a value is not as long as its type and shape say, or if an input has two.
Status CheckConstants(const std::vector<InputConstant>& constants);

// An error if a value is for none of these inputs, or for two of the same name.
Status CheckNamesOfConstants(const std::vector<InputConstant>& constants,
                             const std::vector<std::string>& inputs);

// The value for an input; null if it has none.
const InputConstant* FindConstant(const std::vector<InputConstant>& constants,
                                  const std::string& input);

// Makes the input that value, or says why it does not fit. A dimension of `declared` that is
// negative may be any.
Status BecomeConstant(const InputConstant& constant, const Shape& declared, Tensor& input);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TAKE_CONSTANTS_H_
