#include "intaglio/tools/backend.h"

#if defined(INTAGLIO_HAS_CUDA)
#include "intaglio/nn/cuda/backend.h"
#endif

namespace intaglio::tools {

Result<std::shared_ptr<const nn::Backend>> BackendOf(const std::string& name) {
  if (name == "cpu") return std::shared_ptr<const nn::Backend>();
#if defined(INTAGLIO_HAS_CUDA)
  return nn::cuda::MakeBackend(nullptr);
#else
  return Unsupported("cuda: this build does not have it; configure with -DINTAGLIO_CUDA=on");
#endif
}

}  // namespace intaglio::tools
