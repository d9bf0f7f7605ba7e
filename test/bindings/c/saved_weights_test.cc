// Packed weights as bytes: what is loaded multiplies as what was saved, and damage is an error.
#include "intaglio/bindings/c/saved_weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/prepack.h"
#include "intaglio/kernels/kernel_table.h"
#include "intaglio/test/gemm/problem.h"
#include "intaglio/test/nn/count_allocations.h"

namespace intaglio::test {
namespace {

using c::CountSavedBytes;
using c::LoadWeights;
using c::SaveWeights;

// Bytes at an address of a chosen remainder by 64.
class Bytes {
 public:
  explicit Bytes(size_t size, size_t remainder = 0) : memory_(size + 128), size_(size) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    first_ = (64 - address % 64) + remainder;
  }
  std::span<uint8_t> span() { return {memory_.data() + first_, size_}; }

 private:
  std::vector<uint8_t> memory_;
  size_t first_ = 0;
  size_t size_;
};

Bytes Saved(const PackedMatrix& matrix, size_t remainder = 0) {
  Bytes bytes(CountSavedBytes(matrix), remainder);
  EXPECT_TRUE(SaveWeights(matrix, bytes.span()).ok());
  return bytes;
}

std::vector<int32_t> Product(const ConstMatrix& lhs, const PackedMatrix& rhs) {
  std::vector<int32_t> sums(static_cast<size_t>(lhs.rows) * static_cast<size_t>(rhs.cols()));
  Context context(2);
  EXPECT_TRUE(
      Gemm(context, lhs, rhs, MakeMatrix(sums.data(), lhs.rows, rhs.cols()), StandardPipeline())
          .ok());
  return sums;
}

PackedMatrix Packed(const TestMatrix& matrix, const std::string& kernel = "",
                    std::vector<int32_t> zero_points = {}) {
  PackOptions options;
  options.kernel = kernel;
  options.channel_zero_points = std::move(zero_points);
  return *Prepack(Side::kRhs, matrix.view(), options);
}

// Panels of every row of the table, in its order of channels: they are taken as what they are, or
// not at all.
TEST(SavedWeights, KeepTheFormatOfTheirPanels) {
  Random random(4);
  const TestMatrix w(random, Type::kInt8, 45, 70, Order::kRowMajor, 0, 0);
  for (const Kernel* row : KernelTable()) {
    SCOPED_TRACE(row->name);
    const PackedMatrix packed = *PackedMatrix::Pack(Side::kRhs, w.view(), row->panel, {}, {});
    const auto loaded = LoadWeights(Saved(packed).span(), nullptr);
    if (!KernelFor(row->panel).ok()) {
      EXPECT_FALSE(loaded.ok());
      continue;
    }
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_TRUE(loaded->panels().format == row->panel);
    EXPECT_EQ(loaded->panels().ranges.size(), packed.panels().ranges.size());
  }
}

TEST(SavedWeights, MultiplyAsThoseThatWereSaved) {
  Random random(1);
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    for (const int channels : {1, 7, 64, 130}) {
      for (const Type type : {Type::kInt8, Type::kUInt8}) {
        const TestMatrix w(random, type, 45, channels, Order::kRowMajor, 0,
                           RandomZeroPoint(random, type));
        const TestMatrix x(random, Type::kUInt8, 9, 45, Order::kRowMajor, 0, 3);
        const PackedMatrix packed = Packed(w, kernel.name);
        for (const size_t remainder : {size_t{0}, size_t{1}, size_t{63}}) {
          Bytes bytes = Saved(packed, remainder);
          const auto loaded = LoadWeights(bytes.span(), nullptr);
          ASSERT_TRUE(loaded.ok()) << loaded.status().message();
          EXPECT_EQ(loaded->rows(), 45);
          EXPECT_EQ(loaded->cols(), channels);
          EXPECT_EQ(Product(x.view(), *loaded), Product(x.view(), packed)) << kernel.name;
        }
      }
    }
  }
}

