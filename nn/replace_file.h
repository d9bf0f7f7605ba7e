// Files that are written whole or not at all.
#ifndef INTAGLIO_NN_REPLACE_FILE_H_
#define INTAGLIO_NN_REPLACE_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn {

// Makes a file that holds `head`, then `body`. Whoever opens `path` finds what was there before or
// the whole file, also where several programs write it at once: the bytes go to a file of another
// name in the same folder, which takes the name `path` after all of them are on the disk. After an
// error, `path` is as it was and the other file is gone. The new file has the permissions of the
// old one where this user owns that, without its setuid, setgid and sticky bits.
//
// Three kinds take the bytes as they come. A device or a pipe that is there already: a pipe that
// nobody reads is an error at once. A file that is this process's standard output or error: the
// bytes follow what has been written there. A path that leads through /dev/fd or /proc/PID/fd: the
// bytes go to that descriptor, and to the end of the file where the descriptor is another
// process's. Messages start with the path.
Status ReplaceFile(const std::string& path, std::span<const uint8_t> head,
                   std::span<const uint8_t> body = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_REPLACE_FILE_H_
