// Rows of convolutions, of which tiles are done sooner than other code packs them: moves of 64
// bytes, the last one of a run masked.
#ifndef INTAGLIO_KERNELS_X86_IM2COL_AMX_H_
#define INTAGLIO_KERNELS_X86_IM2COL_AMX_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/pack/im2col_rows.h"
#include "intaglio/pack/rows.h"

namespace intaglio {

// Bytes of the image as they are, for Im2colRows.
struct MaskedBytesAmx {
  static constexpr int kBytes = 64;
  using Element = uint8_t;
  static INTAGLIO_INLINE Element Convert(uint8_t byte) { return byte; }

  static INTAGLIO_INLINE void CopyRuns(const uint8_t* from, ptrdiff_t from_step, int length,
                                       int count, uint8_t* to, ptrdiff_t to_step) {
    for (; length > kBytes; length -= kBytes, from += kBytes, to += kBytes) {
      CopyPieces(from, from_step, ~__mmask64{0}, count, to, to_step);
    }
    if (length > 0) CopyPieces(from, from_step, First(length), count, to, to_step);
  }

  static INTAGLIO_INLINE void FillRuns(uint8_t value, int length, int count, uint8_t* to,
                                       ptrdiff_t to_step) {
    const __m512i bytes = _mm512_set1_epi8(static_cast<char>(value));
    for (; length > 0; length -= kBytes, to += kBytes) {
      const __mmask64 kept = First(length);
      uint8_t* at = to;
      for (int r = 0; r < count; ++r, at += to_step) _mm512_mask_storeu_epi8(at, kept, bytes);
    }
  }

 private:
  static INTAGLIO_INLINE __mmask64 First(int bytes) {
    return bytes >= kBytes ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1;
  }

  static INTAGLIO_INLINE void CopyPieces(const uint8_t* from, ptrdiff_t from_step, __mmask64 kept,
                                         int count, uint8_t* to, ptrdiff_t to_step) {
    for (int r = 0; r < count; ++r, from += from_step, to += to_step) {
      _mm512_mask_storeu_epi8(to, kept, _mm512_maskz_loadu_epi8(kept, from));
    }
  }
};

// Whether rows in `format` are made of runs of such bytes that are long enough to be worth it.
INTAGLIO_INLINE bool TakesMaskedBytes(const RowSource& source, RowFormat format) {
  if (!source.is_im2col || RowMove(format, source.type()) != 0) return false;
  const Im2col& v = source.im2col;
  const bool runs_on = v.dilation_width == 1 && v.group_channels == v.channels;
  return (runs_on ? v.kernel_width : 1) * int64_t{v.group_channels} >= 2 * MaskedBytesAmx::kBytes;
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_IM2COL_AMX_H_
