// SDOT, scheduled for cores that issue two instructions per cycle in program order (Cortex-A55).
//
// A 128-bit load would keep the vector unit waiting for two cycles. So a panel vector is loaded as
// its lower half, into the vector register, and its upper half, by way of a general register and
// INS; rows are loaded 8 bytes at a time, two groups. Each of these issues beside an SDOT: a step
// of two groups, 32 SDOTs, takes 32 cycles.
#include "intaglio/kernels/arm/bytes_neon.h"
#include "intaglio/kernels/arm/packing_neon.h"
#include "intaglio/kernels/arm/panel_dotprod.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/elementwise/byte_elementwise.h"
#include "intaglio/kernels/make_kernel.h"

namespace intaglio {
namespace {

// One group of one row against two panel vectors, and what issues beside.
#define SDOT_ROW(acc0, acc1, panel0, panel1, row, beside0, beside1) \
  "sdot %" #acc0 ".4s, " panel0 ".16b, " row "\n" beside0           \
  "\n"                                                              \
  "sdot %" #acc1 ".4s, " panel1 ".16b, " row "\n" beside1 "\n"

// acc[r][j] = offset[j] + the products of 2 * steps groups, steps > 0.
//
// v16 to v23 hold two groups of the rows, v24 and v25 the panel's first group, v26 and v27 its
// second. Each is loaded again as soon as it was used last: rows 6 and 7 and the second group early
// in the same step, the others for the next. The last step loads its own data once more, so that
// nothing is read past the end.
INTAGLIO_INLINE void AddSteps(const int8_t* panel, const int8_t* const* rows, int64_t steps,
                              const int32x4_t (&offset)[2], int32x4_t (&acc)[8][2]) {
  asm volatile(
      "ldp x2, x3, [%[rows]]\n"
      "ldp x4, x5, [%[rows], #16]\n"
      "ldp x6, x7, [%[rows], #32]\n"
      "ldp x8, x9, [%[rows], #48]\n"
      "mov x12, #0\n"
      "ldr d16, [x2]\n"
      "ldr d17, [x3]\n"
      "ldr d18, [x4]\n"
      "ldr d19, [x5]\n"
      "ldr d20, [x6]\n"
      "ldr d21, [x7]\n"
      "ldp q24, q25, [%[panel]]\n"
      "mov %0.16b, %[offset0].16b\n"
      "mov %1.16b, %[offset1].16b\n"
      "mov %2.16b, %[offset0].16b\n"
      "mov %3.16b, %[offset1].16b\n"
      "mov %4.16b, %[offset0].16b\n"
      "mov %5.16b, %[offset1].16b\n"
      "mov %6.16b, %[offset0].16b\n"
      "mov %7.16b, %[offset1].16b\n"
      "mov %8.16b, %[offset0].16b\n"
      "mov %9.16b, %[offset1].16b\n"
      "mov %10.16b, %[offset0].16b\n"
      "mov %11.16b, %[offset1].16b\n"
      "mov %12.16b, %[offset0].16b\n"
      "mov %13.16b, %[offset1].16b\n"
      "mov %14.16b, %[offset0].16b\n"
      "mov %15.16b, %[offset1].16b\n"
      "1:\n" SDOT_ROW(0, 1, "v24", "v25", "v16.4b[0]", "ldr d26, [%[panel], #32]",
                      "ldr x14, [%[panel], #40]") SDOT_ROW(2, 3, "v24", "v25", "v17.4b[0]",
                                                           "ldr d27, [%[panel], #48]",
                                                           "ldr x15, [%[panel], #56]")
          SDOT_ROW(4, 5, "v24", "v25", "v18.4b[0]", "ins v26.d[1], x14", "ldr d22, [x8, x12]")
              SDOT_ROW(6, 7, "v24", "v25", "v19.4b[0]", "ins v27.d[1], x15", "ldr d23, [x9, x12]")
                  SDOT_ROW(8, 9, "v24", "v25", "v20.4b[0]", "cmp %[steps], #1", "add x13, x12, #8")
                      SDOT_ROW(
                          10, 11, "v24", "v25", "v21.4b[0]", "csel x12, x13, x12, gt",
                          "add x13, %[panel], #64") SDOT_ROW(12, 13, "v24", "v25", "v22.4b[0]",
                                                             "csel %[panel], x13, %[panel], gt", "")
                          SDOT_ROW(14, 15, "v24", "v25", "v23.4b[0]", "", "") SDOT_ROW(
                              0, 1, "v26", "v27", "v16.4b[1]", "ldr d24, [%[panel]]",
                              "ldr x14, [%[panel], #8]") SDOT_ROW(2, 3, "v26", "v27", "v17.4b[1]",
                                                                  "ldr d25, [%[panel], #16]",
                                                                  "ldr x15, [%[panel], #24]")
                              SDOT_ROW(4, 5, "v26", "v27", "v18.4b[1]", "ins v24.d[1], x14",
                                       "ldr d16, [x2, x12]")
                                  SDOT_ROW(6, 7, "v26", "v27", "v19.4b[1]", "ins v25.d[1], x15",
                                           "ldr d17, [x3, x12]")
                                      SDOT_ROW(8, 9, "v26", "v27", "v20.4b[1]",
                                               "ldr d18, [x4, x12]", "ldr d19, [x5, x12]")
                                          SDOT_ROW(10, 11, "v26", "v27", "v21.4b[1]", "",
                                                   "ldr d20, [x6, x12]")
                                              SDOT_ROW(12, 13, "v26", "v27", "v22.4b[1]", "",
                                                       "ldr d21, [x7, x12]")
                                                  SDOT_ROW(14, 15, "v26", "v27", "v23.4b[1]",
                                                           "subs %[steps], %[steps], #1", "b.ne 1b")
      : "=&w"(acc[0][0]), "=&w"(acc[0][1]), "=&w"(acc[1][0]), "=&w"(acc[1][1]), "=&w"(acc[2][0]),
        "=&w"(acc[2][1]), "=&w"(acc[3][0]), "=&w"(acc[3][1]), "=&w"(acc[4][0]), "=&w"(acc[4][1]),
        "=&w"(acc[5][0]), "=&w"(acc[5][1]), "=&w"(acc[6][0]), "=&w"(acc[6][1]), "=&w"(acc[7][0]),
        "=&w"(acc[7][1]), [panel] "+r"(panel), [steps] "+r"(steps)
      : [rows] "r"(rows), [offset0] "w"(offset[0]), [offset1] "w"(offset[1])
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x12", "x13", "x14", "x15", "v16", "v17",
        "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "cc", "memory");
}
#undef SDOT_ROW

struct KernelDotprodA55 : PanelDotprod {
  // Unlike PanelNeon's, elided where AddDepth does not need it.
  static INTAGLIO_INLINE I32 Load(const int32_t* p) { return vld1q_s32(p); }

  template <int kVectors, int kRows>
  static INTAGLIO_INLINE void AddDepth(const TileArgs& args, const void* rows,
                                       I32 (&acc)[kRows][kVectors]) {
    if constexpr (kVectors == 2 && kRows == 8) {
      if (args.groups >= 2) return AddWhole(args, static_cast<const int8_t*>(rows), acc);
    }
    PanelDotprod::AddDepth(args, rows, acc);
  }

 private:
  static INTAGLIO_INLINE void AddWhole(const TileArgs& args, const int8_t* rows, I32 (&acc)[8][2]) {
    const int8_t* row[8];
    for (int r = 0; r < 8; ++r) row[r] = rows + r * args.row_stride;
    const int32_t* offset = ParamsIn<PanelNeon>(args)->offset;
    const int steps = args.groups / 2;
    AddSteps(args.panel, row, steps, {Load(offset), Load(offset + kLanes)}, acc);
    AddGroups(args.panel + steps * 64, rows + steps * 8, args.row_stride, args.groups % 2, acc);
  }
};

}  // namespace

extern constinit const Kernel kKernelDotprodA55 =
    MakeKernel<KernelDotprodA55, TapsDotprod>({.name = "dotprod_a55",
                                               .needs = kNeon | kDotprod | kInOrder,
                                               .row_format = RowFormat::kSigned8,
                                               .pack = kPanelRoutinesNeon<KernelDotprodA55>,
                                               .lines = &kLines<KernelDotprodA55, BytesNeon>});

}  // namespace intaglio
