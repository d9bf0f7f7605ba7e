#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/bindings/c/context.h"
#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/model.h"
#include "intaglio/nn/cuda/device_named.h"
#include "intaglio/nn/formats/take_constants.h"

namespace intaglio::c {
namespace {

// An input that is named and that no model has is found when a model is read.
constexpr size_t kMaxInputs = 1 << 16;
constexpr size_t kMaxRank = 64;

Status SetFlag(it_model_options& options, it_flag flag, bool value) {
  switch (flag) {
    case IT_COPY_FILE:
      options.load.copy_file = value;
      return {};
    case IT_BYTES_IN_PLACE:
      options.bytes_in_place = value;
      return {};
    case IT_INTEGER_ONLY:
      options.prepare.integer_only = value;
      return {};
    case IT_UNFUSED_SUMS:
      options.prepare.float_sums = value ? nn::FloatSums::kUnfused : nn::FloatSums::kFused;
      return {};
    case IT_KEEP_TENSORS:
      options.prepare.keep_all_tensors = value;
      return {};
    case IT_ONNX_ORT_FUSED:
      options.load.ort_fused = value;
      return {};
    case IT_ONNX_NHWC_INPUTS:
      options.load.nhwc_inputs = value;
      return {};
    case IT_ONNX_FLOAT64_AS_32:
      options.load.float64_as_float32 = value;
      return {};
    default:
      return InvalidArgument("there is no flag " + std::to_string(flag));
  }
}

// set(Limits&) for reading and for preparing.
template <class Set>
it_status* SetLimits(it_model_options* options, const Set& set) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    INTAGLIO_RETURN_IF_ERROR(set(options->load.limits));
    return set(options->prepare.limits);
  });
}

Status AddConstant(std::vector<nn::InputConstant>& constants, const char* name, it_type type,
                   const int32_t* dims, size_t rank, const void* data, size_t bytes) {
  INTAGLIO_RETURN_IF_ERROR(NotNull(name, "name"));
  const Result<Type> known = TypeFrom(type);
  if (!known.ok()) return known.status();
  if (rank > kMaxRank) return InvalidArgument("a shape of rank " + std::to_string(rank));
  if (rank > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(dims, "dims"));
  if (bytes > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(data, "data"));
  nn::InputConstant constant = {name, *known, nn::Shape(dims, dims + rank), {}};
  const Result<size_t> wanted = nn::CountBytes(constant.shape, *known);
  if (!wanted.ok()) return wanted.status();
  if (*wanted != bytes) {
    return InvalidArgument("data has " + std::to_string(bytes) +
                           " bytes; its type and shape have " + std::to_string(*wanted));
  }
  const auto* const elements = static_cast<const uint8_t*>(data);
  constant.bytes.assign(elements, elements + bytes);
  constants.push_back(std::move(constant));
  const Status status = nn::CheckConstants(constants);
  if (!status.ok()) constants.pop_back();
  return status;
}

}  // namespace

Status SetShape(std::vector<nn::Shape>& shapes, size_t index, const int32_t* dims, size_t rank) {
  if (index >= kMaxInputs) return InvalidArgument("there is no input " + std::to_string(index));
  if (rank > kMaxRank) return InvalidArgument("a shape of rank " + std::to_string(rank));
  if (rank > 0) INTAGLIO_RETURN_IF_ERROR(NotNull(dims, "dims"));
  nn::Shape shape(dims, dims + rank);
  if (shapes.size() <= index) shapes.resize(index + 1);
  shapes[index] = std::move(shape);
  return {};
}

}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::InvalidArgument;
using intaglio::Status;

it_status* it_model_options_create(it_model_options** out) {
  return Create(out, []() -> intaglio::Result<std::unique_ptr<it_model_options>> {
    return std::make_unique<it_model_options>();
  });
}

void it_model_options_destroy(it_model_options* options) { delete options; }

it_status* it_model_options_set_threads(it_model_options* options, int32_t threads) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    INTAGLIO_RETURN_IF_ERROR(CheckThreads(threads));
    options->prepare.threads = threads;
    options->prepare.parallel_for = {};
    return {};
  });
}

it_status* it_model_options_set_pool(it_model_options* options, int32_t threads,
                                     it_parallel_for parallel_for, void* pool) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    INTAGLIO_RETURN_IF_ERROR(CheckThreads(threads));
    if (parallel_for == nullptr) return InvalidArgument("parallel_for is null");
    options->prepare.threads = threads;
    options->prepare.parallel_for = PoolOf(parallel_for, pool);
    return {};
  });
}

it_status* it_model_options_set_kernel(it_model_options* options, const char* kernel) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    options->prepare.kernel = kernel == nullptr ? "" : kernel;
    return {};
  });
}

it_status* it_model_options_set_device(it_model_options* options, const char* device) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    const std::string name = device == nullptr ? "" : device;
    options->prepare.device = nullptr;
    if (name.empty()) return {};
    intaglio::Result<std::shared_ptr<const intaglio::nn::Backend>> found =
        intaglio::nn::DeviceNamed(name);
    if (!found.ok()) return found.status();
    options->prepare.device = std::move(*found);
    return {};
  });
}

it_status* it_model_options_set_max_bytes(it_model_options* options, uint64_t bytes) {
  return SetLimits(options, [&](intaglio::nn::Limits& limits) -> Status {
    if (bytes > std::numeric_limits<size_t>::max()) return InvalidArgument("too many bytes");
    limits.max_bytes = static_cast<size_t>(bytes);
    return {};
  });
}

it_status* it_model_options_set_max_work(it_model_options* options, int64_t steps) {
  return SetLimits(options, [&](intaglio::nn::Limits& limits) -> Status {
    if (steps < 0) return InvalidArgument("steps is " + std::to_string(steps));
    limits.max_work = steps;
    return {};
  });
}

it_status* it_model_options_set_max_rounds(it_model_options* options, int64_t rounds) {
  return SetLimits(options, [&](intaglio::nn::Limits& limits) -> Status {
    if (rounds < 0) return InvalidArgument("rounds is " + std::to_string(rounds));
    limits.max_rounds = rounds;
    return {};
  });
}

it_status* it_model_options_set_input_shape(it_model_options* options, size_t input,
                                            const int32_t* dims, size_t rank) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    return SetShape(options->load.input_shapes, input, dims, rank);
  });
}

it_status* it_model_options_set_data_folder(it_model_options* options, const char* folder) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    options->load.external_data_folder = folder == nullptr ? "" : folder;
    return {};
  });
}

it_status* it_model_options_set_flag(it_model_options* options, it_flag flag, int32_t value) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    if (value != 0 && value != 1) {
      return InvalidArgument("a flag is 0 or 1, not " + std::to_string(value));
    }
    return SetFlag(*options, flag, value == 1);
  });
}

it_status* it_model_options_set_constant(it_model_options* options, const char* name, it_type type,
                                         const int32_t* dims, size_t rank, const void* data,
                                         size_t bytes) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(options, "options"));
    return AddConstant(options->load.constants, name, type, dims, rank, data, bytes);
  });
}
