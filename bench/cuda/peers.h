// Other engines' int8 x int8 on a GPU. Each adapter is one file, with a function that adds its
// engines to the list; peers.cc calls those that CMake found.
#ifndef INTAGLIO_BENCH_CUDA_PEERS_H_
#define INTAGLIO_BENCH_CUDA_PEERS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace intaglio::bench {

// What becomes of the sums: themselves, or int8 by float32 scales, rounded half to even.
enum class Epilogue { kInt32, kOneScale, kScalesByRowAndChannel };

struct PeerProblem {
  int rows, channels, depth;
  float scale;                  // of kOneScale
  const float* row_scales;      // of kScalesByRowAndChannel, on the device
  const float* channel_scales;  // the same
};

// dst[row][channel] = epilogue(sum over depth of rows[row][depth] * channels[channel][depth]), all
// of them dense and on the device.
class Peer {
 public:
  Peer(std::string name, Epilogue epilogue) : name_(std::move(name)), epilogue_(epilogue) {}
  virtual ~Peer() = default;

  // Enqueues the product; false where the engine does not take it.
  virtual bool Run(const int8_t* rows, const int8_t* channels, void* dst,
                   cudaStream_t stream) const = 0;

  const std::string& name() const { return name_; }
  Epilogue epilogue() const { return epilogue_; }

 private:
  std::string name_;
  Epilogue epilogue_;
};

using PeerList = std::vector<std::unique_ptr<Peer>>;

PeerList MakePeers(const PeerProblem& problem);

void AddCublasLt(const PeerProblem& problem, PeerList& list);
void AddCutlass(const PeerProblem& problem, PeerList& list);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_CUDA_PEERS_H_
