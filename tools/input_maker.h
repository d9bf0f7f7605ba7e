// Makes random inputs for the inputs of a model that nobody gave, such that the model can compute
// them.
#ifndef INTAGLIO_TOOLS_INPUT_MAKER_H_
#define INTAGLIO_TOOLS_INPUT_MAKER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/tools/input_ranges.h"
#include "intaglio/tools/model_io.h"

namespace intaglio::tools {

// Fills every input that is not given from one generator. Integers are uniform over their type's 8,
// 16, 32 or 64 bits, floats over [-1, 1). If the layers ask for a narrower range (input_ranges.h),
// they are uniform over that. If the model still refuses the inputs when it runs, tamer ones are
// tried: not negative, small, ones, zeros.
class InputMaker {
 public:
  // `given` has one element per input of the model.
  InputMaker(const nn::Model& model, std::vector<bool> given);

  // Fills the buffers and runs the model. The same seed always gives the same inputs. So a model of
  // the same graph that is prepared in another way runs on the same inputs. The error is that of
  // the first try.
  Status Run(uint64_t seed, nn::Model& model, Buffers& buffers);

 private:
  void Fill(uint64_t seed, size_t tries, const nn::Model& model, Buffers& buffers) const;

  std::vector<bool> given_;
  std::vector<Range> ranges_;
  std::map<uint64_t, size_t> tries_;  // how many tries failed, by seed
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_INPUT_MAKER_H_
