// Files that are written whole or not at all.
#ifndef INTAGLIO_NN_FILES_REPLACE_FILE_H_
#define INTAGLIO_NN_FILES_REPLACE_FILE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn {

// Makes a file that holds `head`, then `body`. Whoever opens `path` finds either the old file or
// the whole new one, even if several programs write it at once. To ensure this, the bytes go to a
// file of another name in the same folder, which takes the name `path` after all bytes are on the
// disk. After an error, `path` is as it was and the other file is gone. If this user owns the old
// file, the new file gets its permissions without its setuid, setgid and sticky bits.
//
// Three kinds of files take the bytes directly:
//  - A device or a pipe that exists already. A pipe that nobody reads is an error at once.
//  - A file that is this process's standard output or error. The bytes follow what has been
//    written there.
//  - A path that leads through /dev/fd or /proc/PID/fd. The bytes go to that descriptor, and to the
//    end of the file if the descriptor is another process's.
// Messages start with the path.
//
// `last` is called when all bytes are on the disk and the file is about to take its name (or to
// take the bytes directly). Its error is the result, and `path` is as it was. It may be null.
Status ReplaceFile(const std::string& path, std::span<const uint8_t> head,
                   std::span<const uint8_t> body = {}, const std::function<Status()>& last = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FILES_REPLACE_FILE_H_
