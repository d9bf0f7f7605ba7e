// Where --backend has a model run.
#ifndef INTAGLIO_TOOLS_BACKEND_H_
#define INTAGLIO_TOOLS_BACKEND_H_

#include <memory>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/runtime/backend.h"

namespace intaglio::tools {

// "cpu" or "cuda"; null is the CPU. An error where this build or this machine lacks it.
Result<std::shared_ptr<const nn::Backend>> BackendOf(const std::string& name);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_BACKEND_H_
