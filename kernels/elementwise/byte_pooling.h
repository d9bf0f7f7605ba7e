// The largest and the mean of windows of bytes: which taps are read in which order, and what
// neighbouring windows share. A kernel vocabulary V says only how wide vectors are to be.
#ifndef INTAGLIO_KERNELS_ELEMENTWISE_BYTE_POOLING_H_
#define INTAGLIO_KERNELS_ELEMENTWISE_BYTE_POOLING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "intaglio/kernels/elementwise/line_args.h"
#include "intaglio/kernels/elementwise/window_reductions.h"

namespace intaglio {

// V makes the functions those of one kernel, compiled with its flags.
template <class V>
struct Windows {
  using Reductions = WindowReductions<V>;
  template <class T>
  using MeanOfNine = typename Reductions::template MeanOfNine<T>;

  static constexpr int kLeast = 16;  // bytes of the shortest block
  static constexpr int kBlock = std::max(kLeast, 4 * V::kLanes);
  static constexpr int kMostKept = 8;                           // columns
  static constexpr int kKeptBlocks = std::max(1, 64 / kBlock);  // of each

  // Windows whose pixels are adjacent, as those of neighbouring windows are, are one long window.
  static WindowRun Joined(WindowRun run) {
    if (run.step == 1 && run.count < kBlock && run.out_pixel == run.count) {
      run.count *= run.pixels;
      run.pixels = 1;
    }
    return run;
  }

  // Whether these are 3 x 3 windows that share columns or rows.
  static bool AreOfNine(const WindowRun& run) {
    const bool is_3x3 = run.rows == 3 && run.columns == 3;
    const bool shares = run.step < 3 && run.pixels > 1;
    return V::kLanes > 1 && is_3x3 && run.count >= kBlock && (shares || ArePairs(run));
  }
  static bool ArePairs(const WindowRun& run) {
    return run.step == 1 && run.line_step == 1 && run.lines > 1;
  }

  template <class R>
  static INTAGLIO_INLINE void RunNine(const WindowRun& run, const LineOutput& output) {
    if (ArePairs(run)) return RunPairs<R>(output, run);
    const R r(run, output);
    ForLines(run, [&](const WindowRun& line) { Slide<3>(r, line); });
  }

  template <class R>
  static INTAGLIO_INLINE void RunAny(const WindowRun& run, const LineOutput& output) {
    const R r(run, output);
    ForLines(run, [&](const WindowRun& line) { RunLine(r, line); });
  }

  template <class Line>
  static INTAGLIO_INLINE void ForLines(WindowRun run, const Line& line) {
    for (int i = 0; i < run.lines; ++i) {
      line(run);
      run.in = static_cast<const uint8_t*>(run.in) + run.line_step * run.row_stride;
      run.out = static_cast<uint8_t*>(run.out) + run.out_stride;
    }
  }

  template <class R>
  static INTAGLIO_INLINE void RunLine(const R& r, const WindowRun& run) {
    if (run.count < kLeast) return RunNarrow(r, run);
    if (run.count < kBlock) return RunWhole<kLeast>(r, run);
    const bool shares = run.step < run.columns && run.columns <= kMostKept && run.pixels > 1;
    if (!shares) return RunWhole<kBlock>(r, run);
    Slide<0>(r, run);
  }

  template <int kBytes, class R>
  static INTAGLIO_INLINE void RunWhole(const R& r, const WindowRun& run) {
    const auto* in = static_cast<const uint8_t*>(run.in);
    auto* out = static_cast<uint8_t*>(run.out);
    for (int p = 0; p < run.pixels; ++p, in += run.step * run.column_stride, out += run.out_pixel) {
      ForBlocks<kBytes>(0, run.count, run.count, [&](int, ptrdiff_t from) {
        r.template Finish<kBytes>(Whole<kBytes>(r, run, in + from), out + from);
      });
    }
  }

  // block(number, its first byte) for the blocks that hold the bytes [begin, end) of `count`. The
  // last ones are computed again rather than in a narrower block.
  template <int kBytes, class Block>
  static INTAGLIO_INLINE void ForBlocks(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t count,
                                        const Block& block) {
    int number = 0;
    for (ptrdiff_t at = begin; at < end; at += kBytes) {
      block(number++, std::min(at, count - kBytes));
    }
  }

