// Errors that only the last system calls report: the system could not keep what it had taken. This
// program has its own fsync and close, which fail on request. Its own write looks at the file
// before each call.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "intaglio/nn/files/replace_file.h"

namespace {

int fsync_error = 0;
int close_error = 0;       // of the next call only
mode_t mode_at_write = 0;  // of the last file

int Fail(int error) {
  errno = error;
  return -1;
}

}  // namespace

extern "C" int fsync(int fd) {
  if (fsync_error != 0) return Fail(fsync_error);
  return static_cast<int>(syscall(SYS_fsync, fd));
}

extern "C" int close(int fd) {
  const auto result = static_cast<int>(syscall(SYS_close, fd));
  if (close_error == 0) return result;
  const int error = close_error;
  close_error = 0;
  return Fail(error);
}

extern "C" ssize_t write(int fd, const void* bytes, size_t count) {
  struct stat info = {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) mode_at_write = info.st_mode & 07777u;
  return syscall(SYS_write, fd, bytes, count);
}

namespace intaglio::nn {
namespace {

namespace fs = std::filesystem;

class LateErrors : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(path_) << "old";
  }
  void TearDown() override {
    fsync_error = close_error = 0;
    fs::remove_all(folder_);
  }

  std::string Text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "intaglio_late_errors";
  const std::string path_ = (folder_ / "file").string();
  const std::vector<uint8_t> new_ = {'n', 'e', 'w'};
};

TEST_F(LateErrors, OfCloseLeaveWhatWasThere) {
  close_error = EDQUOT;
  EXPECT_EQ(ReplaceFile(path_, new_).message(), path_ + ": cannot write: Disk quota exceeded");
  EXPECT_EQ(Text(), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "something was left behind";
}

TEST_F(LateErrors, OfFsyncLeaveWhatWasThere) {
  fsync_error = EIO;
  EXPECT_EQ(ReplaceFile(path_, new_).message(), path_ + ": cannot write: Input/output error");
  EXPECT_EQ(Text(), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "something was left behind";
}

// A file system need not have fsync.
TEST_F(LateErrors, OfNoFsyncAreNone) {
  for (const int error : {EINVAL, ENOTSUP}) {
    fsync_error = error;
    EXPECT_EQ(ReplaceFile(path_, new_).message(), "");
    EXPECT_EQ(Text(), "new");
  }
}

TEST_F(LateErrors, FilesAreClosedToOthersBeforeTheyHaveBytes) {
  for (const mode_t mode : {0600u, 0666u, 0400u, 0000u}) {
    const mode_t mask = umask(mode == 0666 ? 077 : 0);
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(ReplaceFile(path_, new_).message(), "");
    umask(mask);
    EXPECT_EQ(mode_at_write, mode);
  }
}

TEST_F(LateErrors, OfADeviceAreErrors) {
  close_error = EIO;
  EXPECT_EQ(ReplaceFile("/dev/null", new_).message(),
            "/dev/null: cannot write: Input/output error");
}

}  // namespace
}  // namespace intaglio::nn
