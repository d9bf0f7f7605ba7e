// Other libraries as contenders. Each adapter is one file that fills a Peer; peers.cc lists those
// that CMake found.
#ifndef INTAGLIO_BENCH_PEERS_PEERS_H_
#define INTAGLIO_BENCH_PEERS_PEERS_H_

#include <string>
#include <vector>

#include "intaglio/bench/gemm/engine.h"

namespace intaglio::bench {

struct Peer {
  const char* name;  // also its CMake package
  std::string (*version)();
  // Ready to run on problem.threads threads, or why there is no such engine. The problem outlives
  // the engine. An adapter sets the engine's arithmetic and tolerance.
  MadeEngine (*make)(const Problem& problem);
  // Why results may be wrong, as far as that is known, for results that Check finds wrong. Null if
  // nothing is known.
  const char* why_wrong = nullptr;
};

// In the order of the report.
const std::vector<const Peer*>& Peers();

// Those that CMake did not find, comma-separated.
std::string AbsentPeers();

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_PEERS_PEERS_H_