  template <int kBytes, class R>
  static INTAGLIO_INLINE auto Whole(const R& r, const WindowRun& run, const uint8_t* in) {
    auto state = Column<kBytes>(r, run, in);
    for (int x = 1; x < run.columns; ++x) {
      in += run.column_stride;
      state = r.template Join<kBytes>(state, Column<kBytes>(r, run, in));
    }
    return state;
  }

  template <int kBytes, class R>
  static INTAGLIO_INLINE auto Column(const R& r, const WindowRun& run, const uint8_t* in) {
    auto state = r.template Tap<kBytes>(in);
    for (int y = 1; y < run.rows; ++y) {
      in += run.row_stride;
      state = r.template Join<kBytes>(state, r.template Tap<kBytes>(in));
    }
    return state;
  }

  // Columns are computed once, and kept for the windows that share them: of neighbouring blocks,
  // which arrive in L1 together. kSide: of every window, where it is not 0.
  template <int kSide, class R>
  static INTAGLIO_INLINE void Slide(const R& r, WindowRun run) {
    if constexpr (kSide > 0) run.rows = run.columns = kSide;
    constexpr ptrdiff_t kPart = kKeptBlocks * kBlock;
    typename R::template State<kBlock> kept[kSide > 0 ? kSide : kMostKept][kKeptBlocks];
    const int total = (run.pixels - 1) * run.step + run.columns;
    for (ptrdiff_t begin = 0; begin < run.count; begin += kPart) {
      const ptrdiff_t end = std::min(begin + kPart, run.count);
      const auto* in = static_cast<const uint8_t*>(run.in);
      auto* out = static_cast<uint8_t*>(run.out);
      int missing = run.columns;  // to the end of the next window
      for (int x = 0, place = 0; x < total; ++x, in += run.column_stride) {
        ForBlocks<kBlock>(begin, end, run.count, [&](int i, ptrdiff_t from) {
          kept[place][i] = Column<kBlock>(r, run, in + from);
        });
        if (++place == run.columns) place = 0;
        if (--missing > 0) continue;
        missing = run.step;
        ForBlocks<kBlock>(begin, end, run.count, [&](int i, ptrdiff_t from) {
          auto state = kept[0][i];
          for (int c = 1; c < run.columns; ++c) state = r.template Join<kBlock>(state, kept[c][i]);
          r.template Finish<kBlock>(state, out + from);
        });
        out += run.out_pixel;
      }
    }
  }

  // A reduction of blocks twice as long.
  template <class R>
  struct Twice {
    template <int kBytes>
    struct State {
      typename R::template State<kBytes / 2> low;
      typename R::template State<kBytes / 2> high;
    };

    template <int kBytes>
    INTAGLIO_INLINE State<kBytes> Tap(const uint8_t* in) const {
      constexpr int kHalf = kBytes / 2;
      return {r.template Tap<kHalf>(in), r.template Tap<kHalf>(in + kHalf)};
    }
    template <int kBytes>
    INTAGLIO_INLINE State<kBytes> Join(const State<kBytes>& a, const State<kBytes>& b) const {
      constexpr int kHalf = kBytes / 2;
      return {r.template Join<kHalf>(a.low, b.low), r.template Join<kHalf>(a.high, b.high)};
    }
    template <int kBytes>
    INTAGLIO_INLINE void Finish(const State<kBytes>& state, uint8_t* out) const {
      constexpr int kHalf = kBytes / 2;
      r.template Finish<kHalf>(state.low, out);
      r.template Finish<kHalf>(state.high, out + kHalf);
    }

    explicit Twice(const WindowRun& run, const LineOutput& output) : r(run, output) {}
    R r;
  };

  // Windows of 3 x 3 at each place, two lines at a time, which share two rows. Of neighbouring
  // blocks, which arrive in L1 together, two where there are registers for their states.
  template <class R>
  static INTAGLIO_INLINE void RunPairs(const LineOutput& output, const WindowRun& run) {
    if constexpr (V::kLanes >= 16 && sizeof(typename R::template State<kBlock>) == kBlock) {
      if (run.count >= 2 * kBlock) return RunPairs<2 * kBlock, Twice<R>>(output, run);
    }
    RunPairs<kBlock, R>(output, run);
  }

