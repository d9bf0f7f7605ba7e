#include <cstring>
#include <new>
#include <string>

#include "intaglio/nn/backend.h"
#include "intaglio/nn/operator_table.h"
#include "intaglio/nn/plan.h"
#include "intaglio/pack/populate.h"

namespace intaglio::nn {
namespace {

class HostBackend final : public Backend {
 public:
  explicit HostBackend(const LayerOptions& options) : options_(options) {}

  Result<PreparedLayer> Prepare(const Graph& graph, size_t layer) const override {
    return ::intaglio::nn::Prepare(LayerView(graph, layer), options_);
  }

  bool prepares_at_once() const override { return true; }

  Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const override {
    constexpr std::align_val_t kAlign{kArenaAlignment};
    void* const memory = ::operator new(bytes, kAlign, std::nothrow);
    if (memory == nullptr) {
      return OutOfMemory("the arena of " + std::to_string(bytes) + " bytes cannot be allocated");
    }
    Populate(memory, bytes);
    std::memset(memory, 0, bytes);
    return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                      [](std::byte* p) { ::operator delete(p, kAlign); });
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

 private:
  LayerOptions options_;
};

}  // namespace

std::shared_ptr<const Backend> MakeHostBackend(const LayerOptions& options) {
  return std::make_shared<const HostBackend>(options);
}

}  // namespace intaglio::nn
