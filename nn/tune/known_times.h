// The times of layers on this machine that are known, if the caller keeps times.
#ifndef INTAGLIO_NN_TUNE_KNOWN_TIMES_H_
#define INTAGLIO_NN_TUNE_KNOWN_TIMES_H_

#include <cstddef>
#include <string>

#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/timing_key.h"
#include "intaglio/nn/tune/timings.h"

namespace intaglio::nn::tune {

class KnownTimes {
 public:
  // `timings` may be null: nothing is known then, and nothing is kept.
  KnownTimes(Timings* timings, const PrepareOptions& prepare)
      : timings_(timings),
        prepare_(prepare),
        machine_(timings == nullptr ? "" : MachineKey() + " ") {}

  bool any() const { return timings_ != nullptr; }

  // The time of a layer of a model, computed as `choice` says; null if it is not known.
  const Timing* Find(const Model& model, size_t layer, const LayerChoice& choice) const {
    return any() ? timings_->Find(KeyOf(model, layer, choice)) : nullptr;
  }
  // A time that was never measured is not added.
  void Add(const Model& model, size_t layer, const LayerChoice& choice, const Timing& timing) {
    if (any() && timing.count > 0) timings_->Add(KeyOf(model, layer, choice), timing);
  }
  // The same for a whole network, by its key without the machine.
  const Timing* FindNetwork(const std::string& key) const {
    return any() ? timings_->Find(machine_ + key) : nullptr;
  }
  void AddNetwork(const std::string& key, const Timing& timing) {
    if (any() && timing.count > 0) timings_->Add(machine_ + key, timing);
  }

 private:
  std::string KeyOf(const Model& model, size_t layer, const LayerChoice& choice) const {
    return machine_ + LayerKey(model.graph(), layer, model.layers()[layer], choice, prepare_);
  }

  Timings* timings_;
  const PrepareOptions& prepare_;
  std::string machine_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_KNOWN_TIMES_H_
