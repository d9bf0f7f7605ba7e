#include "intaglio/tools/backend.h"

#include "intaglio/nn/cuda/device_named.h"

namespace intaglio::tools {

Result<std::shared_ptr<const nn::Backend>> BackendOf(const std::string& name) {
  if (name == "cpu") return std::shared_ptr<const nn::Backend>();
  return nn::DeviceNamed(name);
}

}  // namespace intaglio::tools
