// A product of two by two matrices: proves that headers and library belong together.
#include <intaglio/gemm/gemm.h>

#include <cstdint>
#include <cstdio>

int main() {
  const int8_t lhs[] = {1, 2, 3, 4};
  const int8_t rhs[] = {5, 6, 7, -128};
  int32_t dst[4] = {};
  intaglio::Context context(2);
  const intaglio::Status status = intaglio::Gemm(
      context, intaglio::MakeConstMatrix(lhs, 2, 2), intaglio::MakeConstMatrix(rhs, 2, 2),
      intaglio::MakeMatrix(dst, 2, 2), intaglio::StandardPipeline{});
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  std::printf("%d %d %d %d\n", dst[0], dst[1], dst[2], dst[3]);
  return dst[0] == 19 && dst[1] == -250 && dst[2] == 43 && dst[3] == -494 ? 0 : 1;
}
