// What the fuzzer (fuzzer.cc) does with files of one format. Each format's program has these.
#ifndef INTAGLIO_TEST_FUZZ_FORMAT_H_
#define INTAGLIO_TEST_FUZZ_FORMAT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace intaglio::fuzz {

// A file with some changes, and one file behind another. Empty where there is no such file.
std::vector<uint8_t> Mutate(std::span<const uint8_t> bytes, uint32_t seed);
std::vector<uint8_t> Chain(std::span<const uint8_t> first, std::span<const uint8_t> second,
                           uint32_t seed);
// Does with a file all that a program would, and returns what is wrong, or nothing.
std::string Check(std::span<const uint8_t> bytes);

}  // namespace intaglio::fuzz

#endif  // INTAGLIO_TEST_FUZZ_FORMAT_H_
