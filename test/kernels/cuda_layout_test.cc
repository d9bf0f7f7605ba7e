// Where the device's kernels put things.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "intaglio/kernels/cuda/kernel_table_cuda.h"
#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/kernels/cuda/schedule.h"
#include "intaglio/kernels/cuda/wgmma_tile.h"

namespace intaglio::cuda {
namespace {

TEST(CudaLayout, LinesAndChannelsAreInverse) {
  for (int i = 0; i < 4 * kChannelGroup; ++i) {
    EXPECT_EQ(LineOfChannel(ChannelOfLine(i)), i);
    EXPECT_EQ(ChannelOfLine(i) / kChannelGroup, i / kChannelGroup);
  }
}

TEST(CudaLayout, AThreadsColumnsAreConsecutiveChannels) {
  for (int t = 0; t < 4; ++t) {
    for (int n = 0; n < 16; ++n) {
      EXPECT_EQ(ChannelOfLine(8 * (n / 2) + 2 * t + n % 2), 16 * t + n);
    }
  }
}

// 8 lanes read a chunk each at one time: they are to touch all 32 banks, whatever the first line.
template <int kChunks>
void ExpectNoConflicts() {
  for (int first = 0; first < 64; first += 8) {
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      std::set<int> banks;
      for (int l = 0; l < 8; ++l) banks.insert(SwizzledOffset<kChunks>(first + l, chunk) / 16 % 8);
      EXPECT_EQ(banks.size(), 8u) << first << " " << chunk;
    }
  }
  std::set<int> all;
  for (int line = 0; line < 64; ++line) {
    for (int chunk = 0; chunk < kChunks; ++chunk) all.insert(SwizzledOffset<kChunks>(line, chunk));
  }
  EXPECT_EQ(all.size(), 64u * kChunks);
  EXPECT_EQ(*all.rbegin(), (64 * kChunks - 1) * kChunk);
}
TEST(CudaLayout, SwizzleHasNoBankConflicts) {
  ExpectNoConflicts<4>();
  ExpectNoConflicts<8>();
}

// The lines of the DP4A kernel, which 16 threads read 4 elements apart, 8 at a time.
TEST(CudaLayout, Dp4aReadsHaveNoBankConflicts) {
  std::set<int> lines;
  for (int i = 0; i < 64; ++i) lines.insert(Dp4aTile::LineOf(i));
  EXPECT_EQ(lines.size(), 64u);
  for (int i = 0; i < 4; ++i) {
    for (int first = 0; first < 16; first += 8) {
      std::set<int> banks;
      for (int t = first; t < first + 8; ++t) {
        banks.insert(SwizzledOffset<4>(Dp4aTile::LineOf(4 * t + i), 2) / 16 % 8);
      }
      EXPECT_EQ(banks.size(), 8u);
    }
  }
}

TEST(CudaSchedule, EveryTileOnce) {
  for (const TileGrid grid : {TileGrid{1, 1}, {1, 9}, {9, 1}, {8, 3}, {17, 5}, {64, 32}}) {
    std::set<std::pair<int, int>> seen;
    for (int i = 0; i < grid.count(); ++i) {
      const TileIndex at = TileAt(grid, i);
      EXPECT_TRUE(at.row >= 0 && at.row < grid.row_tiles);
      EXPECT_TRUE(at.channel >= 0 && at.channel < grid.channel_tiles);
      seen.insert({at.row, at.channel});
    }
    EXPECT_EQ(static_cast<int>(seen.size()), grid.count());
  }
}

TEST(CudaSchedule, SplitsCoverTheDepth) {
  for (const int depth : {1, 127, 128, 129, 1000, 1 << 30}) {
    for (const int per_split : {128, 256, 1 << 29}) {
      const int splits = DivideUp(depth, per_split);
      if (splits > 10000) continue;
      int at = 0;
      for (int s = 0; s < splits; ++s) {
        const DepthRange range = DepthOfSplit(depth, per_split, s);
        EXPECT_EQ(range.begin, at);
        EXPECT_GT(range.end, range.begin);
        at = range.end;
      }
      EXPECT_EQ(at, depth);
    }
  }
}

TEST(CudaTable, KernelsFitTheirDevices) {
  std::set<std::string_view> names;
  for (const KernelRow& row : kKernelTable) {
    SCOPED_TRACE(std::string(row.name));
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_EQ(FindKernel(row.name), &row);
    EXPECT_EQ(row.threads % 32, 0);
    EXPECT_LE(row.threads, 1024);
    // Shared memory of a multiprocessor, and 1 KiB of it taken per block: sm_75 64 KiB, sm_86 100,
    // sm_90 228.
    const int memory = row.capability >= 90 ? 228 : row.capability >= 80 ? 100 : 64;
    EXPECT_LE(row.blocks * (row.shared_bytes + 1024),
              memory * 1024 + (row.blocks > 2 ? 100 << 10 : 0));
    EXPECT_LE(row.shared_bytes + 1024, memory * 1024);
  }
  EXPECT_EQ(FindKernel("no such kernel"), nullptr);
}

// A barrier in shared memory as PTX defines it.
struct Barrier {
  explicit Barrier(int arrivals) : expected(arrivals), pending(arrivals) {}
  int expected;
  int pending;
  uint32_t parity = 0;  // of the phase that is under way

