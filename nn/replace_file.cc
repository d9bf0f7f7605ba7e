#include "intaglio/nn/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "intaglio/nn/descriptor.h"

namespace intaglio::nn {
namespace {

Status Failed(const std::string& path, const char* what) {
  return IoError(path + ": cannot " + what + ": " + std::strerror(errno));
}

bool WriteAll(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

// Some file systems have no fsync: they have taken the bytes already.
bool Flush(int fd) { return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP; }

// O_NONBLOCK: opening a pipe must not wait for a reader. Writing to it may.
Status WriteInto(const std::string& path, std::span<const uint8_t> head,
                 std::span<const uint8_t> body) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return Failed(path, "open");
  fcntl(file.get(), F_SETFL, O_WRONLY);
  if (!WriteAll(file.get(), head) || !WriteAll(file.get(), body) || !file.Close()) {
    return Failed(path, "write");
  }
  return {};
}

// Where a link leads; the path itself where it leads nowhere.
std::string Resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? path : real.get();
}

// A name that nobody has: two processes or calls never make the same one at the same time.
std::string NewName(const std::string& beside) {
  static std::atomic<unsigned> count{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  char name[80];
  std::snprintf(name, sizeof name, ".intaglio-%llx-%lx-%x.part",
                static_cast<unsigned long long>(now), static_cast<unsigned long>(getpid()),
                count++);
  return beside.substr(0, beside.rfind('/') + 1) + name;
}

// A file with a name of its own, which goes unless it takes another's.
class NewFile {
 public:
  explicit NewFile(const std::string& beside) : name_(NewName(beside)), file_(Create(name_)) {}
  ~NewFile() {
    if (file_.get() >= 0) std::remove(name_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool Created() const { return file_.get() >= 0; }

  bool Write(std::span<const uint8_t> bytes) { return WriteAll(file_.get(), bytes); }

  // Nothing is certain of the bytes before the file system has been asked for each of these.
  bool Become(const std::string& path) {
    struct stat old = {};
    if (stat(path.c_str(), &old) == 0 && fchmod(file_.get(), old.st_mode & 07777) != 0)
      return false;
    if (!Flush(file_.get())) return false;
    const bool renamed = file_.Close() && std::rename(name_.c_str(), path.c_str()) == 0;
    if (!renamed) RemoveKeepingErrno();
    return renamed;
  }

 private:
  static int Create(const std::string& name) {
    return open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }

  void RemoveKeepingErrno() const {
    const int why = errno;
    std::remove(name_.c_str());
    errno = why;
  }

  const std::string name_;
  Descriptor file_;
};

}  // namespace

Status ReplaceFile(const std::string& path, std::span<const uint8_t> head,
                   std::span<const uint8_t> body) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return WriteInto(path, head, body);
  const std::string target = Resolve(path);
  NewFile file(target);
  if (!file.Created()) return Failed(path, "create");
  if (file.Write(head) && file.Write(body) && file.Become(target)) return {};
  return Failed(path, "write");
}

}  // namespace intaglio::nn
