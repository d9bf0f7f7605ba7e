// The vocabularies that this build has beside Scalar.
#ifndef INTAGLIO_TEST_FIXEDPOINT_ISA_H_
#define INTAGLIO_TEST_FIXEDPOINT_ISA_H_

#include <string_view>
#include <vector>

#include "intaglio/test/fixedpoint/operations.h"

namespace intaglio::test {

struct Isa {
  const char* name;
  bool (*supported)();  // by this CPU
  OperationTable (*operations)();
};

// Narrowest first.
inline std::vector<Isa> Isas() {
#if defined(__x86_64__)
  return {
      {"sse41", [] { return __builtin_cpu_supports("sse4.1") != 0; }, Sse41Operations},
      {"avx2",
       [] { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; },
       Avx2Operations},
      {"avx512",
       [] {
         return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
       },
       Avx512Operations},
  };
#elif defined(__aarch64__) || defined(__arm__)
  return {{"neon", [] { return true; }, NeonOperations}};
#else
  return {};
#endif
}

// The operations of the widest vocabulary that this CPU has.
inline OperationTable WidestOperations() {
  OperationTable widest = ScalarOperations();
  for (const Isa& isa : Isas()) {
    if (isa.supported()) widest = isa.operations();
  }
  return widest;
}

// Null where there is none of this name.
inline const Operation* Find(const OperationTable& table, std::string_view name) {
  for (int i = 0; i < table.count; ++i) {
    if (table.operations[i].name == name) return &table.operations[i];
  }
  return nullptr;
}

// Of tests that take long, the share that runs in this program: fixedpoint_test, which also runs in
// the emulator and under sanitizers, takes one case in eight of what the exhaustive program takes.
#ifdef INTAGLIO_TEST_EXHAUSTIVE
inline constexpr int kOneCaseIn = 1;
#else
inline constexpr int kOneCaseIn = 8;
#endif

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_FIXEDPOINT_ISA_H_
