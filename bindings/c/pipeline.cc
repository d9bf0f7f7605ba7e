#include <string>

#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/guard.h"
#include "intaglio/fixedpoint/quantize_multiplier.h"

namespace intaglio::c {
namespace {

Status CheckCount(const char* what, size_t count, size_t channels) {
  if (count == 1 || count == channels) return {};
  return InvalidArgument("pipeline: " + std::to_string(count) + " " + what + " for " +
                         std::to_string(channels) + " channels");
}

bool IsFixedPoint(it_rounding rounding) {
  return rounding == IT_DOUBLE_ROUNDING || rounding == IT_SINGLE_ROUNDING;
}

Result<Scaling> ScalingOf(it_rounding rounding) {
  switch (rounding) {
    case IT_DOUBLE_ROUNDING:
      return Scaling::kDoubleRounding;
    case IT_SINGLE_ROUNDING:
      return Scaling::kSingleRounding;
    case IT_FLOAT_HALF_EVEN:
      return Scaling::kFloatHalfEven;
    case IT_REAL64:
      return Scaling::kReal64;
    default:
      return InvalidArgument("there is no rounding " + std::to_string(rounding));
  }
}

Status CheckScales(const void* scales, size_t count) {
  INTAGLIO_RETURN_IF_ERROR(NotNull(scales, "scales"));
  return count > 0 ? Status() : InvalidArgument("pipeline: 0 scales");
}

Status SetScales(it_pipeline& pipeline, it_rounding rounding, const double* scales, size_t count) {
  const auto scaling = ScalingOf(rounding);
  if (!scaling.ok()) return scaling.status();
  INTAGLIO_RETURN_IF_ERROR(CheckScales(scales, count));
  std::vector<int32_t> mantissas(count);
  std::vector<int32_t> exponents(count);
  for (size_t i = 0; i < count; ++i) {
    const auto multiplier = QuantizeMultiplier(scales[i]);
    if (!multiplier.ok()) return multiplier.status();
    mantissas[i] = multiplier->mantissa;
    exponents[i] = multiplier->exponent;
  }
  std::vector<float> floats(scales, scales + count);
  std::vector<double> reals(scales, scales + count);
  pipeline.scaling = *scaling;
  pipeline.mantissas = std::move(mantissas);
  pipeline.exponents = std::move(exponents);
  pipeline.floats = std::move(floats);
  pipeline.reals = std::move(reals);
  return {};
}

Status SetFixedPoint(it_pipeline& pipeline, it_rounding rounding, const int32_t* mantissas,
                     const int32_t* exponents, size_t count) {
  const auto scaling = ScalingOf(rounding);
  if (!scaling.ok()) return scaling.status();
  if (!IsFixedPoint(rounding)) {
    return InvalidArgument("pipeline: the rounding takes real scales, not mantissas");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckScales(mantissas, count));
  INTAGLIO_RETURN_IF_ERROR(NotNull(exponents, "exponents"));
  std::vector<int32_t> new_mantissas(mantissas, mantissas + count);
  std::vector<int32_t> new_exponents(exponents, exponents + count);
  pipeline.scaling = *scaling;
  pipeline.mantissas = std::move(new_mantissas);
  pipeline.exponents = std::move(new_exponents);
  return {};
}

size_t CountScales(const it_pipeline& pipeline) {
  switch (pipeline.scaling) {
    case Scaling::kNone:
      return 1;
    case Scaling::kDoubleRounding:
    case Scaling::kSingleRounding:
      return pipeline.mantissas.size();
    case Scaling::kFloatHalfEven:
    case Scaling::kToFloat:
      return pipeline.floats.size();
    case Scaling::kReal64:
      return pipeline.reals.size();
  }
  return 1;
}

}  // namespace

Result<StandardPipeline> StandardOf(const it_pipeline& pipeline, Type output, int rows, int cols) {
  const auto channels = static_cast<size_t>(pipeline.axis == Axis::kRows ? rows : cols);
  if (!pipeline.bias.empty() && pipeline.bias.size() != channels) {
    return InvalidArgument("pipeline: " + std::to_string(pipeline.bias.size()) + " biases for " +
                           std::to_string(channels) + " channels");
  }
  const size_t scales = CountScales(pipeline);
  INTAGLIO_RETURN_IF_ERROR(CheckCount("scales", scales, channels));
  StandardPipeline standard;
  standard.axis = pipeline.axis;
  standard.bias = pipeline.bias.empty() ? nullptr : pipeline.bias.data();
  standard.scaling = pipeline.scaling;
  standard.per_channel = scales > 1;
  standard.mantissa = pipeline.mantissas.data();
  standard.exponent = pipeline.exponents.data();
  standard.scale = pipeline.floats.data();
  standard.real = pipeline.reals.data();
  standard.zero_point = pipeline.zero_point;
  standard.clamp_min = pipeline.clamp_min;
  standard.clamp_max = pipeline.clamp_max;
  standard.output = output;
  return standard;
}

}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::InvalidArgument;
using intaglio::Status;

it_status* it_pipeline_create(it_pipeline** out) {
  return Create(out, []() -> intaglio::Result<std::unique_ptr<it_pipeline>> {
    return std::make_unique<it_pipeline>();
  });
}

void it_pipeline_destroy(it_pipeline* pipeline) { delete pipeline; }

it_status* it_pipeline_set_axis(it_pipeline* pipeline, it_axis axis) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    if (axis != IT_PER_ROW && axis != IT_PER_COLUMN) {
      return InvalidArgument("there is no axis " + std::to_string(axis));
    }
    pipeline->axis = axis == IT_PER_ROW ? intaglio::Axis::kRows : intaglio::Axis::kCols;
    return {};
  });
}

it_status* it_pipeline_set_bias(it_pipeline* pipeline, const int32_t* bias, size_t count) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    if (count > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(bias, "bias"));
    pipeline->bias.assign(bias, bias + count);
    return {};
  });
}

it_status* it_pipeline_set_scales(it_pipeline* pipeline, it_rounding rounding, const double* scales,
                                  size_t count) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    return SetScales(*pipeline, rounding, scales, count);
  });
}

it_status* it_pipeline_set_fixed_point(it_pipeline* pipeline, it_rounding rounding,
                                       const int32_t* mantissas, const int32_t* exponents,
                                       size_t count) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    return SetFixedPoint(*pipeline, rounding, mantissas, exponents, count);
  });
}

it_status* it_pipeline_set_float_output(it_pipeline* pipeline, const float* scales, size_t count) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    INTAGLIO_RETURN_IF_ERROR(CheckScales(scales, count));
    pipeline->floats.assign(scales, scales + count);
    pipeline->scaling = intaglio::Scaling::kToFloat;
    return {};
  });
}

it_status* it_pipeline_set_zero_point(it_pipeline* pipeline, int32_t zero_point) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    pipeline->zero_point = zero_point;
    return {};
  });
}

it_status* it_pipeline_set_clamp(it_pipeline* pipeline, int32_t min, int32_t max) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(pipeline, "pipeline"));
    pipeline->clamp_min = min;
    pipeline->clamp_max = max;
    return {};
  });
}
