// One line on a terminal that says how far long work has come; nothing in a pipe.
#ifndef INTAGLIO_TOOLS_PROGRESS_H_
#define INTAGLIO_TOOLS_PROGRESS_H_

#include <unistd.h>

#include <cstdio>
#include <string>

namespace intaglio::tools {

class Progress {
 public:
  Progress() : shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() { Show(""); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Replaces the line: \r goes to its start, ESC [K clears the rest.
  void Show(const std::string& text) {
    if (shown_) std::fprintf(stderr, "\r%s\033[K", text.c_str());
  }

 private:
  bool shown_;
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_PROGRESS_H_
