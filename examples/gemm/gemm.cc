// The ten lines of the README: a small product with bias, requantization and a zero point.
#include <intaglio/gemm/gemm.h>

#include <cstdio>

int main() {
  using namespace intaglio;
  const uint8_t x[2 * 3] = {1, 2, 3, 4, 5, 6};    // 2 x 3, zero point 1
  const int8_t w[3 * 2] = {1, -1, 2, -2, 3, -3};  // 3 x 2
  const int32_t bias[2] = {10, 20};
  int8_t y[2 * 2];

  Context context(/*threads=*/1);
  const Status status =
      Gemm(context, MakeConstMatrix(x, 2, 3, Order::kRowMajor, 1), MakeConstMatrix(w, 3, 2),
           MakeMatrix(y, 2, 2),
           Pipeline(AddBias{bias}, Requantize{{1 << 30, 0}},  // times 2^30 * 2^-31 = 1/2
                    AddZeroPoint{-3}, CastTo<int8_t>{}));
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  std::printf("%d %d\n%d %d\n", y[0], y[1], y[2], y[3]);
}
