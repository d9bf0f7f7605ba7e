// One product of bench_cuda: its buffers, and what runs on them.
#ifndef INTAGLIO_BENCH_CUDA_PRODUCT_H_
#define INTAGLIO_BENCH_CUDA_PRODUCT_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "intaglio/bench/cuda/cases.h"
#include "intaglio/bench/cuda/peers.h"
#include "intaglio/bench/cuda/timing.h"
#include "intaglio/gemm/cuda/gemm.h"

namespace intaglio::bench {

// Ends the program where the status is not ok.
void Require(const Status& status, const char* what);

// Of random operands, in several sets of buffers that together are larger than twice the L2 cache.
// Scales are such that results of 8 bits take many values.
class Product {
 public:
  Product(cuda::Stream& stream, const Case& c);

  int sets() const { return static_cast<int>(sets_.size()); }
  // For engines of others; the arrays live as long as the product.
  PeerProblem peer_problem() const;

  // Enqueue on the i-th set, modulo their number; false where that is not possible.
  bool Fused(int i) const;       // to int8, by the standard pipeline per channel
  bool Raw(int i) const;         // to int32
  bool Requantize(int i) const;  // int32 to int8, by the same pipeline, in a kernel of its own
  bool RunPeer(const Peer& peer, int i) const;
  bool Clear() const;  // 4 bytes of the first set's results, by the least of all launches

  // The last result of the first set; clears it.
  std::vector<int8_t> TakeInt8();
  std::vector<int32_t> TakeInt32();
  // Whether int8 results are what an epilogue makes of sums, up to 1: floats are multiplied in an
  // order of the engine's own.
  bool IsScaled(const std::vector<int32_t>& sums, const std::vector<int8_t>& results,
                Epilogue epilogue) const;

  // What Fused runs.
  std::string Description() const;

 private:
  struct Set {
    Buffer rows, weights, int8, int32;
    cuda::PackedMatrix packed;
    cuda::BoundPipeline bound;
  };

  void MakePipeline();
  void MakeSet();
  const Set& SetOf(int i) const { return sets_[static_cast<size_t>(i) % sets_.size()]; }
  ConstMatrix Rows(const Set& s) const;
  MutableMatrix Int8(const Set& s) const;
  size_t results() const {
    return static_cast<size_t>(case_.rows) * static_cast<size_t>(case_.channels);
  }

  cuda::Stream& stream_;
  Case case_;
  std::mt19937 random_{3};
  StandardPipeline standard_;
  float scale_ = 0;
  std::vector<float> row_scales_, channel_scales_;
  std::vector<Buffer> numbers_;  // on the device: what pipeline and scales point to
  std::vector<Set> sets_;
};

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_CUDA_PRODUCT_H_
