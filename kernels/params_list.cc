#include "intaglio/kernels/params_list.h"

#include <cstring>

namespace intaglio {
namespace {

// use(ParamsOfWidth<width>*), which is null, for widths below the widest.
template <class Use>
void WithWidth(int width, const Use& use) {
  if (width == 4) return use(static_cast<ParamsOfWidth<4>*>(nullptr));
  if (width == 8) return use(static_cast<ParamsOfWidth<8>*>(nullptr));
  if (width == 16) return use(static_cast<ParamsOfWidth<16>*>(nullptr));
}

// What a form does not read was never written: bytes may be copied all the same.
template <class Array>
void Copy(Array& to, const void* from) {
  std::memcpy(to, from, sizeof to);
}

}  // namespace

size_t ParamsBytes(int width) {
  size_t bytes = width == kMaxPanelWidth ? sizeof(PanelParams) : 0;
  WithWidth(width, [&](auto* params) { bytes = sizeof *params; });
  return bytes;
}

void KeepParams(const PanelParams& wide, int width, PanelForm* to) {
  WithWidth(width, [&](auto* type) {
    auto& params = *new (to) std::remove_pointer_t<decltype(type)>;
    static_cast<PanelForm&>(params) = wide;
    ForEachArray(params, wide, [](auto& to, const auto& from) { Copy(to, from); });
  });
}

}  // namespace intaglio
