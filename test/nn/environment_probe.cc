// Prepares a model for the best kernel, and for one named kernel, and prints the results.
#include <cstdio>

#include "intaglio/test/nn/large_network.h"

int main() {
  for (const char* kernel : {"", "scalar"}) {
    intaglio::nn::PrepareOptions options;
    options.kernel = kernel;
    const auto model = intaglio::nn::Model::Prepare(intaglio::nn::MakeLargeNetwork(), options);
    std::printf("%s\n", model.ok() ? "ok" : model.status().message().c_str());
  }
  return 0;
}
