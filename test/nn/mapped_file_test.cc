#include "intaglio/nn/files/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace intaglio::nn {
namespace {

constexpr size_t kBytes = 1 << 20;

std::vector<uint8_t> Numbers() {
  std::vector<uint8_t> numbers(kBytes);
  for (size_t i = 0; i < kBytes; ++i) numbers[i] = static_cast<uint8_t>(i * 7 + (i >> 9));
  return numbers;
}

// Page faults of a comparison of all numbers with `want`.
long FaultsOfReading(const uint8_t* data, const std::vector<uint8_t>& want) {
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
  };
  const long before = faults();
  EXPECT_TRUE(std::equal(want.begin(), want.end(), data));
  return faults() - before;
}

TEST(ReadWholeFile, KeepsWhatTheFileWas) {
  const std::string path = testing::TempDir() + "intaglio_read_whole_file_test";
  const std::vector<uint8_t> want = Numbers();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(want.data()), kBytes);
  const Result<MappedFile> file = ReadWholeFile(path);
  ASSERT_EQ(truncate(path.c_str(), 10), 0);
  std::remove(path.c_str());
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(std::equal(want.begin(), want.end(), file->bytes.begin(), file->bytes.end()));
  EXPECT_EQ(ReadWholeFile(path).status().code(), StatusCode::kIoError);
}

class ForgetPagesTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = testing::TempDir() + "intaglio_mapped_file_test";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(want_.data()), kBytes);
    Result<MappedFile> file = MapFile(path);
    std::remove(path.c_str());
    ASSERT_TRUE(file.ok()) << file.status().message();
    file_ = std::move(*file);
  }

  const std::vector<uint8_t> want_ = Numbers();
  MappedFile file_;
};

TEST_F(ForgetPagesTest, FileIsReadAgain) {
  ASSERT_EQ(file_.bytes.size(), kBytes);
  const uint8_t* const data = file_.bytes.data();
  FaultsOfReading(data, want_);
  const long known = FaultsOfReading(data, want_);
  ForgetPages(file_.owner, data, kBytes);
  EXPECT_GT(FaultsOfReading(data, want_), known);
}

// Pages that hold something else as well stay.
TEST_F(ForgetPagesTest, WholePagesAlone) {
  const uint8_t* const data = file_.bytes.data();
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  FaultsOfReading(data, want_);
  for (size_t at = 1; at + page < kBytes; at += page) ForgetPages(file_.owner, data + at, page);
  const long known = FaultsOfReading(data, want_);
  ForgetPages(file_.owner, data, kBytes);
  EXPECT_LT(known, FaultsOfReading(data, want_));
}

TEST_F(ForgetPagesTest, OtherMemoryStays) {
  const auto numbers = std::make_shared<const std::vector<uint8_t>>(want_);
  ForgetPages(numbers, numbers->data(), kBytes);
  ForgetPages(nullptr, numbers->data(), kBytes);
  EXPECT_EQ(*numbers, want_);
}

}  // namespace
}  // namespace intaglio::nn
