#include "intaglio/nn/routine/place_blocks.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace intaglio::nn {
namespace {

constexpr size_t kMaxArena = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());

bool Meet(const Block& a, const Block& b) { return a.first <= b.last && b.first <= a.last; }

// Blocks by the steps at which they live. Level k holds the blocks that live for at most 2^k steps,
// in cells of 2^k steps by their first step. So the blocks of a level that live at some step lie in
// the cell of that step or in the cell before.
class BlocksBySteps {
 public:
  // Step `first` is the first of all blocks.
  explicit BlocksBySteps(int first) : first_(first) {}

  void Add(const Block& block) {
    const size_t level = LevelOf(block);
    const size_t cell = From(block.first) >> level;
    if (levels_.size() <= level) levels_.resize(level + 1);
    std::vector<Cell>& cells = levels_[level];
    if (cells.size() <= cell) cells.resize(cell + 1);
    cells[cell].push_back(&block);
  }

  // Appends the blocks that live at the same time as `block`, in any order.
  void FindMeeting(const Block& block, std::vector<const Block*>& found, int64_t& visits) const {
    for (size_t level = 0; level < levels_.size(); ++level) {
      const std::vector<Cell>& cells = levels_[level];
      const size_t begin = From(block.first) >> level;
      const size_t end = std::min(cells.size(), (From(block.last) >> level) + 1);
      for (size_t i = begin == 0 ? 0 : begin - 1; i < end; ++i) {
        visits -= 1 + static_cast<int64_t>(cells[i].size());
        std::copy_if(cells[i].begin(), cells[i].end(), std::back_inserter(found),
                     [&](const Block* other) { return Meet(*other, block); });
      }
    }
  }

 private:
  using Cell = std::vector<const Block*>;

  size_t From(int step) const { return static_cast<size_t>(int64_t{step} - first_); }
  static size_t LevelOf(const Block& block) {
    const int64_t others = std::max<int64_t>(0, int64_t{block.last} - block.first);
    return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(others)));
  }

  int first_;
  std::vector<std::vector<Cell>> levels_;
};

// The best offset for a block of `bytes` beside `neighbours`, which are sorted by offset.
size_t BestFit(const std::vector<const Block*>& neighbours, size_t bytes) {
  size_t best = std::numeric_limits<size_t>::max();
  size_t best_gap = std::numeric_limits<size_t>::max();
  size_t end = 0;  // of the neighbours so far
  for (const Block* neighbour : neighbours) {
    if (neighbour->offset > end) {
      const size_t gap = neighbour->offset - end;
      if (gap >= bytes && gap < best_gap) {
        best = end;
        best_gap = gap;
      }
    }
    end = std::max(end, neighbour->offset + neighbour->bytes);
  }
  return best_gap == std::numeric_limits<size_t>::max() ? end : best;
}

int FirstStep(const std::vector<Block>& blocks) {
  int first = 0;
  for (const Block& block : blocks) first = std::min(first, block.first);
  return first;
}

}  // namespace

Result<size_t> PlaceBlocks(std::vector<Block>& blocks, int64_t& visits_left) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  BlocksBySteps placed(FirstStep(blocks));
  std::vector<const Block*> neighbours;
  size_t arena = 0;
  for (const size_t i : order) {
    Block& block = blocks[i];
    block.offset = arena;
    if (visits_left > 0) {
      neighbours.clear();
      placed.FindMeeting(block, neighbours, visits_left);
      std::sort(neighbours.begin(), neighbours.end(),
                [](const Block* a, const Block* b) { return a->offset < b->offset; });
      block.offset = BestFit(neighbours, block.bytes);
    }
    if (block.bytes > kMaxArena - block.offset) {
      return OutOfMemory("the tensors need more memory than can be addressed");
    }
    arena = std::max(arena, block.offset + block.bytes);
    placed.Add(block);
  }
  return arena;
}

Result<size_t> PlaceBlocks(std::vector<Block>& blocks) {
  int64_t visits_left = kMostVisits;
  return PlaceBlocks(blocks, visits_left);
}

}  // namespace intaglio::nn
