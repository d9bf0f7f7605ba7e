#include "intaglio/nn/tune/tune.h"

#include <nanobind/stl/string.h>

#include <utility>
#include <vector>

#include "intaglio/bindings/python/src/errors.h"
#include "intaglio/bindings/python/src/gil.h"
#include "intaglio/bindings/python/src/model.h"
#include "intaglio/nn/quantize/named_ranges.h"

namespace intaglio::python {

std::string Tune(Model& model, double seconds, bool allow_float32, double max_error,
                 size_t max_bytes, nanobind::handle inputs, const std::string& ranges) {
  if (model.origin().has_plan) {
    RaiseIfError(InvalidArgument("the model was loaded with a plan"), "ArgumentError");
  }
  const nn::Graph graph = model.Inspect([](const nn::Model& prepared) { return prepared.graph(); });
  nn::tune::TuneOptions options;
  options.prepare = model.origin().prepare;
  options.prepare.routines.clear();
  options.budget = std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
  options.name = model.origin().name;
  options.allow_float32 = allow_float32;
  options.max_difference = max_error;
  options.memory_bytes = max_bytes;
  if (!ranges.empty()) {
    Result<std::vector<nn::NamedRange>> parsed = nn::quantize::ParseRanges(ranges);
    RaiseIfError(parsed.status(), "ArgumentError");
    if (parsed->empty()) RaiseIfError(InvalidArgument("there are no ranges"), "ArgumentError");
    options.ranges = std::move(*parsed);
  }
  if (!inputs.is_none()) options.inputs = model.CopyInputs(inputs);
  Result<nn::tune::Tuning> tuning = InvalidArgument("");
  {
    const GilRelease release;
    tuning = nn::tune::Tune(graph, options);
  }
  RaiseIfError(tuning.status(), "LoadError");
  return ToJson(tuning->plan);
}

}  // namespace intaglio::python
