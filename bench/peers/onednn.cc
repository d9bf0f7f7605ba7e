// oneDNN, 2.x and 3.x: a matmul primitive with its weights reordered to the layout it asks for.
// Also in float32, the baseline that 8-bit products have to beat.
#include <omp.h>

#include <algorithm>
#include <unordered_map>

#include "intaglio/bench/peers/bytes.h"
#include "intaglio/bench/peers/peers.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace intaglio::bench {
namespace {

using dnnl::memory;
using DataType = memory::data_type;
using Tag = memory::format_tag;

constexpr bool kIs3 = DNNL_VERSION_MAJOR >= 3;
constexpr int kPerChannel = 1 << 1;

struct Stage {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

Stage& TheStage() {
  static Stage stage;
  return stage;
}

template <class T>
memory Filled(const memory::desc& desc, const T* values) {
  memory made(desc, TheStage().engine);
  std::copy_n(values, desc.get_size() / sizeof(T), static_cast<T*>(made.get_data_handle()));
  return made;
}

using Arguments = std::unordered_map<int, memory>;

#if DNNL_VERSION_MAJOR >= 3
void SetScales(dnnl::primitive_attr& attr, Arguments& arguments, const std::vector<float>& scales) {
  attr.set_scales_mask(DNNL_ARG_WEIGHTS, kPerChannel);
  const auto count = static_cast<memory::dim>(scales.size());
  arguments[DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS] =
      Filled(memory::desc({count}, DataType::f32, Tag::a), scales.data());
}
void SetZeroPoint(dnnl::primitive_attr& attr, Arguments& arguments, int which, int32_t value) {
  attr.set_zero_points_mask(which, 0);
  arguments[DNNL_ARG_ATTR_ZERO_POINTS | which] =
      Filled(memory::desc({1}, DataType::s32, Tag::a), &value);
}
dnnl::matmul::primitive_desc Describe(const memory::desc& src, const memory::desc& weights,
                                      const memory::desc& bias, const memory::desc& dst,
                                      const dnnl::primitive_attr& attr) {
  return {TheStage().engine, src, weights, bias, dst, attr, true};
}
#else
void SetScales(dnnl::primitive_attr& attr, Arguments&, const std::vector<float>& scales) {
  attr.set_output_scales(kPerChannel, scales);
}
void SetZeroPoint(dnnl::primitive_attr& attr, Arguments&, int which, int32_t value) {
  attr.set_zero_points(which, 0, {value});
}
dnnl::matmul::primitive_desc Describe(const memory::desc& src, const memory::desc& weights,
                                      const memory::desc& bias, const memory::desc& dst,
                                      const dnnl::primitive_attr& attr) {
  return {dnnl::matmul::desc(src, weights, bias, dst), attr, TheStage().engine, true};
}
#endif

// One matmul, its memories and its arguments.
class Matmul : public Engine {
 public:
  // Empty, or why oneDNN has nothing fast for this.
  std::string Prepare(const Problem& p) {
    threads_ = p.threads;
    omp_set_num_threads(threads_);
    const memory::desc weights_here({p.k(), p.m()}, weight_type_, Tag::ba);
    const memory::desc weights_any({p.k(), p.m()}, weight_type_, Tag::any);
    const memory::desc dst({p.n(), p.m()}, dst_type_, Tag::ab);
    const memory::desc src({p.n(), p.k()}, src_type_, Tag::ab);
    const auto desc =
        Describe(src, p.shape.both_change ? weights_here : weights_any, bias_desc_, dst, attr_);
    if (!desc) return "no such primitive";
    label = desc.impl_info_str();
    if (label.starts_with("ref")) return "only a reference implementation: " + label;
    Stage& stage = TheStage();
    memory packed(desc.weights_desc(), stage.engine);
    memory plain(weights_here, stage.engine, weights_);
    dnnl::reorder(plain, packed).execute(stage.stream, plain, packed);
    stage.stream.wait();
    counters.emplace_back("packed_bytes", static_cast<double>(packed.get_desc().get_size()));
    dst_ = memory(dst, stage.engine);
    arguments_[DNNL_ARG_SRC] = memory(src, stage.engine, activations_);
    arguments_[DNNL_ARG_WEIGHTS] = packed;
    arguments_[DNNL_ARG_DST] = dst_;
    matmul_ = dnnl::matmul(desc);
    return "";
  }

  void Run() override {
    omp_set_num_threads(threads_);
    matmul_.execute(TheStage().stream, arguments_);
    TheStage().stream.wait();
  }

 protected:
  void AddBias(const std::vector<float>& bias) {
    const auto count = static_cast<memory::dim>(bias.size());
    bias_desc_ = memory::desc({1, count}, DataType::f32, Tag::ab);
    arguments_[DNNL_ARG_BIAS] = Filled(bias_desc_, bias.data());
  }
  template <class T>
  const T* Results() const {
    return static_cast<const T*>(dst_.get_data_handle());
  }

  DataType src_type_ = DataType::f32;
  DataType weight_type_ = DataType::f32;
  DataType dst_type_ = DataType::f32;
  memory::desc bias_desc_;
  dnnl::primitive_attr attr_;
  void* weights_ = nullptr;
  void* activations_ = nullptr;
  Arguments arguments_;

