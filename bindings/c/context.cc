#include "intaglio/bindings/c/context.h"

#include <string>
#include <vector>

#include "intaglio/bindings/c/guard.h"
#include "intaglio/gemm/describe.h"

struct it_kernels {
  std::vector<intaglio::KernelInfo> list;
};

namespace intaglio::c {

Status CheckThreads(int32_t threads) {
  if (threads >= 1 && threads <= 1024) return {};
  return InvalidArgument(std::to_string(threads) + " threads; there may be 1 to 1024");
}

ParallelFor PoolOf(it_parallel_for parallel_for, void* pool) {
  return [parallel_for, pool](int count, const std::function<void(int)>& task) {
    const auto run = [](void* arg, int i) {
      (*static_cast<const std::function<void(int)>*>(arg))(i);
    };
    parallel_for(pool, count, run, const_cast<void*>(static_cast<const void*>(&task)));
  };
}

}  // namespace intaglio::c

using namespace intaglio::c;

it_status* it_kernels_create(it_kernels** out) {
  return Create(out, []() -> intaglio::Result<std::unique_ptr<it_kernels>> {
    auto kernels = std::make_unique<it_kernels>();
    kernels->list = intaglio::ListKernels();
    return kernels;
  });
}

void it_kernels_destroy(it_kernels* kernels) { delete kernels; }

size_t it_kernels_count(const it_kernels* kernels) {
  return kernels == nullptr ? 0 : kernels->list.size();
}

const char* it_kernels_name(const it_kernels* kernels, size_t index) {
  return index < it_kernels_count(kernels) ? kernels->list[index].name.c_str() : nullptr;
}

const char* it_kernels_why_not(const it_kernels* kernels, size_t index) {
  return index < it_kernels_count(kernels) ? kernels->list[index].why_not.c_str() : nullptr;
}

it_status* it_context_create(int32_t threads, it_context** out) {
  return Create(out, [&]() -> intaglio::Result<std::unique_ptr<it_context>> {
    INTAGLIO_RETURN_IF_ERROR(CheckThreads(threads));
    return std::unique_ptr<it_context>(new it_context{intaglio::Context(threads)});
  });
}

it_status* it_context_create_in_pool(int32_t threads, it_parallel_for parallel_for, void* pool,
                                     it_context** out) {
  return Create(out, [&]() -> intaglio::Result<std::unique_ptr<it_context>> {
    INTAGLIO_RETURN_IF_ERROR(CheckThreads(threads));
    if (parallel_for == nullptr) return intaglio::InvalidArgument("parallel_for is null");
    return std::unique_ptr<it_context>(
        new it_context{intaglio::Context(threads, PoolOf(parallel_for, pool))});
  });
}

void it_context_destroy(it_context* context) { delete context; }

int32_t it_context_threads(const it_context* context) {
  return context == nullptr ? 0 : context->context.threads();
}

size_t it_context_scratch_bytes(const it_context* context) {
  return context == nullptr ? 0 : context->context.scratch_bytes();
}
