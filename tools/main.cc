// The `intaglio` command. Exit status: 0 ok, 1 the work failed, 2 wrong usage; an error is one line
// on stderr.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "intaglio/tools/commands.h"

namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

int Fail(int status, const std::string& message) {
  std::fprintf(stderr, "intaglio: %s\n", OneLine(message).c_str());
  return status;
}

int WrongUsage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string command = "intaglio";
  std::string what = error.what();
  if (!app.get_subcommands().empty()) {
    command += " " + app.get_subcommands().front()->get_name();
  } else if (argc > 1 && argv[1][0] != '-') {
    what = "there is no command '" + std::string(argv[1]) + "'";
  }
  return Fail(kWrongUsage, what + "; see " + command + " --help");
}

int Main(int argc, char** argv) {
  CLI::App app("Runs quantized neural networks with exact integer arithmetic.", "intaglio");
  app.require_subcommand(1);
  intaglio::tools::Work work;
  intaglio::tools::AddRun(app, work);
  intaglio::tools::AddInspect(app, work);
  intaglio::tools::AddBench(app, work);
  intaglio::tools::AddVerify(app, work);
  intaglio::tools::AddPartition(app, work);
  intaglio::tools::AddOperators(app, work);
  intaglio::tools::AddCpu(app, work);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return kOk;
  } catch (const CLI::ParseError& error) {
    return WrongUsage(app, error, argc, argv);
  }
  const intaglio::Status status = work();
  if (!status.ok()) return Fail(kFailed, status.message());
  if (std::fflush(stdout) != 0) return Fail(kFailed, "cannot write to standard output");
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
