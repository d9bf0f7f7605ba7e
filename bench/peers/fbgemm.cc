// FBGEMM: uint8 activations by int8 weights packed before, half-even per channel.
#include "fbgemm/Fbgemm.h"

#include <omp.h>

#include <optional>
#include <type_traits>

#include "intaglio/bench/peers/bytes.h"
#include "intaglio/bench/peers/peers.h"

namespace intaglio::bench {
namespace {

using Epilogue = fbgemm::ReQuantizeOutput<false, fbgemm::QuantizationGranularity::OUT_CHANNEL>;

class Fbgemm : public Engine {
 public:
  explicit Fbgemm(const Problem& p)
      : p_(p),
        weights_(Retyped(p.weights, p.weight_type, Type::kInt8)),
        activations_(Retyped(p.activations, p.activation_type, Type::kUInt8)),
        activation_zero_(p.activation_zero + Shift(p.activation_type, Type::kUInt8)),
        weight_zeros_(static_cast<size_t>(p.m()),
                      p.weight_zero + Shift(p.weight_type, Type::kInt8)),
        output_shift_(Shift(p.output_type(), Type::kUInt8)),
        result_(p),
        accumulators_(static_cast<size_t>(p.n()) * static_cast<size_t>(p.m())) {
    name = "fbgemm";
    SumColumns();
    if (!p.shape.both_change) PackWeights();
  }

  void Run() override {
    if (p_.shape.both_change) PackWeights();
    // Row sums are needed only where weights have zero points.
    if (weight_zeros_.front() != 0) return RunWith<fbgemm::PackAWithRowOffset<uint8_t>>();
    RunWith<fbgemm::PackAMatrix<uint8_t>>();
  }

  double Value(int row, int channel) const override {
    return result_.At(row, channel) - output_shift_;
  }

 private:
  void SumColumns() {
    const auto* bytes = reinterpret_cast<const int8_t*>(weights_.data());
    for (int m = 0; m < p_.m(); ++m) {
      int32_t sum = 0;
      for (int k = 0; k < p_.k(); ++k) sum += *bytes++;
      column_sums_.push_back(sum - weight_zeros_.front() * p_.k());
    }
  }

  void PackWeights() {
    packed_.emplace(fbgemm::matrix_op_t::Transpose, p_.k(), p_.m(),
                    reinterpret_cast<const int8_t*>(weights_.data()), p_.k());
  }

  template <class PackA>
  void RunWith() {
    if (p_.threads == 1) return RunThread<PackA>(0, 1);
#pragma omp parallel num_threads(p_.threads)
    RunThread<PackA>(omp_get_thread_num(), omp_get_num_threads());
  }

  template <class PackA>
  void RunThread(int thread, int threads) {
    // FBGEMM's classes differ in the sign of their extents.
    using Extent =
        std::conditional_t<std::is_same_v<PackA, fbgemm::PackAMatrix<uint8_t>>, int32_t, uint32_t>;
    const auto depth = static_cast<Extent>(p_.k());
    PackA rows(fbgemm::matrix_op_t::NoTranspose, static_cast<Extent>(p_.n()), depth,
               activations_.data(), depth);
    fbgemm::DoNothing<> nothing{};
    const Epilogue epilogue(nothing, p_.scale.data(), p_.output_zero + output_shift_,
                            activation_zero_, weight_zeros_.data(), rows.getRowOffsetBuffer(),
                            column_sums_.data(), p_.bias.data(), static_cast<uint32_t>(p_.m()));
    fbgemm::fbgemmPacked(rows, *packed_, result_.data(), accumulators_.data(),
                         static_cast<uint32_t>(p_.m()), epilogue, thread, threads);
  }

  const Problem& p_;
  AlignedVector<uint8_t> weights_;
  AlignedVector<uint8_t> activations_;
  int32_t activation_zero_;
  std::vector<int32_t> weight_zeros_;
  int32_t output_shift_;
  DenseResult<uint8_t> result_;
  AlignedVector<int32_t> accumulators_;
  std::vector<int32_t> column_sums_;
  std::optional<fbgemm::PackBMatrix<int8_t>> packed_;
};

MadeEngine Make(const Problem& p) {
  if (p.output != OutputKind::kByte) return {nullptr, "only its 8-bit output is measured"};
  if (!fbgemm::fbgemmSupportedCPU()) return {nullptr, "it does not support this CPU"};
  return {std::make_unique<Fbgemm>(p), ""};
}

std::string Version() { return INTAGLIO_PEER_VERSION; }

}  // namespace

extern const Peer kPeerFbgemm;
const Peer kPeerFbgemm = {"fbgemm", &Version, &Make};

}  // namespace intaglio::bench
