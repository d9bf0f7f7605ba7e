// A library of operators that was compiled with other headers. What lies behind its version is not
// what the command takes it for.
#include <cstdint>

extern "C" const uint64_t* IntaglioOperators() {
  static const uint64_t kVersion = 12345;
  return &kVersion;
}
