// Runs one product and prints its status: what environment.sh sets INTAGLIO_ISA and
// INTAGLIO_VERBOSE for.
#include <cstdio>

#include "intaglio/gemm/gemm.h"

int main() {
  const int8_t data[12] = {};
  int32_t dst[9];
  intaglio::Context context;
  const intaglio::Status status =
      Gemm(context, intaglio::MakeConstMatrix(data, 3, 4), intaglio::MakeConstMatrix(data, 4, 3),
           intaglio::MakeMatrix(dst, 3, 3), intaglio::StandardPipeline{});
  std::printf("%s\n", status.ok() ? "ok" : status.message().c_str());
  return status.ok() ? 0 : 1;
}
