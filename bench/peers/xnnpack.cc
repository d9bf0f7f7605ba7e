// XNNPACK: fully connected operators, half-even. int8 activations by per-channel int8 weights, or
// uint8 by uint8 with one scale.
#include <pthreadpool.h>
#include <xnnpack.h>

#include <memory>
#include <string>

#include "intaglio/bench/peers/bytes.h"
#include "intaglio/bench/peers/peers.h"

namespace intaglio::bench {
namespace {

class Xnnpack : public Engine {
 public:
  explicit Xnnpack(const Problem& p)
      : p_(p),
        type_(p.weight_type),
        activations_(Retyped(p.activations, p.activation_type, type_)),
        output_shift_(Shift(p.output_type(), type_)),
        result_(p) {
    name = "xnnpack";
    // The operators read a few bytes past the end.
    activations_.resize(activations_.size() + 64);
    if (p.threads > 1) pool_.reset(pthreadpool_create(static_cast<size_t>(p.threads)));
  }

  // Empty, or why not.
  std::string Prepare() {
    const auto n = static_cast<size_t>(p_.n());
    xnn_operator_t made = nullptr;
    xnn_status status = type_ == Type::kInt8 ? CreateInt8(&made) : CreateUint8(&made);
    operator_.reset(made);
    if (status != xnn_status_success) return "creation fails: " + std::to_string(status);
    if (type_ == Type::kInt8) {
      status = xnn_reshape_fully_connected_nc_qs8_qc8w(made, n, pool_.get());
      if (status == xnn_status_success) {
        status = xnn_setup_fully_connected_nc_qs8_qc8w(
            made, reinterpret_cast<const int8_t*>(activations_.data()),
            reinterpret_cast<int8_t*>(result_.data()));
      }
    } else {
      status = xnn_reshape_fully_connected_nc_qu8(made, n, pool_.get());
      if (status == xnn_status_success) {
        status = xnn_setup_fully_connected_nc_qu8(made, activations_.data(), result_.data());
      }
    }
    return status == xnn_status_success ? "" : "setup fails: " + std::to_string(status);
  }

  void Run() override { xnn_run_operator(operator_.get(), pool_.get()); }

  double Value(int row, int channel) const override {
    const auto byte = static_cast<uint8_t>(result_.At(row, channel));
    return (type_ == Type::kInt8 ? static_cast<int8_t>(byte) : byte) - output_shift_;
  }

 private:
  xnn_status CreateInt8(xnn_operator_t* made) {
    const auto m = static_cast<size_t>(p_.m());
    const auto k = static_cast<size_t>(p_.k());
    const int32_t input_zero = p_.activation_zero + Shift(p_.activation_type, type_);
    return xnn_create_fully_connected_nc_qs8_qc8w(
        k, m, k, m, static_cast<int8_t>(input_zero), 1.0f, p_.scale.data(),
        reinterpret_cast<const int8_t*>(p_.weights.data()), p_.bias.data(),
        static_cast<int8_t>(p_.output_zero + output_shift_), 1.0f, -128, 127, 0, nullptr, made);
  }

  xnn_status CreateUint8(xnn_operator_t* made) {
    const auto m = static_cast<size_t>(p_.m());
    const auto k = static_cast<size_t>(p_.k());
    const int32_t input_zero = p_.activation_zero + Shift(p_.activation_type, type_);
    return xnn_create_fully_connected_nc_qu8(
        k, m, k, m, static_cast<uint8_t>(input_zero), 1.0f, static_cast<uint8_t>(p_.weight_zero),
        p_.scale.front(), p_.weights.data(), p_.bias.data(),
        static_cast<uint8_t>(p_.output_zero + output_shift_), 1.0f, 0, 255, 0, nullptr, made);
  }

  struct DeletePool {
    void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
  };
  struct DeleteOperator {
    void operator()(xnn_operator_t made) const { xnn_delete_operator(made); }
  };

  const Problem& p_;
  Type type_;  // of everything
  AlignedVector<uint8_t> activations_;
  int32_t output_shift_;
  DenseResult<uint8_t> result_;
  std::unique_ptr<struct pthreadpool, DeletePool> pool_;
  std::unique_ptr<struct xnn_operator, DeleteOperator> operator_;
};

MadeEngine Make(const Problem& p) {
  if (p.output != OutputKind::kByte) return {nullptr, "only its 8-bit output is measured"};
  if (p.shape.both_change) return {nullptr, "its weights are constant"};
  static const bool ready = xnn_initialize(nullptr) == xnn_status_success;
  if (!ready) return {nullptr, "it does not support this machine"};
  auto engine = std::make_unique<Xnnpack>(p);
  std::string why_not = engine->Prepare();
  if (!why_not.empty()) return {nullptr, std::move(why_not)};
  return {std::move(engine), ""};
}

std::string Version() { return INTAGLIO_PEER_VERSION; }

}  // namespace

extern const Peer kPeerXnnpack;
const Peer kPeerXnnpack = {"xnnpack", &Version, &Make};

}  // namespace intaglio::bench