TEST(SavedWeights, KeepZeroPointsOfChannelsAndTheLeftSide) {
  Random random(2);
  const TestMatrix w(random, Type::kUInt8, 20, 5, Order::kColMajor, 2, 0);
  const TestMatrix x(random, Type::kInt8, 4, 20, Order::kRowMajor, 0, 0);
  const PackedMatrix packed = Packed(w, "", {0, 255, 128, 3, 200});
  EXPECT_EQ(Product(x.view(), *LoadWeights(Saved(packed).span(), nullptr)),
            Product(x.view(), packed));
  const auto left = Prepack(Side::kLhs, w.view());
  ASSERT_TRUE(left.ok());
  const auto loaded = LoadWeights(Saved(*left).span(), nullptr);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->side(), Side::kLhs);
  EXPECT_EQ(loaded->rows(), 20);
}

TEST(SavedWeights, StayWhereTheyAreIfAligned) {
  Random random(3);
  const PackedMatrix packed =
      Packed(TestMatrix(random, Type::kInt8, 64, 64, Order::kRowMajor, 0, 0));
  for (const size_t remainder : {size_t{0}, size_t{16}}) {
    Bytes bytes = Saved(packed, remainder);
    auto owner = std::make_shared<int>(0);
    std::weak_ptr<int> alive = owner;
    auto loaded = LoadWeights(bytes.span(), std::move(owner));
    ASSERT_TRUE(loaded.ok());
    EXPECT_EQ(alive.expired(), remainder != 0);  // a copy keeps nobody
    loaded = Unsupported("gone");
    EXPECT_TRUE(alive.expired());
  }
}

TEST(SavedWeights, OfNothing) {
  Random random(4);
  for (const auto& [depth, channels] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
    const PackedMatrix packed =
        Packed(TestMatrix(random, Type::kInt8, depth, channels, Order::kRowMajor, 0, 0));
    const auto loaded = LoadWeights(Saved(packed).span(), nullptr);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->rows(), depth);
    EXPECT_EQ(loaded->cols(), channels);
  }
}

