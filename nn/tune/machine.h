// What a tuning was made for: a network and a machine.
#ifndef INTAGLIO_NN_TUNE_MACHINE_H_
#define INTAGLIO_NN_TUNE_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn::tune {

struct Machine {
  std::string cpu;  // as the operating system names it; "unknown" where it does not
  std::vector<std::string> kernels;  // that it can use, the fastest first
  std::string library;               // the version of Intaglio

  bool operator==(const Machine&) const = default;
};

Machine ThisMachine();

// "AMD EPYC, avx512-vnni, Intaglio 0.1.0"
std::string Describe(const Machine& machine);

// A number for a network: of its layers with their operators, tensors and constants. Networks that
// differ only in parameters which change no shape may have the same number.
uint64_t DigestOf(const Graph& graph);
// Whether a digest is the network's. The first plans had another one, which takes longer.
bool HasDigest(const Graph& graph, uint64_t digest);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_MACHINE_H_
