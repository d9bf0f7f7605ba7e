#include "intaglio/nn/files/replace_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace intaglio::nn {
namespace {

namespace fs = std::filesystem;

std::span<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string Text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class ReplaceFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "intaglio_replace_file_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string In(const std::string& name) const { return (folder_ / name).string(); }
  ptrdiff_t Files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  static mode_t Mode(const std::string& path) {
    struct stat info = {};
    return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777u : 0;
  }

  fs::path folder_;
};

TEST_F(ReplaceFileTest, WritesBothParts) {
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes("head "), Bytes("body")).ok());
  EXPECT_EQ(Text(In("a")), "head body");
  ASSERT_TRUE(ReplaceFile(In("a"), {}).ok());
  EXPECT_EQ(Text(In("a")), "");
  EXPECT_EQ(Files(), 1);
}

TEST_F(ReplaceFileTest, KeepsModeAndLink) {
  const mode_t mask = umask(022);
  ASSERT_TRUE(ReplaceFile(In("new"), Bytes("1")).ok());
  umask(mask);
  struct stat info = {};
  ASSERT_EQ(stat(In("new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0644u);
  ASSERT_EQ(chmod(In("new").c_str(), 0600), 0);
  fs::create_symlink("new", In("link"));
  ASSERT_TRUE(ReplaceFile(In("link"), Bytes("2")).ok());
  EXPECT_TRUE(fs::is_symlink(In("link")));
  EXPECT_EQ(Text(In("new")), "2");
  ASSERT_EQ(stat(In("new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST_F(ReplaceFileTest, LeavesBitsThatGiveRights) {
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes("1")).ok());
  ASSERT_EQ(chmod(In("a").c_str(), 07755), 0);
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes("2")).ok());
  EXPECT_EQ(Mode(In("a")), 0755u);
  EXPECT_EQ(Text(In("a")), "2");
}

TEST_F(ReplaceFileTest, LeavesTheModeOfAnothersFile) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const mode_t mask = umask(022);
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes("1")).ok());
  ASSERT_EQ(chown(In("a").c_str(), 1234, 1234), 0);
  ASSERT_EQ(chmod(In("a").c_str(), 06777), 0);
  EXPECT_TRUE(ReplaceFile(In("a"), Bytes("2")).ok());
  umask(mask);
  EXPECT_EQ(Mode(In("a")), 0644u);
}

// The path is a link to the descriptor of a file to which others also write.
TEST_F(ReplaceFileTest, DescriptorsTakeTheBytes) {
  if (!fs::exists("/dev/fd/0")) GTEST_SKIP() << "there is no /dev/fd here";
  const int log = open(In("log").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(log, 0);
  ASSERT_EQ(write(log, "before ", 7), 7);
  const std::string number = std::to_string(log);
  fs::create_symlink("/dev/fd/" + number, In("link"));
  fs::create_symlink("link", In("link to link"));
  for (const std::string& path : {"/dev/fd/" + number, "/proc/self/fd/" + number,
                                  "/proc/thread-self/fd/" + number, In("link to link")}) {
    EXPECT_EQ(ReplaceFile(path, Bytes("a"), Bytes("b ")).message(), "") << path;
  }
  const fs::path here = fs::current_path();
  fs::current_path("/dev/fd/");
  EXPECT_EQ(ReplaceFile(number, Bytes("c ")).message(), "");
  fs::current_path(here);
  EXPECT_EQ(write(log, "after", 5), 5);
  close(log);
  EXPECT_EQ(Text(In("log")), "before ab ab ab ab c after");
  EXPECT_EQ(Files(), 3);
}

TEST_F(ReplaceFileTest, DescriptorsThatOnlyReadLoseNothing) {
  if (!fs::exists("/dev/fd/0")) GTEST_SKIP() << "there is no /dev/fd here";
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes("old ")).ok());
  const int input = open(In("a").c_str(), O_RDONLY);
  ASSERT_GE(input, 0);
  EXPECT_TRUE(ReplaceFile("/dev/fd/" + std::to_string(input), Bytes("new")).ok());
  close(input);
  EXPECT_EQ(Text(In("a")), "old new");
  EXPECT_EQ(Files(), 1);
}

