// A file seen as memory.
#ifndef INTAGLIO_NN_FILES_MAPPED_FILE_H_
#define INTAGLIO_NN_FILES_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn {

struct MappedFile {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;  // unmaps when the last copy goes
};

// Maps a regular file, read-only. Refuses empty files. If a file is truncated while it is mapped,
// reading behind its new end terminates the process by SIGBUS.
Result<MappedFile> MapFile(const std::string& path);

// Copies the file, as it is now, into memory.
Result<MappedFile> ReadWholeFile(const std::string& path);

// Maps or copies a file that lies beneath a folder. Neither the path's ".." nor a symbolic link in
// it may lead anywhere: both are errors. The folder itself may be a link.
Result<MappedFile> OpenBeneath(const std::string& folder, const std::string& path, bool copy);

// Lets go of the pages that lie wholly within [data, data + bytes), if the owner is a mapped
// file's: whoever reads there again reads the file again. Leaves other memory alone.
void ForgetPages(const std::shared_ptr<const void>& owner, const void* data, size_t bytes);

// Zeros in pages of their own, which go back to the system at once when the last copy goes: freed
// blocks of this size would stay in the heap, between those that live. Throws std::bad_alloc.
std::shared_ptr<void> AllocatePages(size_t bytes);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FILES_MAPPED_FILE_H_
