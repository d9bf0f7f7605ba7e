// Plain NEON, scheduled for cores that issue two instructions per cycle in program order
// (Cortex-A53).
//
// SMULL and SMLAL2 add two products in int16 before SADALP, which is a slow instruction there,
// widens them. That is exact unless both are (-128)(-128): panels that hold -128 go the way of
// out-of-order cores, one product at a time.
//
// A 128-bit load, and a 64-bit load of a vector register, issue beside no vector operation; a
// general load does. So a vector is loaded as its lower half, in a cycle together with the INS of
// the upper half of the vector before, which came by way of a general register.
#include "intaglio/kernels/arm/bytes_neon.h"
#include "intaglio/kernels/arm/packing_neon.h"
#include "intaglio/kernels/arm/panel_dot16_neon.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"

namespace intaglio {
namespace {

// part[r][c] = the products of row r and channel c of one panel vector, in four sums, over 16 *
// steps depths, steps > 0; stride is from one step of the panel to the next.
//
// v16 to v19 hold the rows, v20 to v23 the channels. The products of a channel, v24 to v27 or v28
// to v31 in turn, are added up while those of the next are made. Vectors are loaded for the next
// step once they were used last; the last step loads its own data once more, so that nothing is
// read past the end.
INTAGLIO_INLINE void AddSteps(const int8_t* panel, ptrdiff_t stride, const int8_t* const* rows,
                              int64_t steps, int32x4_t (&part)[4][4]) {
  asm volatile(
      "ldp x2, x3, [%[rows]]\n"
      "ldp x4, x5, [%[rows], #16]\n"
      "mov x6, #0\n"
      "ldr q16, [x2]\n"
      "ldr q17, [x3]\n"
      "ldr q18, [x4]\n"
      "ldr q19, [x5]\n"
      "ldp q20, q21, [%[panel]]\n"
      "ldp q22, q23, [%[panel], #32]\n"
      "ldr x10, [%[panel], #56]\n"
      "movi v28.4s, #0\n"
      "movi v29.4s, #0\n"
      "movi v30.4s, #0\n"
      "movi v31.4s, #0\n"
      "movi %0.4s, #0\n"
      "movi %1.4s, #0\n"
      "movi %2.4s, #0\n"
      "movi %3.4s, #0\n"
      "movi %4.4s, #0\n"
      "movi %5.4s, #0\n"
      "movi %6.4s, #0\n"
      "movi %7.4s, #0\n"
      "movi %8.4s, #0\n"
      "movi %9.4s, #0\n"
      "movi %10.4s, #0\n"
      "movi %11.4s, #0\n"
      "movi %12.4s, #0\n"
      "movi %13.4s, #0\n"
      "movi %14.4s, #0\n"
      "movi %15.4s, #0\n"
      "1:\n"
      "smull v24.8h, v20.8b, v16.8b\n"
      "cmp %[steps], #1\n"
      "smull v25.8h, v20.8b, v17.8b\n"
      "add x11, x6, #16\n"
      "smull v26.8h, v20.8b, v18.8b\n"
      "csel x6, x11, x6, gt\n"
      "smull v27.8h, v20.8b, v19.8b\n"
      "add x11, %[panel], %[stride]\n"
      "smlal2 v24.8h, v20.16b, v16.16b\n"
      "csel %[panel], x11, %[panel], gt\n"
      "smlal2 v25.8h, v20.16b, v17.16b\n"
      "add x7, x6, #8\n"
      "smlal2 v26.8h, v20.16b, v18.16b\n"
      "ldr x9, [%[panel], #8]\n"
      "smlal2 v27.8h, v20.16b, v19.16b\n"
      "ldr d20, [%[panel]]\n"
      "ins v23.d[1], x10\n"
      "sadalp %3.4s, v28.8h\n"
      "ldr x10, [%[panel], #24]\n"
      "sadalp %7.4s, v29.8h\n"
      "sadalp %11.4s, v30.8h\n"
      "sadalp %15.4s, v31.8h\n"
      "smull v28.8h, v21.8b, v16.8b\n"
      "smull v29.8h, v21.8b, v17.8b\n"
      "smull v30.8h, v21.8b, v18.8b\n"
      "smull v31.8h, v21.8b, v19.8b\n"
      "smlal2 v28.8h, v21.16b, v16.16b\n"
      "smlal2 v29.8h, v21.16b, v17.16b\n"
      "smlal2 v30.8h, v21.16b, v18.16b\n"
      "smlal2 v31.8h, v21.16b, v19.16b\n"
      "ldr d21, [%[panel], #16]\n"
      "ins v20.d[1], x9\n"
      "sadalp %0.4s, v24.8h\n"
      "ldr x9, [%[panel], #40]\n"
      "sadalp %4.4s, v25.8h\n"
      "sadalp %8.4s, v26.8h\n"
      "sadalp %12.4s, v27.8h\n"
      "smull v24.8h, v22.8b, v16.8b\n"
      "smull v25.8h, v22.8b, v17.8b\n"
      "smull v26.8h, v22.8b, v18.8b\n"
      "smull v27.8h, v22.8b, v19.8b\n"
      "smlal2 v24.8h, v22.16b, v16.16b\n"
      "smlal2 v25.8h, v22.16b, v17.16b\n"
      "smlal2 v26.8h, v22.16b, v18.16b\n"
      "smlal2 v27.8h, v22.16b, v19.16b\n"
      "ldr d22, [%[panel], #32]\n"
      "ins v21.d[1], x10\n"
      "sadalp %1.4s, v28.8h\n"
      "ldr x10, [x2, x7]\n"
      "sadalp %5.4s, v29.8h\n"
      "sadalp %9.4s, v30.8h\n"
      "sadalp %13.4s, v31.8h\n"
      "smull v28.8h, v23.8b, v16.8b\n"
      "subs %[steps], %[steps], #1\n"
      "smull v29.8h, v23.8b, v17.8b\n"
      "smull v30.8h, v23.8b, v18.8b\n"
      "smull v31.8h, v23.8b, v19.8b\n"
      "smlal2 v28.8h, v23.16b, v16.16b\n"
      "smlal2 v29.8h, v23.16b, v17.16b\n"
      "smlal2 v30.8h, v23.16b, v18.16b\n"
      "smlal2 v31.8h, v23.16b, v19.16b\n"
      "ldr d16, [x2, x6]\n"
      "ins v22.d[1], x9\n"
      "sadalp %2.4s, v24.8h\n"
      "ldr x9, [x3, x7]\n"
      "ldr d17, [x3, x6]\n"
      "ins v16.d[1], x10\n"
      "sadalp %6.4s, v25.8h\n"
      "ldr x10, [x4, x7]\n"
      "ldr d18, [x4, x6]\n"
      "ins v17.d[1], x9\n"
      "sadalp %10.4s, v26.8h\n"
      "ldr x9, [x5, x7]\n"
      "ldr d19, [x5, x6]\n"
      "ins v18.d[1], x10\n"
      "sadalp %14.4s, v27.8h\n"
      "ldr x10, [%[panel], #56]\n"
      "ldr d23, [%[panel], #48]\n"
      "ins v19.d[1], x9\n"
      "b.ne 1b\n"
      "sadalp %3.4s, v28.8h\n"
      "sadalp %7.4s, v29.8h\n"
      "sadalp %11.4s, v30.8h\n"
      "sadalp %15.4s, v31.8h\n"
      : "=&w"(part[0][0]), "=&w"(part[0][1]), "=&w"(part[0][2]), "=&w"(part[0][3]),
        "=&w"(part[1][0]), "=&w"(part[1][1]), "=&w"(part[1][2]), "=&w"(part[1][3]),
        "=&w"(part[2][0]), "=&w"(part[2][1]), "=&w"(part[2][2]), "=&w"(part[2][3]),
        "=&w"(part[3][0]), "=&w"(part[3][1]), "=&w"(part[3][2]),
        "=&w"(part[3][3]), [panel] "+r"(panel), [steps] "+r"(steps)
      : [rows] "r"(rows), [stride] "r"(stride)
      : "x2", "x3", "x4", "x5", "x6", "x7", "x9", "x10", "x11", "v16", "v17", "v18", "v19", "v20",
        "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc",
        "memory");
}

struct KernelNeonA53 : PanelDot16Neon {
  template <int kVectors, int kRows>
  static INTAGLIO_INLINE void AddDepth(const TileArgs& args, const void* rows,
                                       I32 (&acc)[kRows][kVectors]) {
    if constexpr (kRows == 4) {
      if (args.groups > 0 && !args.panel_has_lowest) return AddPairs(args, rows, acc);
    }
    PanelDot16Neon::AddDepth(args, rows, acc);
  }

 private:
  template <int kVectors>
  static INTAGLIO_INLINE void AddPairs(const TileArgs& args, const void* rows,
                                       I32 (&acc)[4][kVectors]) {
    const int8_t* row[4];
    for (int r = 0; r < 4; ++r) {
      row[r] = static_cast<const int8_t*>(rows) + r * args.row_stride;
    }
    constexpr int kVectorBytes = kLanes * kDepthStep;
    for (int j = 0; j < kVectors; ++j) {
      I32 part[4][kLanes];
      AddSteps(args.panel + j * kVectorBytes, kVectors * kVectorBytes, row, args.groups, part);
      for (int r = 0; r < 4; ++r) acc[r][j] = Add(acc[r][j], SumEach(part[r]));
    }
  }
};

}  // namespace

extern constinit const Kernel kKernelNeonA53 =
    MakeKernel<KernelNeonA53, TapsNeon>({.name = "neon_a53",
                                         .needs = kNeon | kInOrder,
                                         .row_format = RowFormat::kSigned8,
                                         .pack = kPanelRoutinesNeon<KernelNeonA53>,
                                         .lines = &kLines<KernelNeonA53, BytesNeon>});

}  // namespace intaglio
