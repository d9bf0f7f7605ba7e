// Parameters of panels, one behind the other, as the kernels of that panel width read them. They
// are made for the widest of panels, and kept in a fraction of its size where panels are narrower.
#ifndef INTAGLIO_KERNELS_PARAMS_LIST_H_
#define INTAGLIO_KERNELS_PARAMS_LIST_H_

#include <cstddef>
#include <new>
#include <type_traits>

#include "intaglio/kernels/tile/epilogue.h"

namespace intaglio {

// Of one panel of this width, which is a kernel's; else 0.
size_t ParamsBytes(int width);

// The first `width` channels of `wide`, fewer than kMaxPanelWidth.
void KeepParams(const PanelParams& wide, int width, PanelForm* to);

// Those of panel `index`; each: ParamsBytes.
template <class Form>
Form* ParamsAt(Form* first, size_t index, size_t each) {
  using Byte = std::conditional_t<std::is_const_v<Form>, const std::byte, std::byte>;
  return reinterpret_cast<Form*>(reinterpret_cast<Byte*>(first) + index * each);
}

// Makes those at `to`, by make(PanelParams&).
template <class Make>
void MakeParams(int width, PanelForm* to, const Make& make) {
  if (width == kMaxPanelWidth) return make(*new (to) PanelParams);
  PanelParams wide;
  make(wide);
  KeepParams(wide, width, to);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_PARAMS_LIST_H_
