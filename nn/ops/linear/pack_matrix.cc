#include "intaglio/nn/ops/linear/pack_matrix.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "intaglio/gemm/word_panels.h"

namespace intaglio::nn {
namespace {

using Form = std::shared_ptr<const PackedMatrix>;

Result<Form> MakeForm(const LayerView& layer, const LayerOptions& options,
                      const ConstMatrix& matrix, const std::vector<int32_t>& zero_points,
                      PanelsFor results) {
  PackOptions pack;
  pack.kernel = options.kernel;
  pack.channel_zero_points = zero_points;
  Result<PackedMatrix> packed = results == PanelsFor::kWords
                                    ? PrepackForWords(Side::kRhs, matrix, pack)
                                    : Prepack(Side::kRhs, matrix, pack);
  if (!packed.ok()) return layer.Wrap(packed.status());
  return Form(std::make_shared<PackedMatrix>(std::move(*packed)));
}

template <class Make>
Result<PackedOf<PackedMatrix>> PackKey(const LayerOptions& options, const ConstMatrix& m,
                                       const PackedOnce::Key& from, PanelsFor results,
                                       const Make& make) {
  PackedOnce::Key key = {
      KeyOf(m.data), static_cast<int64_t>(m.type),  m.rows,       m.cols,
      m.stride,      static_cast<int64_t>(m.order), m.zero_point, static_cast<int64_t>(results)};
  key.insert(key.end(), from.begin(), from.end());
  bool is_new = false;
  const Result<Form> packed = PackOnce<PackedMatrix>(options, key, make, is_new);
  if (!packed.ok()) return packed.status();
  return PackedOf<PackedMatrix>{**packed, is_new ? (*packed)->bytes() : 0};
}

}  // namespace

Result<PackedOf<PackedMatrix>> PackMatrix(const LayerView& layer, const LayerOptions& options,
                                          const ConstMatrix& matrix,
                                          const std::vector<int32_t>& zero_points,
                                          PanelsFor results) {
  const PackedOnce::Key from(zero_points.begin(), zero_points.end());
  return PackKey(options, matrix, from, results,
                 [&] { return MakeForm(layer, options, matrix, zero_points, results); });
}

Result<PackedOf<PackedMatrix>> PackCopied(const LayerView& layer, const LayerOptions& options,
                                          const ConstMatrix& matrix, const PackedOnce::Key& from,
                                          const std::function<std::vector<std::byte>()>& copy) {
  return PackKey(options, matrix, from, PanelsFor::kAny, [&] {
    const std::vector<std::byte> numbers = copy();
    ConstMatrix copied = matrix;
    copied.data = numbers.data();
    return MakeForm(layer, options, copied, {}, PanelsFor::kAny);
  });
}

}  // namespace intaglio::nn