// A folder counts as one of descriptors only if it is one, whatever its name ends with.
TEST_F(ReplaceFileTest, FilesBesideOpenOnesAreReplaced) {
  fs::create_directories(In("fd"));
  ASSERT_TRUE(ReplaceFile(In("fd/1"), Bytes("old")).ok());
  const int reader = open(In("fd/1").c_str(), O_RDONLY);
  ASSERT_TRUE(ReplaceFile(In("fd/1"), Bytes("new")).ok());
  char text[4] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 3);
  EXPECT_STREQ(text, "old");
  close(reader);
  EXPECT_EQ(Text(In("fd/1")), "new");
}

// A limit on the size of files stands for a full disk.
TEST_F(ReplaceFileTest, AFullDiskLeavesWhatWasThere) {
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes("old")).ok());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string large(5000, 'x');
  const Status in_head = ReplaceFile(In("a"), Bytes(large));
  const Status in_body = ReplaceFile(In("b"), Bytes("x"), Bytes(large));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(in_head.code(), StatusCode::kIoError);
  EXPECT_EQ(in_head.message(), In("a") + ": cannot write: File too large");
  EXPECT_EQ(in_body.message(), In("b") + ": cannot write: File too large");
  EXPECT_EQ(Text(In("a")), "old");
  EXPECT_EQ(Files(), 1);
}

TEST_F(ReplaceFileTest, WhatIsDoneLastMayFail) {
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes("old")).ok());
  std::string seen;
  const auto look = [&] {
    seen = Text(In("a"));
    return Status();
  };
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes("new"), {}, look).ok());
  EXPECT_EQ(seen, "old");
  EXPECT_EQ(Text(In("a")), "new");
  const auto fail = [] { return IoError("no"); };
  EXPECT_EQ(ReplaceFile(In("a"), Bytes("newer"), {}, fail).message(), "no");
  EXPECT_EQ(Text(In("a")), "new");
  EXPECT_EQ(Files(), 1);
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReplaceFile(In("pipe"), Bytes("x"), {}, fail).message(), "no");
}

TEST_F(ReplaceFileTest, NamesWhatCannotBeWritten) {
  EXPECT_EQ(ReplaceFile("/nowhere/a", Bytes("x")).message(),
            "/nowhere/a: cannot create: No such file or directory");
  EXPECT_EQ(ReplaceFile(In(""), Bytes("x")).code(), StatusCode::kIoError) << "a folder";
  EXPECT_EQ(Files(), 0);
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReplaceFile(In("pipe"), Bytes("x")).message(),
            In("pipe") + ": cannot open: No such device or address")
      << "nobody reads";
  EXPECT_TRUE(fs::is_fifo(In("pipe")));
}

TEST_F(ReplaceFileTest, DevicesAndPipesTakeTheBytes) {
  EXPECT_TRUE(ReplaceFile("/dev/null", Bytes("x")).ok());
  if (fs::exists("/dev/full")) {
    EXPECT_EQ(ReplaceFile("/dev/full", Bytes("x")).message(),
              "/dev/full: cannot write: No space left on device");
  }
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  const int reader = open(In("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(ReplaceFile(In("pipe"), Bytes("x"), Bytes("yz")).ok());
  char text[4] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 3);
  EXPECT_STREQ(text, "xyz");
  close(reader);
}

TEST_F(ReplaceFileTest, AReaderSeesWholeFilesWhileManyWrite) {
  constexpr size_t kSize = 200000;
  ASSERT_TRUE(ReplaceFile(In("a"), Bytes(std::string(kSize, 'a'))).ok());
  std::vector<std::thread> writers;
  for (const char letter : {'b', 'c', 'd'}) {
    writers.emplace_back([&, letter] {
      const std::string text(kSize, letter);
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(ReplaceFile(In("a"), Bytes(text)).ok());
    });
  }
  for (int i = 0; i < 50; ++i) {
    const std::string seen = Text(In("a"));
    ASSERT_EQ(seen.size(), kSize);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), seen[0]), static_cast<ptrdiff_t>(kSize));
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Files(), 1);
}

}  // namespace
}  // namespace intaglio::nn
