#include "intaglio/pack/safe_pairs.h"

#include <algorithm>
#include <cstdint>

#include "intaglio/pack/first_byte.h"

namespace intaglio {

bool PairsAreSafe(const ConstMatrix& m) {
  const uint8_t* const data = FirstByte(m);
  const int flip = m.type == Type::kUInt8 ? 0x80 : 0;
  const bool depth_runs = m.order == Order::kRowMajor;
  const ptrdiff_t along_depth = depth_runs ? 1 : m.stride;
  const ptrdiff_t along_channels = depth_runs ? m.stride : 1;
  for (int c = 0; c < m.rows; ++c) {
    const uint8_t* channel = data + c * along_channels;
    const auto value = [=](int k) -> int {
      return static_cast<int8_t>(channel[k * along_depth] ^ flip);
    };
    int worst = 0;
    for (int k = 0; k + 1 < m.cols; k += 2) {
      const int v = value(k);
      const int w = value(k + 1);
      worst = std::max({worst, std::max(v, 0) + std::max(w, 0), -std::min(v, 0) - std::min(w, 0)});
    }
    if (worst > 128) return false;
  }
  return true;
}

}  // namespace intaglio
