// The `intaglio` command. Exit status: 0 ok, 1 the work failed, 2 wrong usage; an error is one line
// on stderr.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/tools/command_line.h"

namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int Fail(int status, const std::string& message) {
  std::fprintf(stderr, "intaglio: %s\n", intaglio::nn::Printable(message).c_str());
  return status;
}

// Whether the system has taken everything that was printed. A full disk may show at any write.
bool FinishOutput() {
  std::cout.flush();
  const bool printed = std::cout.good() && std::ferror(stdout) == 0;
  return std::fclose(stdout) == 0 && printed;
}

int Main(int argc, char** argv) {
  const intaglio::Result<intaglio::tools::Work> work =
      intaglio::tools::ParseCommandLine(argc, argv);
  if (!work.ok()) return Fail(kWrongUsage, work.status().message());
  if (*work) {
    // Every command refuses an INTAGLIO_ISA that names no kernel, just as it refuses a mistyped
    // option.
    const auto kernel = intaglio::BestKernel();
    if (!kernel.ok()) return Fail(kWrongUsage, kernel.status().message());
  }
  const intaglio::Status status = *work ? (*work)() : intaglio::Status();
  if (!status.ok()) return Fail(kFailed, status.message());
  if (!FinishOutput()) return Fail(kFailed, "cannot write to standard output");
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // no memory, or a defect of ours
    return Fail(kFailed, error.what());
  }
}
