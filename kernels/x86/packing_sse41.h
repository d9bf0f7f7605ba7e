// The packing routines of x86 kernels (pack/panels.h, pack/rows.h).
#ifndef INTAGLIO_KERNELS_X86_PACKING_SSE41_H_
#define INTAGLIO_KERNELS_X86_PACKING_SSE41_H_

#include "intaglio/kernels/fill_panel.h"
#include "intaglio/kernels/panel_totals.h"
#include "intaglio/kernels/x86/pack_rows.h"
#include "intaglio/kernels/x86/shuffles_sse41.h"
#include "intaglio/kernels/x86/sum_rows_sse41.h"

namespace intaglio {

// For a kernel vocabulary V, with the widest shuffles of its instruction set.
template <class V, class Shuffles>
inline constexpr PanelRoutines kPanelRoutines{FillPanelOf<V, Shuffles, ShufflesSse41>,
                                              SumPanelOf<V>, MeasurePanelOf<V>};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_PACKING_SSE41_H_
