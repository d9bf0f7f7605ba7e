// Panels of kernels that take instructions to make a panel's operands (kWidens of tile.h): made
// once, by the first tile, and kept for the others.
#ifndef INTAGLIO_KERNELS_WIDENED_PANEL_H_
#define INTAGLIO_KERNELS_WIDENED_PANEL_H_

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

// Reads a panel as operands that were made before,
template <class V, int kVectors>
struct AsOperands {
  const typename V::Operand* at;

  INTAGLIO_INLINE typename V::Operand Load(int j) const { return at[j]; }
  INTAGLIO_INLINE void Next() { at += kVectors; }
};

// or as packed, leaving the operands for others.
template <class V, int kVectors, class Packed>
struct MakingOperands {
  Packed packed;
  typename V::Operand* operands;

  INTAGLIO_INLINE typename V::Operand Load(int j) const { return operands[j] = packed.Load(j); }
  INTAGLIO_INLINE void Next() {
    packed.Next();
    operands += kVectors;
  }
};

// run(panel, from, to) for all rows from `first` up to `last`, where the panel's operands are worth
// keeping; else false.
template <class V, int kVectors, class Packed, class Run>
INTAGLIO_INLINE bool RunWidened(const TileArgs& args, Packed packed, int first, int last,
                                const Run& run) {
  if constexpr (requires { V::kWidens; }) {
    auto* operands = static_cast<typename V::Operand*>(args.operands);
    const int second = first + V::kMaxRows;
    if (operands == nullptr || last <= second) return false;
    run(MakingOperands<V, kVectors, Packed>{packed, operands}, first, second);
    run(AsOperands<V, kVectors>{operands}, second, last);
    return true;
  }
  return false;
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_WIDENED_PANEL_H_
