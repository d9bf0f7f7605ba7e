// The Winograd routines of the x86 kernels that multiply pairs of int16.
#ifndef INTAGLIO_KERNELS_X86_WINOGRAD_X86_H_
#define INTAGLIO_KERNELS_X86_WINOGRAD_X86_H_

#include "intaglio/kernels/winograd/winograd_tile.h"
#include "intaglio/kernels/x86/packing_x86.h"

namespace intaglio {

// The routines of a kernel V whose tiles multiply the same panels. They take a third to three
// quarters of the tiles' time (Zen 4); of lines, where tiles are full, half to three quarters.
template <class V, class Words, class Shuffles>
inline constexpr WinogradRoutines kWinogradX86 = MakeWinograd<V, Words, true>(
    kPanelRoutines<V, Shuffles>, {}, {.least_fill = 75, .least_tiles = 8});

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_WINOGRAD_X86_H_
