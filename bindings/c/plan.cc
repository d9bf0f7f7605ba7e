// How layers are computed fastest: plans, and the tuner that makes them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/model.h"
#include "intaglio/nn/graph/named_range.h"
#ifdef INTAGLIO_NN_TUNE
#include "intaglio/nn/tune/tune.h"
#endif
#ifdef INTAGLIO_NN_QUANTIZE
#include "intaglio/nn/quantize/named_ranges.h"
#endif

struct it_tune_options {
  double seconds = -1;  // negative: as many as the network is worth
  bool allow_float32 = false;
  double max_error = -1;  // negative: any
  uint64_t max_bytes = 0;
  std::vector<std::vector<uint8_t>> inputs;
  std::vector<intaglio::nn::NamedRange> ranges;
};

struct it_plan {
  std::string text;
  double untuned_nanoseconds = 0;
  double tuned_nanoseconds = 0;
};

namespace intaglio::c {
namespace {

constexpr double kMostSeconds = 86400;
constexpr size_t kMostInputs = 65536;  // an index beyond is a mistake, not a reason to make room

#ifdef INTAGLIO_NN_QUANTIZE

Result<std::vector<nn::NamedRange>> ParseRanges(std::string_view text) {
  return nn::quantize::ParseRanges(text);
}

#else

Result<std::vector<nn::NamedRange>> ParseRanges(std::string_view) {
  return Unsupported("this build has no quantizer");
}

#endif

#ifdef INTAGLIO_NN_TUNE

Result<std::unique_ptr<it_plan>> Tune(const it_model& model, const it_tune_options& from) {
  if (model.has_plan) return InvalidArgument("the model was loaded with a plan");
  if (from.max_error >= 0 && !from.allow_float32 && from.ranges.empty()) {
    return InvalidArgument(
        "max_error needs allow_float32 or ranges: without them, results are exact");
  }
  nn::tune::TuneOptions options;
  options.prepare = model.prepare;
  options.budget = std::chrono::nanoseconds(static_cast<int64_t>(from.seconds * 1e9));
  options.name = model.model.graph().name;
  options.allow_float32 = from.allow_float32;
  options.max_difference = from.max_error;
  options.memory_bytes = static_cast<size_t>(std::min<uint64_t>(from.max_bytes, SIZE_MAX));
  options.inputs = from.inputs;
  options.ranges = from.ranges;
  const Result<nn::tune::Tuning> tuning = nn::tune::Tune(model.model.graph(), options);
  if (!tuning.ok()) return tuning.status();
  auto plan = std::make_unique<it_plan>();
  plan->text = ToJson(tuning->plan);
  plan->untuned_nanoseconds = tuning->plan.untuned_ns;
  plan->tuned_nanoseconds = tuning->plan.tuned_ns;
  return plan;
}

#else

Result<std::unique_ptr<it_plan>> Tune(const it_model&, const it_tune_options&) {
  return Unsupported("this build has no tuner");
}

#endif

}  // namespace

#ifdef INTAGLIO_NN_TUNE

Status TakePlan(const it_model_options& options, nn::Graph& graph, nn::PrepareOptions& prepare,
                std::vector<std::string>& warnings) {
  const Result<nn::tune::Plan> plan = nn::tune::ParsePlan(options.plan);
  if (!plan.ok()) return plan.status();
  Result<nn::tune::Replay> replay = nn::tune::ReplayOf(*plan, graph, prepare);
  if (!replay.ok()) return replay.status();
  if (options.strict_plan && !replay->warnings.empty()) {
    return InvalidArgument(replay->warnings[0]);
  }
  graph = std::move(replay->graph);
  prepare.routines = std::move(replay->choices);
  warnings = std::move(replay->warnings);
  return {};
}

#else

Status TakePlan(const it_model_options&, nn::Graph&, nn::PrepareOptions&,
                std::vector<std::string>&) {
  return Unsupported("this build has no plans");
}

#endif

}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::InvalidArgument;
using intaglio::Status;

