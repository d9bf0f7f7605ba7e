// Places blocks of memory in one arena.
#ifndef INTAGLIO_NN_ROUTINE_PLACE_BLOCKS_H_
#define INTAGLIO_NN_ROUTINE_PLACE_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn {

// Memory that must not be shared during the steps [first, last].
struct Block {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
  size_t offset = 0;  // the result: a multiple of kArenaAlignment
};

inline constexpr size_t kArenaAlignment = 64;

// The visits that placing blocks may take: enough for 8000 blocks that all live at once, and for
// any number of blocks of which few live at once. They take about a second.
inline constexpr int64_t kMostVisits = 1 << 25;

// Gives every block its offset and returns the size of the arena. Blocks whose steps overlap do not
// overlap in memory. Greedy: the largest block first, each into the smallest gap that holds it
// between the blocks placed before that live at the same time (Pisarchyk and Lee, "Efficient memory
// management for deep neural net inference", 2020, "greedy by size").
//
// To look at a block that was placed before is a visit, which `visits_left` counts down. When none
// is left, the remaining blocks are placed one behind the other, so that the time is bounded.
Result<size_t> PlaceBlocks(std::vector<Block>& blocks, int64_t& visits_left);
Result<size_t> PlaceBlocks(std::vector<Block>& blocks);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_PLACE_BLOCKS_H_
