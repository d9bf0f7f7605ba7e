// Packed weights in a folder, by kernel and by what was packed.
#include <cstdio>
#include <string>

#include "intaglio/bindings/c/checksum.h"
#include "intaglio/bindings/c/guard.h"
#include "intaglio/bindings/c/stored_lines.h"
#include "intaglio/bindings/c/weights.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/pack/validate.h"

namespace intaglio::c {
namespace {

// The kernel that packing starts from. It may take a relative of it, but always the same one for
// the same values.
std::string KernelToName(const char* kernel) {
  if (kernel != nullptr && *kernel != '\0') return kernel;
  for (const KernelInfo& info : ListKernels()) {
    if (info.usable) return info.name;
  }
  return "none";
}

template <class T>
uint64_t Add(uint64_t sum, const T* values, size_t count) {
  return Checksum({reinterpret_cast<const uint8_t*>(values), count * sizeof(T)}, sum);
}

// Depends on the numbers of a matrix, but not on the stride by which they lie apart.
uint64_t Digest(const it_matrix& matrix, const void* data, it_side side, uint64_t seed) {
  const ConstMatrix& view = matrix.view;
  const int32_t facts[] = {side,      static_cast<int32_t>(view.type),  view.rows,
                           view.cols, static_cast<int32_t>(view.order), view.zero_point};
  uint64_t sum = Add(seed, facts, std::size(facts));
  sum = Add(sum, matrix.channel_zero_points.data(), matrix.channel_zero_points.size());
  ForEachLine(view, data, [&](std::span<const uint8_t> line) { sum = Checksum(line, sum); });
  return sum;
}

std::string FileName(const it_matrix& matrix, const void* data, it_side side, const char* kernel) {
  char digits[33];
  std::snprintf(digits, sizeof(digits), "%016llx%016llx",
                static_cast<unsigned long long>(Digest(matrix, data, side, 1)),
                static_cast<unsigned long long>(Digest(matrix, data, side, 1u << 31)));
  return KernelToName(kernel) + "-" + digits + ".itpack";
}

// Whether it is what packing the matrix gives, but for its numbers.
bool Fits(const it_weights& weights, const it_matrix& matrix, it_side side) {
  return it_weights_side(&weights) == side && weights.matrix.rows() == matrix.view.rows &&
         weights.matrix.cols() == matrix.view.cols;
}

NewWeights PackCached(const it_matrix& matrix, const void* data, it_side side, const char* kernel,
                      const std::string& folder, int32_t& found) {
  found = 0;
  // All that can be wrong is found before the data are read.
  const auto checked = SideFrom(side);
  if (!checked.ok()) return checked.status();
  INTAGLIO_RETURN_IF_ERROR(ValidateOperand(OperandOf(matrix, data), "the matrix to pack"));
  if (kernel != nullptr && std::string(kernel).find('/') != std::string::npos) {
    return InvalidArgument("there is no kernel " + std::string(kernel));
  }
  const std::string path = folder + "/" + FileName(matrix, data, side, kernel);
  NewWeights cached = LoadFile(path);
  if (cached.ok() && Fits(**cached, matrix, side)) {
    found = 1;
    return cached;
  }
  NewWeights packed = Pack(matrix, data, side, kernel);
  if (!packed.ok() || !SaveFile(**packed, path).ok()) return packed;
  // The file's pages are shared with whoever else maps it.
  cached = LoadFile(path);
  return cached.ok() && Fits(**cached, matrix, side) ? std::move(cached) : std::move(packed);
}

}  // namespace
}  // namespace intaglio::c

it_status* it_weights_pack_cached(const it_matrix* matrix, const void* data, it_side side,
                                  const char* kernel, const char* folder, it_weights** out,
                                  int32_t* found) {
  using namespace intaglio::c;
  return Create(out, [&]() -> NewWeights {
    INTAGLIO_RETURN_IF_ERROR(NotNull(matrix, "matrix"));
    INTAGLIO_RETURN_IF_ERROR(NotNull(folder, "folder"));
    int32_t nobody_asks = 0;
    return PackCached(*matrix, data, side, kernel, folder, found == nullptr ? nobody_asks : *found);
  });
}