it_status* it_model_options_set_plan(it_model_options* options, const char* text, size_t bytes,
                                     int32_t strict) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (strict != 0 && strict != 1) {
      return InvalidArgument("strict is 0 or 1, not " + std::to_string(strict));
    }
    if (bytes > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(text, "text"));
    options->plan = bytes == 0 ? std::string() : std::string(text, bytes);
    options->strict_plan = strict == 1;
    return {};
  });
}

size_t it_model_plan_warning_count(const it_model* model) {
  return model == nullptr ? 0 : model->plan_warnings.size();
}
const char* it_model_plan_warning(const it_model* model, size_t index) {
  return index < it_model_plan_warning_count(model) ? model->plan_warnings[index].c_str() : nullptr;
}

it_status* it_tune_options_create(it_tune_options** out) {
  return Create(out, []() -> intaglio::Result<std::unique_ptr<it_tune_options>> {
    return std::make_unique<it_tune_options>();
  });
}
void it_tune_options_destroy(it_tune_options* options) { delete options; }

it_status* it_tune_options_set_seconds(it_tune_options* options, double seconds) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (!(seconds >= 0 && seconds <= kMostSeconds)) {
      return InvalidArgument("seconds is " + std::to_string(seconds) + "; it may be 0 to 86400");
    }
    options->seconds = seconds;
    return {};
  });
}

it_status* it_tune_options_set_allow_float32(it_tune_options* options, int32_t value) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (value != 0 && value != 1) {
      return InvalidArgument("value is 0 or 1, not " + std::to_string(value));
    }
    options->allow_float32 = value == 1;
    return {};
  });
}

it_status* it_tune_options_set_ranges(it_tune_options* options, const char* text, size_t bytes) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (bytes > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(text, "text"));
    if (bytes == 0) {
      options->ranges.clear();
      return {};
    }
    intaglio::Result<std::vector<intaglio::nn::NamedRange>> ranges = ParseRanges({text, bytes});
    if (!ranges.ok()) return ranges.status();
    if (ranges->empty()) return InvalidArgument("there are no ranges in the text");
    options->ranges = std::move(*ranges);
    return {};
  });
}

it_status* it_tune_options_set_max_error(it_tune_options* options, double share) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (!(share >= 0 && std::isfinite(share))) {
      return InvalidArgument("share is " + std::to_string(share) + "; it may be 0 or more");
    }
    options->max_error = share;
    return {};
  });
}

it_status* it_tune_options_set_max_bytes(it_tune_options* options, uint64_t bytes) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    options->max_bytes = bytes;
    return {};
  });
}

it_status* it_tune_options_set_input(it_tune_options* options, size_t index, const void* data,
                                     size_t bytes) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (bytes > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(data, "data"));
    if (index >= kMostInputs) {
      return InvalidArgument("there is no input " + std::to_string(index));
    }
    if (options->inputs.size() <= index) options->inputs.resize(index + 1);
    const auto* const first = static_cast<const uint8_t*>(data);
    options->inputs[index].assign(first, first + bytes);
    return {};
  });
}

it_status* it_model_tune(const it_model* model, const it_tune_options* options, it_plan** out) {
  return Create(out, [&]() -> intaglio::Result<std::unique_ptr<it_plan>> {
    INTAGLIO_RETURN_IF_ERROR(NotNull(model, "model"));
    const it_tune_options defaults;
    return Tune(*model, options == nullptr ? defaults : *options);
  });
}

void it_plan_destroy(it_plan* plan) { delete plan; }
const char* it_plan_text(const it_plan* plan) {
  return plan == nullptr ? nullptr : plan->text.c_str();
}
size_t it_plan_bytes(const it_plan* plan) { return plan == nullptr ? 0 : plan->text.size(); }
double it_plan_untuned_nanoseconds(const it_plan* plan) {
  return plan == nullptr ? 0 : plan->untuned_nanoseconds;
}
double it_plan_tuned_nanoseconds(const it_plan* plan) {
  return plan == nullptr ? 0 : plan->tuned_nanoseconds;
}
