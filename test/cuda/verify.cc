// Verifies intaglio::cuda on a GPU against the CPU engine: verify [cases per kernel [words...]],
// all parts or those whose names start with a word. Exit status: 0 all equal, 1 something differs,
// 77 skipped because there is no GPU.
#include "intaglio/test/cuda/verify.h"

#include <cuda_runtime_api.h>

#include <algorithm>
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

namespace {

struct Part {
  std::string name;
  std::function<Tally()> run;  // null: not for this device
};

std::vector<Part> AllParts(cuda::Stream& stream, int cases) {
  std::vector<Part> parts;
  parts.push_back({"contracts", [&stream] { return VerifyContracts(stream); }});
  parts.push_back({"stages", [&stream, cases] { return VerifyStages(stream, cases); }});
  for (const cuda::KernelRow& row : cuda::kKernelTable) {
    const std::string name = row.name;
    if (!Runs(row, stream.device())) {
      parts.push_back({name, nullptr});
      continue;
    }
    parts.push_back({name, [&, name, cases] { return VerifyKernel(stream, name, cases); }});
    parts.push_back(
        {name + ", own stages", [&, cases] { return VerifyFused(stream, row, cases / 4 + 1); }});
    if (row.images == cuda::Images::kNone) continue;
    parts.push_back({name + ", convolutions",
                     [&, cases] { return VerifyConvolutions(stream, &row, cases / 2 + 1); }});
  }
  parts.push_back({"convolutions as chosen",
                   [&stream, cases] { return VerifyConvolutions(stream, nullptr, cases); }});
  parts.push_back({"operators", [&stream, cases] { return VerifyJobs(stream, cases); }});
  parts.push_back(
      {"products as chosen", [&stream, cases] { return VerifyKernel(stream, "", 4 * cases); }});
  parts.push_back({"networks", [&stream] { return VerifyNetworks(stream); }});
  for (const cuda::KernelRow& row : cuda::kKernelTable) {
    if (row.max_rows != 0 || !Runs(row, stream.device())) continue;
    const std::string name = row.name;
    parts.push_back({"large, " + name, [&, name] { return VerifyLarge(stream, name); }});
  }
  return parts;
}

bool IsWanted(const std::string& name, const std::vector<std::string>& words) {
  return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
           return name.starts_with(word);
         });
}

Tally Run(const Part& part) {
  const auto start = std::chrono::steady_clock::now();
  const Tally t = part.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%-30s %6d cases %6d failures %8.2f s\n", part.name.c_str(), t.cases, t.failures,
              took.count());
  if (t.failures > 0) std::printf("FAILED %s: %s\n", part.name.c_str(), t.first.c_str());
  std::fflush(stdout);
  return t;
}

int Main(int cases, const std::vector<std::string>& words) {
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
  int ran = 0;
  int failures = 0;
  for (const Part& part : AllParts(*stream, cases)) {
    if (!IsWanted(part.name, words)) continue;
    ++ran;
    if (part.run == nullptr) {
      std::printf("%-30s SKIPPED: not for this device\n", part.name.c_str());
    } else {
      failures += Run(part).failures;
    }
  }
  if (ran == 0) {
    std::fprintf(stderr, "verify: no part has such a name\n");
    return 2;
  }
  std::printf("%s\n", failures == 0 ? "verify: all equal" : "verify: FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace intaglio::test

int main(int argc, char** argv) {
  const int cases = argc > 1 ? std::atoi(argv[1]) : 100;
  if (cases < 1) {
    std::fprintf(stderr, "usage: verify [cases per kernel, 100 [words...]]\n");
    return 2;
  }
  return intaglio::test::Main(cases, {argv + std::min(argc, 2), argv + argc});
}
