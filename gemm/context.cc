#include "intaglio/gemm/context.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/gemm/machine/worker_pool.h"
#include "intaglio/gemm/run/task_parts.h"
#include "intaglio/pack/aligned_buffer.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

struct Context::Impl {
  int most;     // threads that there are
  int threads;  // that are used now
  ParallelFor parallel_for;
  std::unique_ptr<WorkerPool> pool;
  std::vector<AlignedBuffer> scratch;
  std::vector<std::unique_ptr<Context>> of_tasks;
  Panels call_panels;
};

namespace {

// No exception of ours passes through the caller's pool, and no setting of the pool's threads
// reaches our tasks.
void RunThrough(const ParallelFor& parallel_for, int count, const std::function<void(int)>& task) {
  FirstException exception;
  const auto guarded = [&](int i) {
    const DefaultFloatEnvironment environment;
    exception.Try([&] { task(i); });
  };
  parallel_for(count, std::ref(guarded));  // by reference: a copy would be allocated
  exception.Rethrow();
}

[[gnu::noinline]] void* Grow(std::vector<AlignedBuffer>& scratch, size_t at, size_t bytes) {
  if (scratch.size() <= at) scratch.resize(at + 1);
  scratch[at] = AlignedBuffer::Allocate(std::max<size_t>(bytes, AlignedBuffer::kAlignment));
  return scratch[at].data();
}

}  // namespace

Context::Context(int threads) : Context(threads, nullptr) {}

Context::Context(int threads, ParallelFor parallel_for)
    : impl_(std::make_unique<Impl>(Impl{std::max(1, threads),
                                        std::max(1, threads),
                                        std::move(parallel_for),
                                        nullptr,
                                        {},
                                        {},
                                        {}})) {}

Context::~Context() = default;

int Context::threads() const { return impl_->threads; }

Context::Limit::Limit(Context& context, int threads)
    : context_(context), before_(context.impl_->threads) {
  if (threads > 0) context.impl_->threads = std::min(before_, threads);
}

Context::Limit::~Limit() { context_.impl_->threads = before_; }

size_t Context::scratch_bytes() const {
  size_t bytes = impl_->call_panels.bytes();
  for (const AlignedBuffer& buffer : impl_->scratch) bytes += buffer.bytes();
  for (const auto& context : impl_->of_tasks) bytes += context->scratch_bytes();
  return bytes;
}

void Context::Run(int count, const std::function<void(int)>& task) {
  if (count <= 1) {
    for (int i = 0; i < count; ++i) task(i);
    return;
  }
  const auto run = [&](int threads, const std::function<void(int)>& part) {
    if (impl_->parallel_for) return RunThrough(impl_->parallel_for, threads, part);
    if (!impl_->pool) impl_->pool = std::make_unique<WorkerPool>(impl_->most - 1);
    impl_->pool->Run(threads, part);
  };
  if (count <= impl_->threads) return run(count, task);
  TaskParts parts(count, impl_->threads);
  const auto share = [&](int worker) { parts.Run(worker, task); };
  run(impl_->threads, std::ref(share));  // by reference: a copy would be allocated
}

void* Context::Scratch(int index, size_t bytes) {
  const auto at = static_cast<size_t>(index);
  if (at < impl_->scratch.size()) {
    const AlignedBuffer& buffer = impl_->scratch[at];
    if (buffer.bytes() >= bytes && buffer.data() != nullptr) return buffer.data();
  }
  return Grow(impl_->scratch, at, bytes);
}

Context& Context::ForTask(int index) {
  const auto at = static_cast<size_t>(index);
  while (impl_->of_tasks.size() <= at) impl_->of_tasks.push_back(std::make_unique<Context>());
  return *impl_->of_tasks[at];
}

Panels& Context::CallPanels() { return impl_->call_panels; }

}  // namespace intaglio
