#include "intaglio/test/fuzz/random_values.h"

#include <limits>

namespace intaglio::fuzz {

int32_t InterestingInt(Random& random) {
  static constexpr int32_t kValues[] = {0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        5,
                                        7,
                                        8,
                                        9,
                                        15,
                                        16,
                                        17,
                                        31,
                                        33,
                                        64,
                                        65,
                                        127,
                                        128,
                                        255,
                                        256,
                                        257,
                                        511,
                                        1000,
                                        4095,
                                        4097,
                                        32767,
                                        32769,
                                        65536,
                                        -1,
                                        -2,
                                        -3,
                                        -4,
                                        -128,
                                        -32768,
                                        100,
                                        50,
                                        12,
                                        6,
                                        24,
                                        100000,
                                        1 << 24,
                                        1 << 30,
                                        std::numeric_limits<int32_t>::max(),
                                        std::numeric_limits<int32_t>::min()};
  // Half of the mutations give small numbers, which real models have.
  return OneIn(2, random) ? static_cast<int32_t>(Below(9, random)) : OneOf(kValues, random);
}

float InterestingFloat(Random& random) {
  static constexpr float kValues[] = {0.0f,
                                      -0.0f,
                                      1.0f,
                                      -1.0f,
                                      0.5f,
                                      1.0f / 256,
                                      1.0f / 128,
                                      1.0f / 32768,
                                      1e-10f,
                                      1e-30f,
                                      1e-42f,
                                      1e10f,
                                      3e38f,
                                      100.0f,
                                      6.0f,
                                      0.1f,
                                      std::numeric_limits<float>::infinity(),
                                      std::numeric_limits<float>::quiet_NaN()};
  return OneOf(kValues, random);
}

}  // namespace intaglio::fuzz
