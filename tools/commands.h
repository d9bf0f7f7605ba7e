// The subcommands of `intaglio`, one file each. An Add function declares a subcommand's options;
// what it puts into `work` is run after the command line has been understood.
#ifndef INTAGLIO_TOOLS_COMMANDS_H_
#define INTAGLIO_TOOLS_COMMANDS_H_

#include <functional>

#include "intaglio/fixedpoint/status.h"

namespace CLI {
class App;
}

namespace intaglio::tools {

using Work = std::function<Status()>;

void AddRun(CLI::App& app, Work& work);
void AddInspect(CLI::App& app, Work& work);
void AddBench(CLI::App& app, Work& work);
void AddVerify(CLI::App& app, Work& work);
void AddPartition(CLI::App& app, Work& work);
void AddOperators(CLI::App& app, Work& work);
void AddCpu(CLI::App& app, Work& work);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_COMMANDS_H_
