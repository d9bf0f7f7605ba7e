#include "intaglio/nn/ops/recurrent/directed_product.h"

#include <algorithm>
#include <utility>

#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/routine/packed_once.h"

namespace intaglio::nn {
namespace {

constexpr int kBlock = 48;  // rows that are multiplied by one panel after the other
constexpr ptrdiff_t kLeastMacsOfThread = 1 << 17;

using Panels = std::vector<FloatPanels>;

class FloatDirectedProduct final : public DirectedProduct {
 public:
  size_t ScratchBytes(int) const override { return 0; }

  Status Multiply(Context& context, Directions of, const DirectedMatrix<const float>& x, int rows,
                  const DirectedMatrix<float>& y, std::byte*) const override {
    // Items are numbered by block, then by direction, then by panel.
    const ptrdiff_t directions = of.count();
    const ptrdiff_t count = panels->front().count();
    const ptrdiff_t blocks = (ptrdiff_t{rows} + kBlock - 1) / kBlock;
    const ptrdiff_t items = blocks * directions * count;
    if (items == 0) return {};
    const ptrdiff_t macs = ptrdiff_t{rows} * directions * outputs * depth;
    const ptrdiff_t least = kLeastMacsOfThread / std::max<ptrdiff_t>(1, macs / items) + 1;
    const auto multiply = [&](ptrdiff_t begin, ptrdiff_t end) {
      while (begin < end) {
        const ptrdiff_t panel = begin % count;
        const ptrdiff_t d = of.begin + begin / count % directions;
        const ptrdiff_t row = begin / count / directions * kBlock;
        const ptrdiff_t last = std::min(count, panel + end - begin);
        (*panels)[static_cast<size_t>(d)].Multiply(
            x.data + d * x.direction + row * x.row, x.row,
            static_cast<int>(std::min<ptrdiff_t>(kBlock, rows - row)), static_cast<int>(panel),
            static_cast<int>(last), finish, static_cast<int>(d) * outputs,
            y.data + d * y.direction + row * y.row, y.row);
        begin += last - panel;
      }
    };
    ForParts(context, items, least, multiply);
    return {};
  }

  int depth = 0;
  int outputs = 0;  // per direction
  FloatFinish finish;
  std::shared_ptr<const Panels> panels;  // per direction
};

}  // namespace

MadeProduct MakeFloatProduct(const LayerView& layer, const DirectedRows& of,
                             std::vector<float> bias, const LayerOptions& options) {
  const Tensor& weights = layer.input(of.input);
  auto product = std::make_unique<FloatDirectedProduct>();
  product->depth = weights.shape[1];
  product->outputs = of.count;
  product->finish.bias = std::move(bias);
  product->finish.bounds = Bounds<float>::Open(Activation::kNone);
  bool is_new = false;
  auto packed = PackOnce<Panels>(
      options, {KeyOf(weights.data), product->depth, of.directions, of.rows, of.first, of.count},
      [&]() -> Result<std::shared_ptr<const Panels>> {
        auto panels = std::make_shared<Panels>();
        const auto* const data = static_cast<const float*>(weights.data);
        for (int d = 0; d < of.directions; ++d) {
          const ptrdiff_t row = ptrdiff_t{d} * of.rows + of.first;
          panels->emplace_back(data + row * product->depth, of.count, product->depth,
                               FloatLoopsOf(options.kernel, options.float_sums));
        }
        return std::shared_ptr<const Panels>(std::move(panels));
      },
      is_new);
  if (!packed.ok()) return packed.status();
  product->panels = std::move(*packed);
  for (const FloatPanels& panels : *product->panels) {
    if (is_new) product->constant_bytes += panels.bytes();
  }
  return std::unique_ptr<const DirectedProduct>(std::move(product));
}

}  // namespace intaglio::nn
