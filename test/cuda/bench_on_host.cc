// What bench_cuda measures on a device that the host plays: small products, beside engines that the
// host plays too, of which one is wrong for the last product.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "intaglio/bench/cuda/cases.h"
#include "intaglio/bench/cuda/peers.h"
#include "intaglio/test/cuda/host_runtime.cuh"

namespace intaglio::bench {
namespace {

constexpr int kWrongRows = 5;

class Naive final : public Peer {
 public:
  Naive(const PeerProblem& problem, Epilogue epilogue)
      : Peer("naive", epilogue), problem_(problem) {}

  bool Run(const int8_t* rows, const int8_t* channels, void* dst, cudaStream_t) const override {
    return test::Enqueue([=, this] {
             for (int r = 0; r < problem_.rows; ++r) {
               for (int c = 0; c < problem_.channels; ++c)
                 Store(r, c, Sum(rows, channels, r, c), dst);
             }
           }) == cudaSuccess;
  }

 private:
  int32_t Sum(const int8_t* rows, const int8_t* channels, int r, int c) const {
    int32_t sum = problem_.rows == kWrongRows ? 500 : 0;
    for (int d = 0; d < problem_.depth; ++d) {
      sum += rows[r * problem_.depth + d] * channels[c * problem_.depth + d];
    }
    return sum;
  }
  void Store(int r, int c, int32_t sum, void* dst) const {
    const int at = r * problem_.channels + c;
    if (epilogue() == Epilogue::kInt32) {
      static_cast<int32_t*>(dst)[at] = sum;
      return;
    }
    const float scale = epilogue() == Epilogue::kOneScale
                            ? problem_.scale
                            : problem_.row_scales[r] * problem_.channel_scales[c];
    const float scaled = std::nearbyint(static_cast<float>(sum) * scale);
    static_cast<int8_t*>(dst)[at] = static_cast<int8_t>(std::clamp(scaled, -128.0f, 127.0f));
  }

  PeerProblem problem_;
};

}  // namespace

std::span<const Case> Cases() {
  static constexpr Case kCases[] = {
      {"right", 17, 36, 80}, {"odd", 3, 19, 21}, {"wrong", kWrongRows, 64, 48}};
  return kCases;
}

PeerList MakePeers(const PeerProblem& problem) {
  PeerList list;
  for (const auto epilogue :
       {Epilogue::kInt32, Epilogue::kOneScale, Epilogue::kScalesByRowAndChannel}) {
    list.push_back(std::make_unique<Naive>(problem, epilogue));
  }
  return list;
}

}  // namespace intaglio::bench
