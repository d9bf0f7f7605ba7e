// Measures by how much the outputs of networks differ from those of the untuned one.
#ifndef INTAGLIO_NN_TUNE_DIFFERENCES_H_
#define INTAGLIO_NN_TUNE_DIFFERENCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/job.h"

namespace intaglio::nn::tune {

class Differences {
 public:
  // The job must outlive the differences.
  explicit Differences(const Job& job) : job_(job) {}

  // Runs a network once on the inputs of all others.
  Result<Difference> Of(Model& model);

  // Those of single layers, for the reports: of layers that may gain, the greatest gain first, as
  // long as there is time. Where all times are known, a tuning shall be quick, and only a limit
  // asks for them.
  Status MeasureLayers();

 private:
  Status MeasureLayer(size_t layer);

  const Job& job_;
  std::vector<std::vector<uint8_t>> expected_;  // outputs of the untuned network
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_DIFFERENCES_H_
