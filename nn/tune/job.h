// What the steps of a tuning work on.
#ifndef INTAGLIO_NN_TUNE_JOB_H_
#define INTAGLIO_NN_TUNE_JOB_H_

#include <algorithm>
#include <string>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/tune/measure.h"
#include "intaglio/nn/tune/other_form.h"
#include "intaglio/nn/tune/schedule.h"
#include "intaglio/nn/tune/tune.h"

namespace intaglio::nn::tune {

struct Job {
  const OtherForm& form;
  const TuneOptions& options;
  const PrepareOptions& prepare;  // holds for all models
  const Schedule& schedule;
  Measurer& measurer;

  const Graph& graph() const { return form.graph(); }
  std::vector<LayerReport>& reports() const { return measurer.reports(); }
  bool limits_difference() const { return options.max_difference >= 0; }
  void Show(const std::string& what, double share) const {
    if (options.progress) options.progress(what, std::min(1.0, share));
  }
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_JOB_H_
