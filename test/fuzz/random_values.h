// What mutators choose from.
#ifndef INTAGLIO_TEST_FUZZ_RANDOM_VALUES_H_
#define INTAGLIO_TEST_FUZZ_RANDOM_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

namespace intaglio::fuzz {

using Random = std::minstd_rand;

inline size_t Below(size_t count, Random& random) { return random() % count; }

template <class Container>
auto& OneOf(Container& container, Random& random) {
  return container[Below(std::size(container), random)];
}

inline bool OneIn(size_t count, Random& random) { return Below(count, random) == 0; }

// Numbers at the edges of types, vectors and limits; half of them are small.
int32_t InterestingInt(Random& random);
float InterestingFloat(Random& random);

}  // namespace intaglio::fuzz

#endif  // INTAGLIO_TEST_FUZZ_RANDOM_VALUES_H_