  void Arrive() {
    ASSERT_GT(pending, 0);
    if (--pending == 0) {
      pending = expected;
      parity ^= 1;
    }
  }
  bool Ended(uint32_t phase_parity) const { return parity != phase_parity; }
};

// The ring of the wgmma kernel in random order of events: no round is read before it was copied or
// overwritten before both readers gave it back, and nobody waits for ever. The copies of a round
// are announced `lag` rounds later, and what is still on the way at the end last of all.
template <class Tile>
void RunRing(int seed, int rounds, int lag) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<Barrier> full(Tile::kStages, Barrier(1));
  std::vector<Barrier> empty(Tile::kStages, Barrier(2));
  std::vector<int> content(Tile::kStages, -1);
  struct Consumer {
    Ring<Tile> ring;
    int round = 0;
    int held = -1;  // the stage of the round before
  };
  Ring<Tile> producer;
  Ring<Tile> copied;
  int produced = 0;
  int announced = 0;
  Consumer consumers[2];
  int idle = 0;
  while (produced < rounds || consumers[0].round < rounds || consumers[1].round < rounds) {
    ASSERT_LT(++idle, 10000) << "deadlock";
    const auto who = random() % 3;
    if (who == 2) {
      const auto stage = static_cast<size_t>(producer.stage());
      if (announced < produced && (produced == rounds || announced + lag < produced)) {
        full[static_cast<size_t>(copied.stage())].Arrive();
        copied.Next();
        ++announced;
        idle = 0;
      }
      if (produced == rounds || !empty[stage].Ended(producer.empty_parity())) continue;
      for (const Consumer& c : consumers) ASSERT_NE(c.held, producer.stage());
      content[stage] = produced++;
      producer.Next();
    } else {
      Consumer& c = consumers[who];
      const auto stage = static_cast<size_t>(c.ring.stage());
      if (c.round == rounds || !full[stage].Ended(c.ring.full_parity())) continue;
      ASSERT_EQ(content[stage], c.round);
      if (c.held >= 0) empty[static_cast<size_t>(c.held)].Arrive();
      c.held = c.ring.stage();
      // The last round of a tile is given back at once.
      if (++c.round % 5 == 0) {
        empty[static_cast<size_t>(c.held)].Arrive();
        c.held = -1;
      }
      c.ring.Next();
    }
    idle = 0;
  }
}
TEST(CudaRing, NothingIsLostOrOverwritten) {
  for (int seed = 0; seed < 50; ++seed) {
    for (const int lag : {0, Wgmma128x256::kLag}) {
      ASSERT_NO_FATAL_FAILURE(RunRing<Wgmma128x256>(seed, 1 + seed * 3, lag));
    }
    for (const int lag : {0, Wgmma128x128::kLag}) {
      ASSERT_NO_FATAL_FAILURE(RunRing<Wgmma128x128>(seed, 1 + seed * 3, lag));
    }
  }
}

}  // namespace
}  // namespace intaglio::cuda
