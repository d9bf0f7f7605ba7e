// ruy: weights cached in their packed form, fixed-point requantization with a rounding of its own
// per instruction set, which is single rounding but for neighbours near ties.
#include "ruy/ruy.h"

#include "intaglio/bench/peers/bytes.h"
#include "intaglio/bench/peers/peers.h"

namespace intaglio::bench {
namespace {

// Result has the activations' type.
template <class Weight, class Activation>
class Ruy : public Engine {
 public:
  explicit Ruy(const Problem& p) : result_(p) {
    name = "ruy";
    arithmetic = Arithmetic::kSingle;
    tolerance = 1;
    context_.set_max_num_threads(p.threads);
    ruy::MakeSimpleLayout(p.m(), p.k(), ruy::Order::kRowMajor, lhs_.mutable_layout());
    lhs_.set_data(reinterpret_cast<const Weight*>(p.weights.data()));
    lhs_.set_zero_point(static_cast<Weight>(p.weight_zero));
    if (!p.shape.both_change) lhs_.set_cache_policy(ruy::CachePolicy::kAlwaysCache);
    ruy::MakeSimpleLayout(p.k(), p.n(), ruy::Order::kColMajor, rhs_.mutable_layout());
    rhs_.set_data(reinterpret_cast<const Activation*>(p.activations.data()));
    rhs_.set_zero_point(static_cast<Activation>(p.activation_zero));
    ruy::MakeSimpleLayout(p.m(), p.n(), ruy::Order::kColMajor, dst_.mutable_layout());
    dst_.set_data(result_.data());
    dst_.set_zero_point(static_cast<Activation>(p.output_zero));
    params_.set_bias(p.bias.data());
    params_.set_multiplier_fixedpoint_perchannel(p.mantissa.data());
    params_.set_multiplier_exponent_perchannel(p.exponent.data());
  }

  void Run() override { ruy::Mul(lhs_, rhs_, params_, &context_, &dst_); }
  double Value(int row, int channel) const override { return result_.At(row, channel); }

 private:
  ruy::Context context_;
  ruy::Matrix<Weight> lhs_;
  ruy::Matrix<Activation> rhs_;
  ruy::Matrix<Activation> dst_;
  ruy::MulParams<int32_t, Activation> params_;
  DenseResult<Activation> result_;
};

MadeEngine Make(const Problem& p) {
  if (p.output != OutputKind::kByte) return {nullptr, "only its 8-bit output is measured"};
  const std::string types = p.types();
  if (types == "u8s8") return {std::make_unique<Ruy<int8_t, uint8_t>>(p), ""};
  if (types == "s8s8") return {std::make_unique<Ruy<int8_t, int8_t>>(p), ""};
  if (types == "u8u8") return {std::make_unique<Ruy<uint8_t, uint8_t>>(p), ""};
  return {nullptr, "types " + types + " are not measured"};
}

std::string Version() { return INTAGLIO_PEER_VERSION; }

}  // namespace

extern const Peer kPeerRuy;
const Peer kPeerRuy = {"ruy", &Version, &Make};

}  // namespace intaglio::bench
