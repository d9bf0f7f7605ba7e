#include "intaglio/gemm/plan/folded_params.h"

#include <cstddef>
#include <cstring>
#include <new>

#include "intaglio/kernels/params_list.h"

namespace intaglio {

namespace {

// Element i of `to` is element source[i] of `from`, each of four bytes.
void TakeWords(void* to, const void* from, const int* source, int count) {
  for (int i = 0; i < count; ++i) {
    std::memcpy(static_cast<std::byte*>(to) + 4 * i,
                static_cast<const std::byte*>(from) + 4 * source[i], 4);
  }
}

}  // namespace

void RepeatChannels(const Panels& panels, PanelForm* first, size_t each) {
  const auto& from = static_cast<const PanelParams&>(*first);
  auto& to = *new (ParamsAt(first, 1, each)) PanelParams;
  const PanelFormat& format = panels.format;
  const int vectors = panels.ranges.front().vectors;
  int place[kMaxPanelWidth];  // of each channel in the one panel
  for (int at = 0; at < format.lanes * vectors; ++at) {
    place[ChannelOfLane(format, vectors, at / format.lanes, at % format.lanes)] = at;
  }
  to.form = from.form;
  to.fits_int16 = from.fits_int16;
  // The vectors of both panels have four channels of each 128 bits by turns.
  for (int j = 0; j < format.vectors; ++j) to.vector_form[j] = from.vector_form[j % vectors];
  int source[kMaxPanelWidth];
  for (int at = 0; at < format.width(); ++at) {
    const int channel = ChannelOfLane(format, format.vectors, at / format.lanes, at % format.lanes);
    source[at] = place[channel % panels.channels];
  }
  ForEachArray(to, from, [&](auto& words, const auto& from_words) {
    TakeWords(words, from_words, source, format.width());
  });
}

}  // namespace intaglio
