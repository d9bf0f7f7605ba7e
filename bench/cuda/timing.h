// Times of work on a stream: captured once as a graph, so that launches leave no gaps, and
// replayed.
#ifndef INTAGLIO_BENCH_CUDA_TIMING_H_
#define INTAGLIO_BENCH_CUDA_TIMING_H_

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace intaglio::bench {

inline void Require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bench_cuda: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Device memory that is freed with its owner.
class Buffer {
 public:
  explicit Buffer(size_t bytes) {
    Require(cudaMalloc(&memory_, std::max<size_t>(bytes, 1)), "cudaMalloc");
  }
  Buffer(Buffer&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Buffer(const Buffer&) = delete;
  ~Buffer() { (void)cudaFree(memory_); }
  template <class T = void>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

// One contender: enqueue(i) runs it on the i-th set of buffers, and returns whether that worked.
class Contender {
 public:
  Contender(std::string name, cudaStream_t stream, int launches,
            const std::function<bool(int)>& enqueue)
      : name_(std::move(name)), stream_(stream), launches_(launches) {
    for (int i = 0; i < launches && works_; ++i) works_ = enqueue(i);  // loads code, warms up
    if (cudaStreamSynchronize(stream) != cudaSuccess) works_ = false;
    if (!works_) return;
    cudaGraph_t graph = nullptr;
    Require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < launches; ++i) works_ = enqueue(i) && works_;
    Require(cudaStreamEndCapture(stream, &graph), "capture");
    Require(cudaGraphInstantiate(&graph_, graph, 0), "instantiate");
    (void)cudaGraphDestroy(graph);
    Require(cudaEventCreate(&start_), "event");
    Require(cudaEventCreate(&stop_), "event");
  }
  Contender(const Contender&) = delete;
  ~Contender() {
    if (graph_ == nullptr) return;
    (void)cudaGraphExecDestroy(graph_);
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(stop_);
  }

  // One replay; notes the microseconds of a launch.
  void Measure() {
    if (!works_) return;
    Require(cudaEventRecord(start_, stream_), "event");
    Require(cudaGraphLaunch(graph_, stream_), "launch");
    Require(cudaEventRecord(stop_, stream_), "event");
    Require(cudaEventSynchronize(stop_), "event");
    float ms = 0;
    Require(cudaEventElapsedTime(&ms, start_, stop_), "event");
    times_.push_back(static_cast<double>(ms) * 1000 / launches_);
  }
  // The median, in microseconds; negative for one that does not work.
  double Median() {
    if (times_.empty()) return -1;
    std::sort(times_.begin(), times_.end());
    return times_[times_.size() / 2];
  }
  bool works() const { return works_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  cudaStream_t stream_;
  int launches_;
  bool works_ = true;
  cudaGraphExec_t graph_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  std::vector<double> times_;
};

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_CUDA_TIMING_H_
