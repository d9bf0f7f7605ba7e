#include "intaglio/bench/cuda/cases.h"

namespace intaglio::bench {

std::span<const Case> Cases() {
  static constexpr Case kCases[] = {
      {"large 8192^3", 8192, 8192, 8192},
      {"large 4096^3", 4096, 4096, 4096},
      {"large 1024 x 8192 x 21760", 1024, 8192, 21760},
      {"few rows 128", 128, 8192, 21760},
      {"few rows 64", 64, 8192, 8192},
      {"few rows 32", 32, 8192, 8192},
      {"few rows 17", 17, 8192, 8192},
      {"few rows 16", 16, 8192, 8192},
      {"few rows 8", 8, 8192, 8192},
      {"few rows 4", 4, 8192, 8192},
      {"few rows 2", 2, 8192, 8192},
      {"few rows 1", 1, 8192, 8192},
      {"few rows 1, small", 1, 4096, 4096},
      {"fused cost 4096 x 4096 x 1024", 4096, 4096, 1024},
      // ResNet-50's 1x1 convolutions, batch 32.
      {"resnet 56 64-64", 32 * 56 * 56, 64, 64},
      {"resnet 56 64-256", 32 * 56 * 56, 256, 64},
      {"resnet 56 256-64", 32 * 56 * 56, 64, 256},
      {"resnet 28 512-128", 32 * 28 * 28, 128, 512},
      {"resnet 28 128-512", 32 * 28 * 28, 512, 128},
      {"resnet 14 1024-256", 32 * 14 * 14, 256, 1024},
      {"resnet 14 256-1024", 32 * 14 * 14, 1024, 256},
      {"resnet 7 2048-512", 32 * 7 * 7, 512, 2048},
      {"resnet 7 512-2048", 32 * 7 * 7, 2048, 512},
      {"resnet head", 32, 1000, 2048},
      // BERT base, batch 32 of 128 tokens.
      {"transformer 768-768", 32 * 128, 768, 768},
      {"transformer 768-3072", 32 * 128, 3072, 768},
      {"transformer 3072-768", 32 * 128, 768, 3072},
      {"odd 4095 x 1001 x 777", 4095, 1001, 777},
  };
  return kCases;
}

}  // namespace intaglio::bench
