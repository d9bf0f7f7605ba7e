// tile KERNEL FORM ROWS CHANNELS DEPTH: one call of Kernel::tile for any number of rows, between
// two functions that an instruction trace can be cut at. FORM: fitted (kMultiplyAdd), single,
// double, float (the bounded forms). Output is int8.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "intaglio/kernels/kernel_table.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/aligned_buffer.h"

using namespace intaglio;

extern "C" {
__attribute__((noinline)) void TraceBegin() { asm volatile("" ::: "memory"); }
__attribute__((noinline)) void TraceEnd() { asm volatile("" ::: "memory"); }
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Kernel* kernel = nullptr;
  for (const Kernel* row : KernelTable()) {
    if (std::strcmp(row->name, argv[1]) == 0) kernel = row;
  }
  const int rows = std::atoi(argv[3]);
  const int channels = std::atoi(argv[4]);
  const int depth = std::atoi(argv[5]);
  if (kernel == nullptr || rows < 1) return 2;

  PanelParams params{};
  const bool fitted = std::strcmp(argv[2], "fitted") == 0;
  params.form = fitted              ? ScalingForm::kMultiplyAdd
                : argv[2][0] == 's' ? ScalingForm::kSingleRoundingBounded
                : argv[2][0] == 'd' ? ScalingForm::kDoubleRoundingBounded
                                    : ScalingForm::kFloatHalfEvenBounded;
  params.fits_int16 = true;  // as FillPanelParams finds it for this depth and these multipliers
  for (int i = 0; i < kMaxPanelWidth; ++i) {
    params.mantissa[i] = 1518500250 + i;
    params.right_shift[i] = params.form == ScalingForm::kSingleRoundingBounded ? 39 : 8;
    params.scale[i] = 0.003f;
  }
  const std::vector<int8_t> panel(static_cast<size_t>(channels * depth), 1);
  const std::vector<int8_t> row_bytes(static_cast<size_t>(rows * depth), 1);
  std::vector<int8_t> dst(static_cast<size_t>(rows * channels));

  TileArgs args{};
  args.panel = panel.data();
  args.vectors = channels / kernel->panel.lanes;
  args.panel_has_lowest = false;
  args.rows = row_bytes.data();
  args.row_stride = depth;
  args.row_count = rows;
  args.groups = kernel->panel.Groups(depth);
  const AlignedBuffer narrow = AlignedBuffer::Allocate(sizeof params);
  auto* const own = static_cast<PanelForm*>(narrow.data());
  MakeParams(kernel->panel.width(), own, [&](PanelParams& made) { made = params; });
  args.params = own;
  args.epilogue = {Type::kInt8, -5, -128, 127};
  args.dst = dst.data();
  args.dst_stride = channels;
  TraceBegin();
  kernel->tile(args);
  TraceEnd();
  return 0;
}
