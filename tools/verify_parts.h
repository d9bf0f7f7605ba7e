// Checks whether graphs that run one after the other give the bits of one graph.
#ifndef INTAGLIO_TOOLS_VERIFY_PARTS_H_
#define INTAGLIO_TOOLS_VERIFY_PARTS_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"

namespace intaglio::tools {

struct ChainLink {
  nn::Graph graph;
  bool integer_only = false;  // prepare it so (PrepareOptions)
};

// Prepares all graphs, runs them `runs` times on successive inputs, and compares every output. Each
// run continues with the states of the one before. `given` are inputs of the whole,
// [NAME=]FILE.npy; the other inputs are made. The limits hold for the whole and for each graph of
// the chain by itself. The error says what cannot be prepared or run, or which output differs.
Status VerifyChain(const nn::Graph& whole, const std::vector<ChainLink>& chain,
                   const std::vector<std::string>& given, int runs, const nn::Limits& limits = {});

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_VERIFY_PARTS_H_
