// What the README recommends of the engine beyond gemm.h: operands packed before, bound pipelines,
// plans, descriptions, and depthwise convolutions.
#include <intaglio/gemm/context.h>
#include <intaglio/gemm/depthwise.h>
#include <intaglio/gemm/describe.h>
#include <intaglio/gemm/gemm_plan.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  using namespace intaglio;
  const int8_t x[] = {1, 2, 3, 4};
  const int8_t w[] = {5, 6, 7, -128};
  int32_t y[4] = {};
  const MutableMatrix dst = MakeMatrix(y, 2, 2);
  const ConstMatrix lhs = MakeConstMatrix(x, 2, 2);
  const Pipeline pipeline(Clamp{-400, 400}, CastTo<int32_t>{});
  const auto packed = Prepack(Side::kRhs, MakeConstMatrix(w, 2, 2));
  if (!packed.ok()) return 1;
  Context context(2);

  const auto plan = GemmPlan::Make(lhs, *packed, dst, pipeline);
  if (!plan.ok() || !plan->Run(context, x, y, 2).ok()) return 1;
  if (y[0] != 19 || y[1] != -250 || y[2] != 43 || y[3] != -400) return 1;

  const auto bound = BoundPipeline::Bind(*packed, pipeline, Type::kInt8, 0);
  if (!bound.ok() || !Gemm(context, lhs, *packed, dst, *bound).ok()) return 1;

  const auto how = DescribeGemm(context, lhs, *packed, dst, pipeline);
  if (!how.ok()) return 1;
  std::printf("%s\n", how->text.c_str());

  const auto filters = PackedDepthwise::Pack(MakeConstMatrix(w, 1, 4), 1, 1);
  Im2col view;
  view.data = x;
  view.height = view.width = view.out_height = view.out_width = 1;
  view.channels = view.group_channels = 4;
  if (!filters.ok() || !Depthwise(context, view, *filters, y, pipeline).ok()) return 1;
  return y[0] == 5 && y[3] == -400 ? 0 : 1;
}