  // An odd line at the end is computed with the one before again.
  template <int kBytes, class R>
  static INTAGLIO_INLINE void RunPairs(const LineOutput& output, const WindowRun& run) {
    for (int line = 0; line < run.lines; line += 2) {
      const int first = std::min(line, run.lines - 2);
      ForBlocks<kBytes>(0, run.count, run.count, [&](int, ptrdiff_t from) {
        RunPair<kBytes, R>(output, run,
                           static_cast<const uint8_t*>(run.in) + first * run.row_stride + from,
                           static_cast<uint8_t*>(run.out) + first * run.out_stride + from);
      });
    }
  }

  // One block of channels; what windows share stays in registers: rows of two lines, two columns of
  // neighbours. The reduction is made here, where the compiler knows that no output can write to
  // it.
  template <int kBytes, class R>
  static INTAGLIO_INLINE void RunPair(const LineOutput& output, const WindowRun& run,
                                      const uint8_t* in, uint8_t* out) {
    const R r(run, output);
    using State = typename R::template State<kBytes>;
    struct Pair {
      State upper;
      State lower;
    };
    const auto join = [&](const State& a, const State& b) { return r.template Join<kBytes>(a, b); };
    const auto column = [&] {
      const uint8_t* const p = std::exchange(in, in + run.column_stride);
      const auto tap = [&](int y) { return r.template Tap<kBytes>(p + y * run.row_stride); };
      const State shared = join(tap(1), tap(2));
      return Pair{join(shared, tap(0)), join(shared, tap(3))};
    };
    const auto finish = [&](const Pair& x, const Pair& y) __attribute__((always_inline)) {
      r.template Finish<kBytes>(join(x.upper, y.upper), out);
      r.template Finish<kBytes>(join(x.lower, y.lower), out + run.out_stride);
      out += run.out_pixel;
    };
    Pair a = column();
    Pair b = column();
    for (int p = run.pixels; p > 0; p -= 2) {
      const Pair c = column();
      const Pair shared = {join(b.upper, c.upper), join(b.lower, c.lower)};
      finish(a, shared);
      if (p == 1) return;
      a = c;
      b = column();
      finish(shared, b);
    }
  }

  // Lines narrower than every block, by way of memory.
  template <class R>
  static INTAGLIO_INLINE void RunNarrow(const R& r, const WindowRun& run) {
    uint8_t taps[LineRoutines::kMostTaps * kLeast] = {};
    uint8_t result[kLeast];
    WindowRun one = run;  // among the taps
    one.row_stride = run.columns * kLeast;
    one.column_stride = kLeast;
    const auto count = static_cast<size_t>(run.count);
    const auto* in = static_cast<const uint8_t*>(run.in);
    auto* out = static_cast<uint8_t*>(run.out);
    for (int p = 0; p < run.pixels; ++p, in += run.step * run.column_stride, out += run.out_pixel) {
      uint8_t* tap = taps;
      for (int y = 0; y < run.rows; ++y) {
        for (int x = 0; x < run.columns; ++x, tap += kLeast) {
          std::memcpy(tap, in + y * run.row_stride + x * run.column_stride, count);
        }
      }
      r.template Finish<kLeast>(Whole<kLeast>(r, one, taps), result);
      std::memcpy(out, result, count);
    }
  }

  template <class T>
  static INTAGLIO_INLINE void LargestOf(const WindowRun& run, const LineOutput& output) {
    using Largest = typename Reductions::template Largest<T>;
    if (AreOfNine(run)) return RunNine<Largest>(run, output);
    RunAny<Largest>(run, output);
  }

  static void Largest(const WindowRun& windows, const LineOutput& output) {
    const WindowRun run = Joined(windows);
    if (output.is_signed) return LargestOf<int8_t>(run, output);
    LargestOf<uint8_t>(run, output);
  }

  static void Mean(const WindowRun& windows, const LineOutput& output) {
    if (windows.rows * windows.columns == 1) return Largest(windows, output);  // the tap itself
    const WindowRun run = Joined(windows);
    if (!AreOfNine(run)) return RunAny<typename Reductions::Mean>(run, output);
    if (output.is_signed) return RunNine<MeanOfNine<int8_t>>(run, output);
    RunNine<MeanOfNine<uint8_t>>(run, output);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ELEMENTWISE_BYTE_POOLING_H_
