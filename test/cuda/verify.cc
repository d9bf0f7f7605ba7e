// Verifies intaglio::cuda on a GPU against the CPU engine: verify [cases per kernel].
// Exit status: 0 all equal, 1 something differs, 77 skipped because there is no GPU.
#include "intaglio/test/cuda/verify.h"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "intaglio/kernels/cuda/kernel_table_cuda.h"

namespace intaglio::test {
namespace {

void Require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "verify: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

bool Runs(const cuda::KernelRow& row, const cuda::DeviceInfo& device) {
  return row.only ? device.capability == row.capability : device.capability >= row.capability;
}

int Report(const std::vector<Tally>& all) {
  int failures = 0;
  for (const Tally& t : all) {
    failures += t.failures;
    if (t.failures > 0) std::printf("FAILED %s: %s\n", t.name.c_str(), t.first.c_str());
  }
  std::printf("%s\n", failures == 0 ? "verify: all equal" : "verify: FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace

DeviceMemory::DeviceMemory(size_t bytes, size_t shift) : bytes_(bytes), shift_(shift) {
  void* memory = nullptr;
  Require(cudaMalloc(&memory, bytes + shift + 2 * kGuard), "cudaMalloc");
  memory_ = static_cast<char*>(memory);
  Require(cudaMemset(memory_, 0xa5, bytes + shift + 2 * kGuard), "cudaMemset");
}
DeviceMemory::~DeviceMemory() { (void)cudaFree(memory_); }

void DeviceMemory::Upload(const void* host, size_t bytes) {
  if (bytes > 0) Require(cudaMemcpy(data(), host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

std::string DeviceMemory::Download(void* host, size_t bytes) const {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return cudaGetErrorString(error);
  if (bytes > 0) Require(cudaMemcpy(host, data(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<unsigned char> guard(kGuard);
  for (char* at : {data() - kGuard, data() + bytes_}) {
    Require(cudaMemcpy(guard.data(), at, kGuard, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (const unsigned char byte : guard) {
      if (byte != 0xa5) return "written outside of the result";
    }
  }
  return "";
}

int Main(int cases) {
  auto stream = cuda::Stream::Wrap(nullptr);
  if (!stream.ok()) {
    std::printf("verify: SKIPPED, nothing was verified: %s\n", stream.status().message().c_str());
    return 77;
  }
  cudaDeviceProp device{};
  Require(cudaGetDeviceProperties(&device, stream->device().device), "cudaGetDeviceProperties");
  std::printf("%s, compute capability %d.%d, %d multiprocessors\n", device.name, device.major,
              device.minor, device.multiProcessorCount);
  if (const Status s = stream->Reserve(size_t{256} << 20); !s.ok()) {
    std::fprintf(stderr, "verify: %s\n", s.message().c_str());
    return 1;
  }
  std::vector<Tally> all;
  const auto run = [&](const std::function<Tally()>& part) {
    const auto start = std::chrono::steady_clock::now();
    const Tally t = part();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%-24s %6d cases %6d failures %8.2f s\n", t.name.c_str(), t.cases, t.failures,
                took.count());
    std::fflush(stdout);
    all.push_back(t);
  };
  run([&] { return VerifyContracts(*stream); });
  run([&] { return VerifyStages(*stream, cases); });
  for (const cuda::KernelRow& row : cuda::kKernelTable) {
    if (!Runs(row, stream->device())) {
      std::printf("%-24s SKIPPED: not for this device\n", row.name);
      continue;
    }
    run([&] { return VerifyKernel(*stream, row.name, cases); });
    run([&] { return VerifyFused(*stream, row.name, cases / 4 + 1); });
    if (row.images != cuda::Images::kNone) {
      run([&] { return VerifyConvolutions(*stream, &row, cases / 2 + 1); });
    }
  }
  run([&] { return VerifyConvolutions(*stream, nullptr, cases); });
  run([&] { return VerifyJobs(*stream, cases); });
  run([&] { return VerifyNetworks(*stream); });
  run([&] { return VerifyKernel(*stream, "", 4 * cases); });  // the kernels as they are chosen
  return Report(all);
}

}  // namespace intaglio::test

int main(int argc, char** argv) {
  const int cases = argc > 1 ? std::atoi(argv[1]) : 100;
  if (argc > 2 || cases < 1) {
    std::fprintf(stderr, "usage: verify [cases per kernel]\n");
    return 2;
  }
  return intaglio::test::Main(cases);
}
