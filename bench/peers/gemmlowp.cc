// gemmlowp: uint8 operands with offsets, double rounding per channel. Packs both sides on each
// call.
#include "public/gemmlowp.h"

#include <tuple>

#include "intaglio/bench/peers/bytes.h"
#include "intaglio/bench/peers/peers.h"
#include "public/output_stages.h"

namespace intaglio::bench {
namespace {

using gemmlowp::MapOrder;
using gemmlowp::VectorShape;

class Gemmlowp : public Engine {
 public:
  explicit Gemmlowp(const Problem& p)
      : p_(p),
        weights_(Retyped(p.weights, p.weight_type, Type::kUInt8)),
        activations_(Retyped(p.activations, p.activation_type, Type::kUInt8)),
        weight_offset_(-(p.weight_zero + Shift(p.weight_type, Type::kUInt8))),
        activation_offset_(-(p.activation_zero + Shift(p.activation_type, Type::kUInt8))),
        output_shift_(Shift(p.output_type(), Type::kUInt8)),
        result_(p) {
    name = "gemmlowp";
    arithmetic = Arithmetic::kDouble;
    context_.set_max_num_threads(p.threads);
  }

  void Run() override {
    const gemmlowp::MatrixMap<const uint8_t, MapOrder::RowMajor> lhs(weights_.data(), p_.m(),
                                                                     p_.k());
    const gemmlowp::MatrixMap<const uint8_t, MapOrder::ColMajor> rhs(activations_.data(), p_.k(),
                                                                     p_.n());
    gemmlowp::MatrixMap<uint8_t, MapOrder::ColMajor> dst(result_.data(), p_.m(), p_.n());
    using Vector = gemmlowp::VectorMap<const int32_t, VectorShape::Col>;
    const gemmlowp::OutputStageBiasAddition<Vector> bias{Vector(p_.bias.data(), p_.m())};
    const gemmlowp::OutputStageScaleInt32ByFixedPointAndExponentPC<VectorShape::Col> scale{
        Vector(p_.mantissa.data(), p_.m()), Vector(p_.exponent.data(), p_.m()),
        p_.output_zero + output_shift_};
    const gemmlowp::VectorDup<const int32_t, VectorShape::Col> lhs_offset(weight_offset_, p_.m());
    const gemmlowp::VectorDup<const int32_t, VectorShape::Row> rhs_offset(activation_offset_,
                                                                          p_.n());
    gemmlowp::GemmWithOutputPipelinePC<uint8_t, uint8_t,
                                       gemmlowp::L8R8WithLhsNonzeroBitDepthParams>(
        &context_, lhs, rhs, &dst, lhs_offset, rhs_offset,
        std::make_tuple(bias, scale, gemmlowp::OutputStageSaturatingCastToUint8()));
  }

  double Value(int row, int channel) const override {
    return result_.At(row, channel) - output_shift_;
  }

 private:
  const Problem& p_;
  AlignedVector<uint8_t> weights_;
  AlignedVector<uint8_t> activations_;
  int32_t weight_offset_;
  int32_t activation_offset_;
  int32_t output_shift_;
  DenseResult<uint8_t> result_;
  gemmlowp::GemmContext context_;
};

MadeEngine Make(const Problem& p) {
  if (p.output != OutputKind::kByte) return {nullptr, "only its 8-bit output is measured"};
  return {std::make_unique<Gemmlowp>(p), ""};
}

std::string Version() { return INTAGLIO_PEER_VERSION; }

}  // namespace

extern const Peer kPeerGemmlowp;
const Peer kPeerGemmlowp = {"gemmlowp", &Version, &Make};

}  // namespace intaglio::bench
