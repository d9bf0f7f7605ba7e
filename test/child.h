// Runs code in a forked child, and reports how the child ended.
#ifndef INTAGLIO_TEST_CHILD_H_
#define INTAGLIO_TEST_CHILD_H_

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "intaglio/test/rounds.h"

namespace intaglio::test {

// The thread sanitizer takes the first threads of a child for the parent's threads, because they
// get the same addresses, and ends the child. Under the address sanitizer, threads of the parent
// may hold locks at the fork, and the child would wait for these forever.
#if defined(INTAGLIO_TEST_FOR_RACES)
#define INTAGLIO_SKIP_THREADS_OF_CHILDREN() \
  GTEST_SKIP() << "the thread sanitizer knows no threads of forked children"
#elif defined(INTAGLIO_TEST_FOR_ADDRESSES)
#define INTAGLIO_SKIP_THREADS_OF_CHILDREN() \
  GTEST_SKIP() << "the address sanitizer may be locked in forked children"
#else
#define INTAGLIO_SKIP_THREADS_OF_CHILDREN()
#endif

// Waits for a child, but not forever. Returns "exit 0", "signal 11", or "hangs", after which the
// child is killed.
inline std::string OutcomeOf(pid_t child) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + std::chrono::seconds(60);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() > until) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "hangs";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit " + std::to_string(WEXITSTATUS(status));
}

// Returns how a child ends that runs body(): "exit 0" if body() returns true.
template <class Body>
std::string InChild(const Body& body) {
  std::fflush(nullptr);  // both processes would write what is still buffered
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  return OutcomeOf(child);
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_CHILD_H_
