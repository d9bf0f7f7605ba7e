// CUTLASS for Hopper: bulk tensor copies into a ring, warp-specialised, blocks that stay. int32, or
// int8 by a tree of epilogue nodes: a scale of the row times a scale of the channel. It wants
// depths that are multiples of 16, and so many channels (of 4 for int32).
#include <cutlass/gemm/device/gemm_universal_adapter.h>

#include <cstdint>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/epilogue/fusion/sm90_callbacks_tma_warpspecialized.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <memory>

#include "intaglio/bench/cuda/peers.h"

namespace intaglio::bench {
namespace {

// A tile, and who works on it: two warpgroups together, or each on a tile of its own.
struct Together {
  using Main = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
  using Finish = cutlass::epilogue::TmaWarpSpecializedCooperative;
};
struct InTurns {
  using Main = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
  using Finish = cutlass::epilogue::TmaWarpSpecialized;
};
template <int kRows, int kChannels, int kCluster, class Schedule_>
struct TileOf {
  using Extents = cute::Shape<cute::Int<kRows>, cute::Int<kChannels>, cute::Int<128>>;
  using Cluster = cute::Shape<cute::Int<kCluster>, cute::_1, cute::_1>;
  using Schedule = Schedule_;
};

template <class Tile, Epilogue kEpilogue>
struct TreeOf {
  using Output = int32_t;
  using Tree = cutlass::epilogue::fusion::Sm90AccFetch;
};
template <class Tile>
struct TreeOf<Tile, Epilogue::kScalesByRowAndChannel> {
  template <class To>
  using Times = cutlass::epilogue::fusion::Sm90Compute<cutlass::multiplies, To, float,
                                                       cutlass::FloatRoundStyle::round_to_nearest>;
  using Sums = cutlass::epilogue::fusion::Sm90AccFetch;
  using ChannelScales = cutlass::epilogue::fusion::Sm90RowBroadcast<0, Tile, float>;
  using RowScales = cutlass::epilogue::fusion::Sm90ColBroadcast<0, Tile, float>;
  using Scaled = cutlass::epilogue::fusion::Sm90EVT<Times<float>, ChannelScales, Sums>;
  using Output = int8_t;
  using Tree = cutlass::epilogue::fusion::Sm90EVT<Times<Output>, RowScales, Scaled>;
};

template <class Tile, Epilogue kEpilogue>
class Cutlass final : public Peer {
 public:
  Cutlass(const std::string& name, const PeerProblem& problem)
      : Peer(name, kEpilogue), problem_(problem) {}

  bool Run(const int8_t* rows, const int8_t* channels, void* dst,
           cudaStream_t stream) const override {
    const int64_t depth = problem_.depth;
    const auto by_depth = cute::make_stride(depth, cute::_1{}, int64_t{0});
    const auto by_channel = cute::make_stride(int64_t{problem_.channels}, cute::_1{}, int64_t{0});
    typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                       {problem_.rows, problem_.channels, problem_.depth, 1},
                                       {rows, by_depth, channels, by_depth},
                                       {{}, nullptr, {}, static_cast<Output*>(dst), by_channel}};
    if constexpr (kEpilogue == Epilogue::kScalesByRowAndChannel) {
      arguments.epilogue.thread = {{problem_.row_scales}, {{problem_.channel_scales}, {}, {}}, {}};
    }
    if (Gemm::can_implement(arguments) != cutlass::Status::kSuccess) return false;
    return Gemm().run(arguments, nullptr, stream) == cutlass::Status::kSuccess;
  }

 private:
  using Extents = typename Tile::Extents;
  using Output = typename TreeOf<Extents, kEpilogue>::Output;
  static constexpr int kAligned = 16;  // bytes, of every line
  using RowMajor = cutlass::layout::RowMajor;
  using Finish = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Extents, typename Tile::Cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, int32_t, int32_t, void, RowMajor, kAligned,
      Output, RowMajor, kAligned / sizeof(Output), typename Tile::Schedule::Finish,
      typename TreeOf<Extents, kEpilogue>::Tree>::CollectiveOp;
  using Main = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, int8_t, RowMajor, kAligned, int8_t,
      cutlass::layout::ColumnMajor, kAligned, int32_t, Extents, typename Tile::Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
          sizeof(typename Finish::SharedStorage))>,
      typename Tile::Schedule::Main>::CollectiveOp;
  using Gemm = cutlass::gemm::device::GemmUniversalAdapter<
      cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Main, Finish>>;

  PeerProblem problem_;
};

template <class Tile>
void AddTile(const std::string& name, const PeerProblem& problem, PeerList& list) {
  list.push_back(std::make_unique<Cutlass<Tile, Epilogue::kInt32>>(name, problem));
  list.push_back(std::make_unique<Cutlass<Tile, Epilogue::kScalesByRowAndChannel>>(name, problem));
}

}  // namespace

void AddCutlass(const PeerProblem& problem, PeerList& list) {
  AddTile<TileOf<128, 256, 2, Together>>("CUTLASS 128x256", problem, list);
  AddTile<TileOf<128, 128, 2, InTurns>>("CUTLASS 128x128", problem, list);
  AddTile<TileOf<64, 128, 1, InTurns>>("CUTLASS 64x128", problem, list);
}

}  // namespace intaglio::bench
