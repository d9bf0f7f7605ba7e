// The variants of a network as models that run.
#ifndef INTAGLIO_NN_TUNE_MODEL_STAGE_H_
#define INTAGLIO_NN_TUNE_MODEL_STAGE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/passes/compute_in_float.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/profile.h"
#include "intaglio/nn/tune/schedule.h"

namespace intaglio::nn::tune {

// The inputs of all runs, the same for every variant: those that are given, else random bytes and,
// for float32, numbers of [-1, 1). Integers of more than a byte, which may be indices, are 0.
class RunBuffers {
 public:
  explicit RunBuffers(const Model& model, const std::vector<std::vector<uint8_t>>& given = {});

  Status Run(Model& model, std::span<std::chrono::nanoseconds> layer_times = {}) {
    return model.Run(inputs_, outputs_, layer_times);
  }
  // What the last run has written.
  std::span<const std::vector<uint8_t>> outputs() const {
    return std::span(bytes_).subspan(inputs_.size());
  }

 private:
  std::vector<std::vector<uint8_t>> bytes_;
  std::vector<InputBuffer> inputs_;
  std::vector<OutputBuffer> outputs_;
};

class ModelStage final : public Stage {
 public:
  struct Variant {
    Model* model = nullptr;
    // Where the model's layers come from; null: they are those of variant 0.
    const std::vector<LayerOrigin>* origins = nullptr;
  };

  // The models must live as long as the stage. The control is another instance of the first.
  ModelStage(std::vector<Variant> variants, Model& control, RunBuffers& buffers,
             const Schedule& schedule)
      : variants_(std::move(variants)), control_(control), buffers_(buffers), schedule_(schedule) {}

  Status Run(size_t variant, std::span<std::chrono::nanoseconds> times) override;
  Status RunControl(std::span<std::chrono::nanoseconds> times) override {
    return buffers_.Run(control_, times);
  }
  std::chrono::nanoseconds Now() override { return schedule_.Now(); }

 private:
  std::vector<Variant> variants_;
  Model& control_;
  RunBuffers& buffers_;
  const Schedule& schedule_;
  std::vector<std::chrono::nanoseconds> own_times_;  // of a model with other layers
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_MODEL_STAGE_H_