TEST(SavedWeights, EveryFlippedBitAndEveryCutIsAnError) {
  Random random(5);
  const PackedMatrix packed = Packed(TestMatrix(random, Type::kInt8, 9, 3, Order::kRowMajor, 0, 4));
  Bytes bytes = Saved(packed);
  const std::span<uint8_t> all = bytes.span();
  for (size_t bit = 0; bit < all.size() * 8; ++bit) {
    all[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(LoadWeights(all, nullptr).ok()) << "bit " << bit;
    all[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  for (size_t size = 0; size < all.size(); ++size) {
    const auto loaded = LoadWeights(all.first(size), nullptr);
    ASSERT_FALSE(loaded.ok()) << size;
    EXPECT_EQ(loaded.status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(LoadWeights(all, nullptr).ok());
}

// Where a head's fields lie, as version 1 has them.
constexpr size_t kVersionAt = 8;
constexpr size_t kChecksumAt = 24;
constexpr size_t kKernelAt = 32;
constexpr size_t kChannelsAt = 68;
constexpr size_t kDepthAt = 72;
constexpr size_t kLanesAt = 76;

// What a head says after one of its numbers is another one.
std::string ErrorWith(const PackedMatrix& packed, size_t at, int32_t number, bool mend_checksum);

TEST(SavedWeights, ErrorsSayWhatIsWrong) {
  Random random(6);
  const PackedMatrix packed = Packed(TestMatrix(random, Type::kInt8, 9, 3, Order::kRowMajor, 0, 4));
  EXPECT_EQ(ErrorWith(packed, 0, 7, false), "packed weights: these bytes are none");
  EXPECT_EQ(ErrorWith(packed, kVersionAt, 9, false),
            "packed weights: they have version 9, this build reads 1");
  EXPECT_EQ(ErrorWith(packed, kDepthAt, 10, false), "packed weights: the checksum does not match");
  EXPECT_EQ(ErrorWith(packed, kDepthAt, 1000, true),
            "packed weights: the sizes in the head do not add up");
  EXPECT_EQ(ErrorWith(packed, kDepthAt, -1, true), "packed weights: a size is negative");
  EXPECT_NE(ErrorWith(packed, kLanesAt, 1000, true).find("they were packed for the kernel"),
            std::string::npos);
}

// Laying out so many panels would take gigabytes.
TEST(SavedWeights, OfFewBytesTakeLittleMemory) {
  Random random(8);
  const PackedMatrix packed = Packed(TestMatrix(random, Type::kInt8, 0, 3, Order::kRowMajor, 0, 0));
  nn::ResetPeak();
  const int64_t before = nn::LiveBytes();
  EXPECT_EQ(ErrorWith(packed, kChannelsAt, 1 << 30, true),
            "packed weights: the sizes in the head do not add up");
  EXPECT_LT(nn::PeakBytes() - before, 1 << 20);
}

TEST(SavedWeights, RefuseBuffersOfAnotherSizeAndFiltersOfConvolutions) {
  Random random(7);
  const TestMatrix w(random, Type::kInt8, 9, 3, Order::kColMajor, 0, 0);
  const PackedMatrix packed = Packed(w);
  std::vector<uint8_t> bytes(CountSavedBytes(packed) + 1);
  EXPECT_FALSE(SaveWeights(packed, bytes).ok());
  PackOptions options;
  options.kernel_height = 3;
  const auto filters = Prepack(Side::kRhs, w.view(), options);
  ASSERT_TRUE(filters.ok());
  if (filters->panels().runs == 1) GTEST_SKIP() << "this kernel pads no kernel rows";
  bytes.resize(CountSavedBytes(*filters));
  EXPECT_EQ(SaveWeights(*filters, bytes).code(), StatusCode::kUnsupported);
}

// The checksum once more, by its definition, so that a test can write a head that is whole and
// wrong.
uint64_t PlainChecksum(std::span<const uint8_t> bytes, uint64_t seed);

std::string ErrorWith(const PackedMatrix& packed, size_t at, int32_t number, bool mend_checksum) {
  Bytes bytes = Saved(packed);
  const std::span<uint8_t> all = bytes.span();
  std::memcpy(all.data() + at, &number, sizeof(number));
  if (at == kLanesAt) std::memcpy(all.data() + kKernelAt, "other", 6);
  if (mend_checksum) {
    uint64_t sum = 0;
    std::memcpy(all.data() + kChecksumAt, &sum, sizeof(sum));
    sum = PlainChecksum(all.subspan(128), PlainChecksum(all.first(128), 0));
    std::memcpy(all.data() + kChecksumAt, &sum, sizeof(sum));
  }
  return LoadWeights(all, nullptr).status().message();
}

uint64_t PlainChecksum(std::span<const uint8_t> bytes, uint64_t seed) {
  const auto mix = [](uint64_t lane, uint64_t word) {
    const uint64_t product = (lane ^ word) * 0x9e3779b97f4a7c15;
    return product << 29 | product >> 35;
  };
  const auto word = [&](size_t at, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint64_t{bytes[at + i]} << 8 * i;
    return value;
  };
  uint64_t lanes[4] = {seed, seed + 1, seed + 2, seed + 3};
  size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    for (size_t i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], word(at + 8 * i, 8));
  }
  for (; at + 8 <= bytes.size(); at += 8) lanes[0] = mix(lanes[0], word(at, 8));
  if (at < bytes.size()) lanes[1] = mix(lanes[1], word(at, bytes.size() - at));
  uint64_t sum = bytes.size();
  for (const uint64_t lane : lanes) sum = mix(sum, lane);
  return sum ^ sum >> 31;
}

}  // namespace
}  // namespace intaglio::test
