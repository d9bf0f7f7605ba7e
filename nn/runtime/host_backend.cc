#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/nn/routine/memory_plan.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/buffer_pool.h"
#include "intaglio/pack/pages.h"

namespace intaglio::nn {
namespace {

class HostBackend final : public Backend {
 public:
  HostBackend(const LayerOptions& options, size_t expected_bytes)
      : options_(options), pool_(BufferPool::Make(expected_bytes)) {}

  std::string name() const override { return "cpu"; }
  std::string hardware() const override { return "the CPU"; }

  Result<PreparedLayer> Prepare(const Graph& graph, size_t layer,
                                const LayerChoice& choice) const override {
    const BufferPool::Use use(pool_);
    LayerOptions options = options_;
    options.routine = choice.routine;
    if (!choice.kernel.empty()) {
      const Result<const Kernel*> kernel = KernelNamed(choice.kernel);
      if (!kernel.ok()) return LayerView(graph, layer).Wrap(kernel.status());
      options.kernel = (*kernel)->name;
    }
    Result<PreparedLayer> prepared = ::intaglio::nn::Prepare(LayerView(graph, layer), options);
    if (prepared.ok()) prepared->threads = choice.threads;
    return prepared;
  }

  std::vector<CandidateInfo> ListCandidates(const Graph& graph, size_t layer) const override {
    return ::intaglio::nn::ListCandidates(LayerView(graph, layer), options_);
  }

  bool prepares_at_once() const override { return true; }

  Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const override {
    static_assert(AlignedBuffer::kAlignment % kArenaAlignment == 0);
    // Only the arena of the first instance comes from the pool, which takes nothing back before the
    // model goes. A large arena has pages of its own.
    const bool pooled = bytes < kLargePageBytes && !has_arena_.exchange(true);
    const BufferPool::Use use(pooled ? pool_ : nullptr);
    const auto buffer = std::make_shared<AlignedBuffer>(AlignedBuffer::Allocate(bytes));
    if (buffer->data() == nullptr) {
      return OutOfMemory("the arena of " + std::to_string(bytes) + " bytes cannot be allocated");
    }
    Populate(buffer->data(), bytes);
    std::memset(buffer->data(), 0, bytes);
    return std::shared_ptr<std::byte>(buffer, static_cast<std::byte*>(buffer->data()));
  }

  Status CopyIn(std::byte* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Status CopyOut(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Status Fill(std::byte* to, int byte, size_t bytes) const override {
    std::memset(to, byte, bytes);
    return {};
  }
  Status Wait() const override { return {}; }

 private:
  LayerOptions options_;
  std::shared_ptr<BufferPool> pool_;
  mutable std::atomic<bool> has_arena_ = false;  // the pool
};

}  // namespace

std::shared_ptr<const Backend> MakeHostBackend(const LayerOptions& options, size_t expected_bytes) {
  return std::make_shared<const HostBackend>(options, expected_bytes);
}

}  // namespace intaglio::nn
