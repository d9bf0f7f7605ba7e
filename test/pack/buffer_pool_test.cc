#include "intaglio/pack/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/pages.h"

namespace intaglio {
namespace {

constexpr size_t kPage = kLargePageBytes;

uintptr_t AddressOf(const AlignedBuffer& buffer) {
  return reinterpret_cast<uintptr_t>(buffer.data());
}

// Writes all of a buffer, and reads it.
void Fill(const AlignedBuffer& buffer, int byte) {
  ASSERT_NE(buffer.data(), nullptr);
  std::memset(buffer.data(), byte, buffer.bytes());
}
bool Holds(const AlignedBuffer& buffer, int byte) {
  const auto* at = static_cast<const uint8_t*>(buffer.data());
  for (size_t i = 0; i < buffer.bytes(); ++i) {
    if (at[i] != byte) return false;
  }
  return true;
}

class BufferPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (pool_ == nullptr) GTEST_SKIP() << "NO LARGE PAGES here, or addresses are checked";
  }
  std::shared_ptr<BufferPool> pool_ = BufferPool::Make(2 * kPage);
};

TEST(BufferPool, HasNoPageThatWouldStayEmpty) {
  EXPECT_EQ(BufferPool::Make(0), nullptr);
  EXPECT_EQ(BufferPool::Make(kPage / 2), nullptr);
  EXPECT_EQ(BufferPool::Make(SIZE_MAX), nullptr);
}

TEST_F(BufferPoolTest, GivesPiecesOneBehindTheOther) {
  const BufferPool::Use use(pool_);
  std::vector<AlignedBuffer> buffers;
  for (const size_t bytes : {size_t{1}, size_t{64}, size_t{65}, kPage, size_t{100}}) {
    buffers.push_back(AlignedBuffer::Allocate(bytes));
    EXPECT_EQ(buffers.back().bytes(), bytes);
    Fill(buffers.back(), static_cast<int>(buffers.size()));
  }
  EXPECT_EQ(AddressOf(buffers[0]) % kPage, 0u);
  const uintptr_t steps[] = {64, 64, 128, kPage};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(AddressOf(buffers[i + 1]) - AddressOf(buffers[i]), steps[i]);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_TRUE(Holds(buffers[i], static_cast<int>(i + 1))) << i;
  }
}

TEST_F(BufferPoolTest, LeavesToOthersWhatItHasNoRoomFor) {
  EXPECT_EQ(pool_->Take(SIZE_MAX), nullptr);
  EXPECT_EQ(pool_->Take(4 * kPage + 1), nullptr);
  ASSERT_NE(pool_->Take(4 * kPage - 64), nullptr);
  EXPECT_EQ(pool_->Take(65), nullptr);
  const BufferPool::Use use(pool_);
  const AlignedBuffer other = AlignedBuffer::Allocate(65);
  Fill(other, 1);
  EXPECT_NE(pool_->Take(64), nullptr);
  EXPECT_EQ(pool_->Take(1), nullptr);
}

TEST_F(BufferPoolTest, IsUsedByItsThreadUntilTheEndOfTheUse) {
  const auto lies_in = [](const AlignedBuffer& buffer, const std::shared_ptr<BufferPool>& pool) {
    const auto at = reinterpret_cast<uintptr_t>(pool->Take(1));
    return AddressOf(buffer) < at && at - AddressOf(buffer) <= 128;
  };
  const std::shared_ptr<BufferPool> second = BufferPool::Make(kPage);
  {
    const BufferPool::Use use(pool_);
    {
      const BufferPool::Use inner(second);
      EXPECT_TRUE(lies_in(AlignedBuffer::Allocate(64), second));
      const BufferPool::Use none(nullptr);
      EXPECT_EQ(BufferPool::InUse(), nullptr);
    }
    EXPECT_TRUE(lies_in(AlignedBuffer::Allocate(64), pool_));
    std::thread([] { EXPECT_EQ(BufferPool::InUse(), nullptr); }).join();
  }
  EXPECT_EQ(BufferPool::InUse(), nullptr);
}

TEST_F(BufferPoolTest, StaysAsLongAsItsBuffers) {
  const std::weak_ptr<BufferPool> watch = pool_;
  AlignedBuffer buffer;
  {
    const BufferPool::Use use(std::exchange(pool_, nullptr));
    buffer = AlignedBuffer::Allocate(1000);
  }
  EXPECT_FALSE(watch.expired());
  Fill(buffer, 3);
  buffer = AlignedBuffer::Allocate(1000);
  EXPECT_TRUE(watch.expired());
}

TEST_F(BufferPoolTest, ServesThreadsAtOnce) {
  constexpr int kBuffers = 500;
  std::vector<AlignedBuffer> buffers[2];
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      const BufferPool::Use use(pool_);
      for (int i = 0; i < kBuffers; ++i) {
        buffers[t].push_back(AlignedBuffer::Allocate(1 + static_cast<size_t>(i)));
        Fill(buffers[t].back(), t + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 2; ++t) {
    for (const AlignedBuffer& buffer : buffers[t]) EXPECT_TRUE(Holds(buffer, t + 1));
  }
}

TEST(AlignedBuffer, FillsLargePagesWhereItIsLarge) {
  for (const size_t bytes : {kPage - 1, kPage, 2 * kPage + 100}) {
    const AlignedBuffer buffer = AlignedBuffer::Allocate(bytes);
    Fill(buffer, 5);
    EXPECT_EQ(AddressOf(buffer) % (bytes < kPage ? AlignedBuffer::kAlignment : kPage), 0u);
    EXPECT_TRUE(Holds(buffer, 5));
  }
}

}  // namespace
}  // namespace intaglio