 private:
  int threads_ = 1;
  memory dst_;
  dnnl::matmul matmul_;
};

class OneDnn : public Matmul {
 public:
  explicit OneDnn(const Problem& p)
      : p_(p),
        weight_bytes_(Retyped(p.weights, p.weight_type, Type::kInt8)),
        activation_bytes_(p.activations) {
    name = "onednn";
    src_type_ = TypeOfBytes(p.activation_type);
    weight_type_ = DataType::s8;
    weights_ = weight_bytes_.data();
    activations_ = activation_bytes_.data();
    AddZeroPoint(DNNL_ARG_SRC, p.activation_zero);
    AddZeroPoint(DNNL_ARG_WEIGHTS, p.weight_zero + Shift(p.weight_type, Type::kInt8));
    if (p.output == OutputKind::kInt32) {
      arithmetic = Arithmetic::kInteger;
      dst_type_ = DataType::s32;
      return;
    }
    SetScales(attr_, arguments_, p.scale);
    AddBias(BiasOf(p));
    if (p.output == OutputKind::kFloat) {
      arithmetic = Arithmetic::kReal;
      tolerance = 1e-4;
      return;
    }
    // It adds the zero point, and 3.x also the scaled bias, in float32 before the one rounding to
    // an integer: near ties that gives the neighbour.
    tolerance = 1;
    dst_type_ = TypeOfBytes(p.output_type());
    AddZeroPoint(DNNL_ARG_DST, p.output_zero);
  }

  double Value(int row, int channel) const override {
    const size_t i =
        static_cast<size_t>(row) * static_cast<size_t>(p_.m()) + static_cast<size_t>(channel);
    switch (dst_type_) {
      case DataType::u8:
        return Results<uint8_t>()[i];
      case DataType::s8:
        return Results<int8_t>()[i];
      case DataType::s32:
        return Results<int32_t>()[i];
      default:
        return Results<float>()[i];
    }
  }

 private:
  static DataType TypeOfBytes(Type type) {
    return type == Type::kInt8 ? DataType::s8 : DataType::u8;
  }

  // 2.x adds the bias to the accumulators and scales then; 3.x the other way round.
  static std::vector<float> BiasOf(const Problem& p) {
    std::vector<float> bias;
    for (size_t m = 0; m < p.bias.size(); ++m) {
      bias.push_back(static_cast<float>(p.bias[m]) * (kIs3 ? p.scale[m] : 1));
    }
    return bias;
  }

  void AddZeroPoint(int which, int32_t value) {
    if (value != 0) SetZeroPoint(attr_, arguments_, which, value);
  }

  const Problem& p_;
  AlignedVector<uint8_t> weight_bytes_;
  AlignedVector<uint8_t> activation_bytes_;
};

// The same numbers in float32, the scales multiplied into the weights before.
class OneDnnFloat : public Matmul {
 public:
  explicit OneDnnFloat(const Problem& p) : m_(p.m()) {
    name = "onednn-f32";
    arithmetic = Arithmetic::kReal;
    tolerance = 1e-3;
    is_float = true;
    for (int n = 0; n < p.n(); ++n) {
      for (int k = 0; k < p.k(); ++k) {
        activation_floats_.push_back(static_cast<float>(p.Activation(n, k) - p.activation_zero));
      }
    }
    std::vector<float> bias;
    for (int m = 0; m < p.m(); ++m) {
      const float scale = p.scale[static_cast<size_t>(m)];
      for (int k = 0; k < p.k(); ++k) {
        weight_floats_.push_back(static_cast<float>(p.Weight(m, k) - p.weight_zero) * scale);
      }
      bias.push_back(static_cast<float>(p.bias[static_cast<size_t>(m)]) * scale);
    }
    AddBias(bias);
    weights_ = weight_floats_.data();
    activations_ = activation_floats_.data();
  }

  double Value(int row, int channel) const override {
    return Results<float>()[static_cast<size_t>(row) * static_cast<size_t>(m_) +
                            static_cast<size_t>(channel)];
  }

 private:
  int m_;
  AlignedVector<float> activation_floats_;
  AlignedVector<float> weight_floats_;
};

template <class Made>
MadeEngine MakeAny(const Problem& p) {
  auto engine = std::make_unique<Made>(p);
  try {
    const std::string why_not = engine->Prepare(p);
    if (!why_not.empty()) return {nullptr, why_not};
  } catch (const dnnl::error& error) {
    return {nullptr, error.what()};
  }
  return {std::move(engine), ""};
}

std::string Version() {
  const dnnl_version_t* v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch) + " (" + v->hash + ")";
}

}  // namespace

extern const Peer kPeerOneDnn;
extern const Peer kPeerOneDnnFloat;
const Peer kPeerOneDnn = {
    "onednn", &Version, &MakeAny<OneDnn>,
    "without VNNI it adds pairs of 8-bit products in 16 bits, which saturate (VPMADDUBSW)"};
const Peer kPeerOneDnnFloat = {"onednn-f32", &Version, &MakeAny<OneDnnFloat>};

}  // namespace intaglio::bench
