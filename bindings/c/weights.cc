#include "intaglio/bindings/c/weights.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/saved_weights.h"
#include "intaglio/gemm/prepack.h"
#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/files/replace_file.h"

namespace intaglio::c {
namespace {

std::span<const uint8_t> BytesOf(const void* data, size_t bytes) {
  return {static_cast<const uint8_t*>(data), bytes};
}

Status WithPath(const std::string& path, const Status& status) {
  return {status.code(), path + ": " + status.message()};
}

}  // namespace

Result<Side> SideFrom(it_side side) {
  if (side == IT_LEFT) return Side::kLhs;
  if (side == IT_RIGHT) return Side::kRhs;
  return InvalidArgument("there is no side " + std::to_string(side));
}

NewWeights WeightsOf(Result<PackedMatrix> packed) {
  if (!packed.ok()) return packed.status();
  std::string kernel = KernelOf(*packed);
  return std::unique_ptr<it_weights>(new it_weights{std::move(*packed), std::move(kernel)});
}

NewWeights Pack(const it_matrix& matrix, const void* data, it_side side, const char* kernel) {
  const auto checked = SideFrom(side);
  if (!checked.ok()) return checked.status();
  PackOptions options;
  options.channel_zero_points = matrix.channel_zero_points;
  if (kernel != nullptr) options.kernel = kernel;
  return WeightsOf(Prepack(*checked, OperandOf(matrix, data), options));
}

NewWeights LoadFile(const std::string& path) {
  auto file = nn::MapFile(path);
  if (!file.ok()) return WithPath(path, file.status());
  NewWeights weights = WeightsOf(LoadWeights(file->bytes, std::move(file->owner)));
  if (!weights.ok()) return WithPath(path, weights.status());
  return weights;
}

Status SaveFile(const it_weights& weights, const std::string& path) {
  std::vector<uint8_t> bytes(CountSavedBytes(weights.matrix));
  INTAGLIO_RETURN_IF_ERROR(SaveWeights(weights.matrix, bytes));
  return nn::ReplaceFile(path, bytes);
}

}  // namespace intaglio::c

using namespace intaglio::c;
using intaglio::Status;

it_status* it_weights_pack(const it_matrix* matrix, const void* data, it_side side,
                           const char* kernel, it_weights** out) {
  return Create(out, [&]() -> NewWeights {
    INTAGLIO_RETURN_IF_ERROR(NotNull(matrix, "matrix"));
    return Pack(*matrix, data, side, kernel);
  });
}

it_status* it_weights_share(const it_weights* weights, it_weights** out) {
  return Create(out, [&]() -> NewWeights {
    INTAGLIO_RETURN_IF_ERROR(NotNull(weights, "weights"));
    return std::make_unique<it_weights>(*weights);
  });
}

void it_weights_destroy(it_weights* weights) { delete weights; }

it_side it_weights_side(const it_weights* weights) {
  if (weights == nullptr) return IT_LEFT;
  return weights->matrix.side() == intaglio::Side::kLhs ? IT_LEFT : IT_RIGHT;
}
int32_t it_weights_rows(const it_weights* weights) {
  return weights == nullptr ? 0 : weights->matrix.rows();
}
int32_t it_weights_cols(const it_weights* weights) {
  return weights == nullptr ? 0 : weights->matrix.cols();
}
size_t it_weights_bytes(const it_weights* weights) {
  return weights == nullptr ? 0 : weights->matrix.bytes();
}
const char* it_weights_kernel(const it_weights* weights) {
  return weights == nullptr ? nullptr : weights->kernel.c_str();
}
size_t it_weights_saved_bytes(const it_weights* weights) {
  return weights == nullptr ? 0 : CountSavedBytes(weights->matrix);
}

it_status* it_weights_save(const it_weights* weights, void* data, size_t bytes) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(weights, "weights"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(data, "data"));
    return SaveWeights(weights->matrix, {static_cast<uint8_t*>(data), bytes});
  });
}

it_status* it_weights_save_file(const it_weights* weights, const char* path) {
  return Guard([&]() -> Status {
    INTAGLIO_RETURN_IF_ERROR(NotNull(weights, "weights"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(path, "path"));
    return SaveFile(*weights, path);
  });
}

it_status* it_weights_load(const void* data, size_t bytes, it_weights** out) {
  return Create(out, [&]() -> NewWeights {
    INTAGLIO_RETURN_IF_ERROR(NotNull(data, "data"));
    // No memory is so large. Adding 64 would overflow, and less would be allocated than is copied.
    if (bytes > std::numeric_limits<ptrdiff_t>::max()) {
      return intaglio::InvalidArgument("there cannot be " + std::to_string(bytes) + " bytes");
    }
    auto copy = std::make_shared<std::vector<uint8_t>>(bytes + 64);
    const auto address = reinterpret_cast<uintptr_t>(copy->data());
    uint8_t* const to = copy->data() + (64 - address % 64);
    std::copy_n(static_cast<const uint8_t*>(data), bytes, to);
    return WeightsOf(LoadWeights(BytesOf(to, bytes), std::move(copy)));
  });
}

it_status* it_weights_load_in_place(const void* data, size_t bytes, void (*release)(void* arg),
                                    void* arg, it_weights** out) {
  if (out == nullptr && release != nullptr) release(arg);  // Create does not call what follows
  return Create(out, [&]() -> NewWeights {
    std::shared_ptr<const void> owner(data, [release, arg](const void*) {
      if (release != nullptr) release(arg);
    });
    INTAGLIO_RETURN_IF_ERROR(NotNull(data, "data"));
    return WeightsOf(LoadWeights(BytesOf(data, bytes), std::move(owner)));
  });
}

it_status* it_weights_load_file(const char* path, it_weights** out) {
  return Create(out, [&]() -> NewWeights {
    INTAGLIO_RETURN_IF_ERROR(NotNull(path, "path"));
    return LoadFile(path);
  });
}
