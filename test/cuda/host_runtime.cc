#include "intaglio/test/cuda/host_runtime.cuh"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace intaglio::test {
namespace {

using Clock = std::chrono::steady_clock;
using Work = std::vector<std::function<void()>>;

constexpr size_t kMemory = size_t{1} << 34;

Work* captured = nullptr;  // of the graph that is being captured
bool captures_well = true;
cudaError_t last_error = cudaSuccess;  // as cudaGetLastError has it
int capability = 90;
int calls = 0;
int failing_call = -1;
cudaError_t failure = cudaSuccess;

cudaError_t Fail(cudaError_t error) { return last_error = error; }

// What a call that may fail begins with.
cudaError_t Begin() { return calls++ == failing_call ? Fail(failure) : cudaSuccess; }

// The same of allocations and of waiting, which end a capture.
cudaError_t BeginUnlessCapturing() {
  if (captured == nullptr) return Begin();
  captures_well = false;
  return Fail(cudaErrorStreamCaptureUnsupported);
}

}  // namespace

void FailCall(int n, cudaError_t error) {
  calls = 0;
  failing_call = n;
  failure = error;
}

int CallsMade() { return calls; }

void SetCapability(int device_capability) { capability = device_capability; }

cudaError_t Enqueue(std::function<void()> work) {
  if (const cudaError_t e = Begin(); e != cudaSuccess) return e;
  if (captured != nullptr) {
    captured->push_back(std::move(work));
  } else {
    work();
  }
  return cudaSuccess;
}

}  // namespace intaglio::test

using intaglio::test::Begin;
using intaglio::test::BeginUnlessCapturing;
using intaglio::test::captured;
using intaglio::test::captures_well;
using intaglio::test::Clock;
using intaglio::test::Enqueue;
using intaglio::test::Fail;
using intaglio::test::Work;

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return Begin();
}
// Those of an H200 that plan.cc asks for.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  using intaglio::test::capability;
  *value = attribute == cudaDevAttrComputeCapabilityMajor   ? capability / 10
           : attribute == cudaDevAttrComputeCapabilityMinor ? capability % 10
                                                            : 132;
  return Begin();
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* device, int) {
  *device = {};
  std::strcpy(device->name, "the host");
  device->major = 9;
  device->multiProcessorCount = 132;
  return Begin();
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return std::exchange(intaglio::test::last_error, cudaSuccess); }
const char* cudaGetErrorName(cudaError_t) { return "an error's name"; }
const char* cudaGetErrorString(cudaError_t) { return "an error of the host's"; }

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  if (const cudaError_t e = BeginUnlessCapturing(); e != cudaSuccess) return e;
  if (bytes > intaglio::test::kMemory) return Fail(cudaErrorMemoryAllocation);
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *memory == nullptr ? Fail(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return captured == nullptr ? cudaSuccess : BeginUnlessCapturing();
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return Enqueue([=] { std::memmove(to, from, bytes); });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  std::memmove(to, from, bytes);
  return BeginUnlessCapturing();
}
cudaError_t cudaMemsetAsync(void* to, int byte, size_t bytes, cudaStream_t) {
  return Enqueue([=] { std::memset(to, byte, bytes); });
}
cudaError_t cudaMemset(void* to, int byte, size_t bytes) {
  std::memset(to, byte, bytes);
  return BeginUnlessCapturing();
}

cudaError_t cudaDeviceSynchronize() { return BeginUnlessCapturing(); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return BeginUnlessCapturing(); }
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<char*>(stream);
  return cudaSuccess;
}

// A graph and what it is instantiated to are both the list of its work, which the latter owns.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (stream == nullptr) return Fail(cudaErrorStreamCaptureUnsupported);
  captured = new Work;
  captures_well = true;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(std::exchange(captured, nullptr));
  return captures_well ? cudaSuccess : Fail(cudaErrorStreamCaptureInvalidated);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (const auto& work : *reinterpret_cast<Work*>(executable)) work();
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete reinterpret_cast<Work*>(executable);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new Clock::time_point);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  *reinterpret_cast<Clock::time_point*>(event) = Clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return BeginUnlessCapturing(); }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
  *ms = std::chrono::duration<float, std::milli>(*reinterpret_cast<Clock::time_point*>(stop) -
                                                 *reinterpret_cast<Clock::time_point*>(start))
            .count();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Clock::time_point*>(event);
  return cudaSuccess;
}

}  // extern "C"
