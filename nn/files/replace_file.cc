#include "intaglio/nn/files/replace_file.h"

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
#include <optional>

#include "intaglio/nn/files/descriptor.h"

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

// A file system without fsync has taken the bytes already.
bool Flush(int fd) { return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP; }

// O_NONBLOCK: opening a pipe must not wait for a reader. Writing to it may.
Status WriteInto(const std::string& path, int append, std::span<const uint8_t> head,
                 std::span<const uint8_t> body) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | append));
  if (file.get() < 0) return Failed(path, "open");
  fcntl(file.get(), F_SETFL, O_WRONLY | append);
  if (!WriteAll(file.get(), head) || !WriteAll(file.get(), body) || !file.Close()) {
    return Failed(path, "write");
  }
  return {};
}

// The file that a link leads to; the path itself if it leads to none.
std::string Resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? path : real.get();
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

// The path that a link holds; empty if the path is no link.
std::string Follow(const std::string& link) {
  char text[4096];
  const ssize_t length = readlink(link.c_str(), text, sizeof text);
  if (length <= 0) return "";
  const std::string to(text, static_cast<size_t>(length));
  return to[0] == '/' ? to : FolderOf(link) + to;
}

// Whether the entries of a folder are the open descriptors of a process.
bool HoldsDescriptors(const std::string& folder) {
  return folder == "/dev/fd" || (folder.starts_with("/proc/") && folder.ends_with("/fd"));
}

// The entry of such a folder that a path leads to, as /dev/stdout does; empty if it leads to none.
std::string DescriptorEntry(const std::string& path) {
  constexpr int kMaxLinks = 40;
  std::string at = path;
  for (int i = 0; i < kMaxLinks && !at.empty(); ++i) {
    if (HoldsDescriptors(Resolve(FolderOf(at)))) return at;
    at = Follow(at);
  }
  return "";
}

// Whether what this process writes to a descriptor goes to the file.
bool WritesTo(int fd, const struct stat& file) {
  struct stat info = {};
  return fstat(fd, &info) == 0 && info.st_dev == file.st_dev && info.st_ino == file.st_ino &&
         (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

// The bytes come after everything that the program has printed so far.
Status WriteTo(int fd, const std::string& path, std::span<const uint8_t> head,
               std::span<const uint8_t> body) {
  std::fflush(stdout);
  if (!WriteAll(fd, head) || !WriteAll(fd, body)) return Failed(path, "write");
  return {};
}

// How an existing file takes bytes without being replaced, if replacing it would lose what others
// write: it is a device or a pipe, it is open as standard output or error, or the path names an
// open descriptor.
struct Direct {
  bool is_special = false;
  bool is_descriptor = false;
  int fd = -1;  // of this process

  Direct(const std::string& path, const struct stat& file) : is_special(!S_ISREG(file.st_mode)) {
    if (is_special) return;
    const std::string entry = DescriptorEntry(path);
    is_descriptor = !entry.empty();
    const int named = entry.empty() ? -1 : std::atoi(entry.substr(entry.rfind('/') + 1).c_str());
    for (const int each : {named, STDOUT_FILENO, STDERR_FILENO}) {
      if (fd < 0 && WritesTo(each, file)) fd = each;
    }
  }
  bool any() const { return is_special || is_descriptor || fd >= 0; }

  // Bytes that go through another process's descriptor are always appended.
  Status Write(const std::string& path, std::span<const uint8_t> head,
               std::span<const uint8_t> body) const {
    if (fd >= 0) return WriteTo(fd, path, head, body);
    return WriteInto(path, is_special ? 0 : O_APPEND, head, body);
  }
};

// The permissions that a new file takes from the file that it replaces, if that is ours.
// Permissions that another user chose are not taken. No file gets the setuid or setgid bit, which
// gives the rights of its owner.
std::optional<mode_t> ModeToKeep(const std::string& path) {
  struct stat old = {};
  if (stat(path.c_str(), &old) != 0 || old.st_uid != geteuid()) return std::nullopt;
  return old.st_mode & 0777;
}

// A name that no other file has: two processes or calls never make the same name at the same time.
std::string NewName(const std::string& beside) {
  static std::atomic<unsigned> count{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  char name[80];
  std::snprintf(name, sizeof name, ".intaglio-%llx-%lx-%x.part",
                static_cast<unsigned long long>(now), static_cast<unsigned long>(getpid()),
                count++);
  return FolderOf(beside) + name;
}

// A file with a name of its own, which is removed unless it takes the name of another file. It gets
// the permissions of that file before it has bytes.
class NewFile {
 public:
  explicit NewFile(const std::string& target)
      : mode_(ModeToKeep(target)), name_(NewName(target)), file_(Create()) {}
  ~NewFile() {
    if (file_.get() >= 0) std::remove(name_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool Created() const { return file_.get() >= 0; }

  bool TakeMode() { return !mode_ || fchmod(file_.get(), *mode_) == 0; }
  bool Write(std::span<const uint8_t> bytes) { return WriteAll(file_.get(), bytes); }

  // The bytes are safe only after the file system has confirmed this and Become.
  bool Keep() { return Flush(file_.get()); }
  bool Become(const std::string& path) {
    const bool renamed = file_.Close() && std::rename(name_.c_str(), path.c_str()) == 0;
    if (!renamed) RemoveKeepingErrno();
    return renamed;
  }

 private:
  int Create() const {
    return open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_.value_or(0666));
  }

  void RemoveKeepingErrno() const {
    const int why = errno;
    std::remove(name_.c_str());
    errno = why;
  }

  const std::optional<mode_t> mode_;
  const std::string name_;
  Descriptor file_;
};

}  // namespace

Status ReplaceFile(const std::string& path, std::span<const uint8_t> head,
                   std::span<const uint8_t> body, const std::function<Status()>& last) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0) {
    if (const Direct direct(path, info); direct.any()) {
      if (last) INTAGLIO_RETURN_IF_ERROR(last());
      return direct.Write(path, head, body);
    }
  }
  const std::string target = Resolve(path);
  NewFile file(target);
  if (!file.Created()) return Failed(path, "create");
  if (!file.TakeMode() || !file.Write(head) || !file.Write(body) || !file.Keep()) {
    return Failed(path, "write");
  }
  if (last) INTAGLIO_RETURN_IF_ERROR(last());
  return file.Become(target) ? Status() : Failed(path, "write");
}

}  // namespace intaglio::nn
