// Returns from main while detached threads prepare models and run them. exit.sh runs it many times.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "intaglio/test/nn/large_network.h"

namespace {

void Work() {
  for (;;) {
    auto model = intaglio::nn::Model::Prepare(intaglio::nn::MakeLargeNetwork(), {.threads = 2});
    if (!model.ok() || intaglio::nn::RunLargeNetwork(*model).empty()) {
      std::fprintf(stderr, "a model fails\n");
      std::abort();
    }
  }
}

// Runs after everything that was made later has been destroyed.
void TakeTime() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

// exit_probe MICROSECONDS: returns after that time.
int main(int, char** argv) {
  std::atexit(TakeTime);
  for (int i = 0; i < 4; ++i) std::thread(Work).detach();
  std::this_thread::sleep_for(std::chrono::microseconds(std::atoi(argv[1])));
  return 0;
}
