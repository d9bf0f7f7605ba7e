// Every operation of a register vocabulary, and every function written over one, as a function over
// arrays, so that code compiled for one instruction set can be called from code compiled for none.
//
// The operations_<isa>.cc include nothing but this, the list and their vocabulary: whatever else
// they inlined a copy of, the linker might hand to the rest of the test.
#ifndef INTAGLIO_TEST_FIXEDPOINT_OPERATIONS_H_
#define INTAGLIO_TEST_FIXEDPOINT_OPERATIONS_H_

#include <cstdint>

namespace intaglio::test {

// The values that an operand may take.
struct Domain {
  enum Kind { kInt, kFloat };  // kFloat: a finite float32, given by its bits
  int32_t lowest = 0;          // of kFloat the bounds in whole numbers
  int32_t highest = 0;
  Kind kind = kInt;
};

// out[i] = operation(in[0][i], in[1][i], in[2][i], in[3][i]). Where an operation has fewer operands
// the domain of the rest is {0, 0}. `size` is a multiple of 64, more lanes than any vocabulary has.
struct Operation {
  const char* name;
  Domain domain[4];
  void (*run)(const int32_t* const in[4], int32_t* out, int64_t size);
};

struct Operation16 {
  const char* name;
  void (*run)(const int16_t* a, const int16_t* b, int16_t* out, int64_t size);
};

// The same operations in the same order for every vocabulary.
struct OperationTable {
  const Operation* operations;
  int count;
  const Operation16* operations16;
  int count16;
};

OperationTable ScalarOperations();
OperationTable Sse41Operations();
OperationTable Avx2Operations();
OperationTable Avx512Operations();
OperationTable NeonOperations();

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_FIXEDPOINT_OPERATIONS_H_
