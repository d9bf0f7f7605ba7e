// Runs one product and prints its status. With an argument, it packs for the kernel of that name
// instead. environment.sh runs it with INTAGLIO_ISA and INTAGLIO_VERBOSE set.
#include <cstdio>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/gemm.h"

int main(int argc, char** argv) {
  const int8_t data[12] = {};
  if (argc > 1) {
    intaglio::PackOptions options;
    options.kernel = argv[1];
    const auto packed =
        Prepack(intaglio::Side::kRhs, intaglio::MakeConstMatrix(data, 4, 3), options);
    const auto filters =
        intaglio::PackedDepthwise::Pack(intaglio::MakeConstMatrix(data, 4, 3), 2, 1, argv[1]);
    std::printf("%s\n%s\n", packed.ok() ? "ok" : packed.status().message().c_str(),
                filters.ok() ? "ok" : filters.status().message().c_str());
    return packed.ok() && filters.ok() ? 0 : 1;
  }
  int32_t dst[9];
  intaglio::Context context;
  const intaglio::Status status =
      Gemm(context, intaglio::MakeConstMatrix(data, 3, 4), intaglio::MakeConstMatrix(data, 4, 3),
           intaglio::MakeMatrix(dst, 3, 3), intaglio::StandardPipeline{});
  std::printf("%s\n", status.ok() ? "ok" : status.message().c_str());
  return status.ok() ? 0 : 1;
}
