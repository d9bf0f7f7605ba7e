// A copy of a pipeline that outlives a call.
#ifndef INTAGLIO_PIPELINE_KEPT_H_
#define INTAGLIO_PIPELINE_KEPT_H_

#include <memory>
#include <new>

namespace intaglio {

// Returns null if there is no memory.
template <class AnyPipeline>
std::shared_ptr<const AnyPipeline> Kept(const AnyPipeline& pipeline) {
  try {
    return std::make_shared<const AnyPipeline>(pipeline);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_PIPELINE_KEPT_H_
