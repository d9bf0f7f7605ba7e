// oneDNN 2.x and 3.x. FULLY_CONNECTED is an inner product; all else is a convolution.
#include "intaglio/nn/ops/linear/onednn.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>

#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/routine/packed_once.h"

namespace intaglio::nn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Dims = memory::dims;

memory::desc Floats(const Dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

bool IsProduct(const ConvShape& shape) {
  return shape.pointwise && shape.view.height == 1 && shape.view.width == 1;
}

// What a layer is to oneDNN, whose dimensions are in the order of NCHW however they lie.
struct Description {
  memory::desc x;
  memory::desc weights;  // as they lie
  memory::desc packed;   // as oneDNN likes
  memory::desc y;
};

Description DescribeLayer(const ConvShape& shape) {
  const Im2col& v = shape.view;
  if (IsProduct(shape)) {
    const Dims weights = {shape.outputs, v.channels};
    return {Floats({v.batch, v.channels}, Tag::ab), Floats(weights, Tag::ab),
            Floats(weights, Tag::any), Floats({v.batch, shape.outputs}, Tag::ab)};
  }
  const Dims weights = {shape.outputs, v.channels, v.kernel_height, v.kernel_width};
  return {Floats({v.batch, v.channels, v.height, v.width}, Tag::acdb), Floats(weights, Tag::acdb),
          Floats(weights, Tag::any),
          Floats({v.batch, shape.outputs, v.out_height, v.out_width}, Tag::acdb)};
}

// How many rows below the image a filter reaches, or columns beside it.
int PaddingBehind(int out, int stride, int kernel, int dilation, int side, int before) {
  return (out - 1) * stride + (kernel - 1) * dilation + 1 - side - before;
}

void SetBounds(dnnl::primitive_attr& attributes, const Bounds<float>& bounds) {
  using Limits = std::numeric_limits<float>;
  if (bounds.low == Limits::lowest() && bounds.high == Limits::max()) return;
  dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
  after.append_eltwise(dnnl::algorithm::eltwise_clip, bounds.low, bounds.high);
#else
  after.append_eltwise(1, dnnl::algorithm::eltwise_clip, bounds.low, bounds.high);
#endif
  attributes.set_post_ops(after);
}

template <class Primitive, class... Arguments>
typename Primitive::primitive_desc Describe(const dnnl::engine& engine,
                                            const dnnl::primitive_attr& attributes,
                                            const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, dnnl::prop_kind::forward_inference, arguments..., attributes};
#else
  return {typename Primitive::desc(dnnl::prop_kind::forward_inference, arguments...), attributes,
          engine};
#endif
}

// A primitive with its weights in the layout that it asks for.
struct Made {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::primitive primitive;
  Description description;
  memory::desc scratch;
  memory weights;
  memory bias;

  template <class PrimitiveDesc>
  void Make(const PrimitiveDesc& desc, const void* plain_weights,
            const std::vector<float>& floats) {
    primitive = dnnl::primitive(desc);
    scratch = desc.scratchpad_desc();
    weights = memory(desc.weights_desc(), engine);
    // oneDNN only reads it.
    memory plain(description.weights, engine, const_cast<void*>(plain_weights));
    dnnl::stream stream(engine);
    dnnl::reorder(plain, weights).execute(stream, plain, weights);
    stream.wait();
    bias = memory(desc.bias_desc(), engine);
    std::memcpy(bias.get_data_handle(), floats.data(), floats.size() * sizeof(float));
  }
};

std::shared_ptr<const Made> MakePrimitive(const ConvShape& shape, const FloatFinish& finish,
                                          const void* weights) {
  auto made = std::make_shared<Made>();
  made->description = DescribeLayer(shape);
  const Description& d = made->description;
  dnnl::primitive_attr attributes;
  // Whatever ONEDNN_DEFAULT_FPMATH_MODE says.
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  SetBounds(attributes, finish.bounds);
  const Im2col& v = shape.view;
  const memory::desc bias = Floats({shape.outputs}, Tag::a);
  if (IsProduct(shape)) {
    made->Make(
        Describe<dnnl::inner_product_forward>(made->engine, attributes, d.x, d.packed, bias, d.y),
        weights, finish.bias);
    return made;
  }
  const Dims strides = {v.stride_height, v.stride_width};
  const Dims gaps = {v.dilation_height - 1, v.dilation_width - 1};
  const Dims before = {v.pad_top, v.pad_left};
  const Dims behind = {PaddingBehind(v.out_height, v.stride_height, v.kernel_height,
                                     v.dilation_height, v.height, v.pad_top),
                       PaddingBehind(v.out_width, v.stride_width, v.kernel_width, v.dilation_width,
                                     v.width, v.pad_left)};
  // Not Winograd, whose results are further from the sums.
  made->Make(Describe<dnnl::convolution_forward>(made->engine, attributes,
                                                 dnnl::algorithm::convolution_direct, d.x, d.packed,
                                                 bias, d.y, strides, gaps, before, behind),
             weights, finish.bias);
  return made;
}

Status StatusOf(const dnnl::error& error) {
  const std::string what = std::string("oneDNN: ").append(error.what());
  return error.status == dnnl_out_of_memory ? OutOfMemory(what) : Unsupported(what);
}

class OneDnnRoutine final : public Routine {
 public:
  explicit OneDnnRoutine(std::shared_ptr<const Made> made) : made_(std::move(made)) {}

  Status Run(const RunArguments& arguments) const override try {
    const Description& d = made_->description;
    // oneDNN only reads x.
    auto* const x = const_cast<void*>(arguments.inputs[0]);
    dnnl::stream stream(made_->engine);
    made_->primitive.execute(
        stream, {{DNNL_ARG_SRC, memory(d.x, made_->engine, x)},
                 {DNNL_ARG_WEIGHTS, made_->weights},
                 {DNNL_ARG_BIAS, made_->bias},
                 {DNNL_ARG_DST, memory(d.y, made_->engine, arguments.outputs[0])},
                 {DNNL_ARG_SCRATCHPAD, memory(made_->scratch, made_->engine, arguments.scratch)}});
    stream.wait();
    return {};
  } catch (const dnnl::error& error) {
    return StatusOf(error);
  }

 private:
  std::shared_ptr<const Made> made_;
};

}  // namespace

const char* WhyNotOneDnn(const ConvShape& shape) {
  if (shape.groups != 1) return "it has groups";
  if (shape.rows() == 0 || shape.outputs == 0 || shape.depth() == 0) return "it is empty";
  return nullptr;
}

int64_t BoundOneDnn(const LayerView& layer, const LayerOptions&) {
  constexpr int64_t kBlock = 64;  // of either kind of channel, at most
  const Shape& shape = layer.input(1).shape;
  const auto blocks = [](int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; };
  if (shape.empty()) return 0;
  int64_t bytes = MultiplySaturated(blocks(shape.front()), blocks(shape.back()));
  for (size_t i = 1; i + 1 < shape.size(); ++i) bytes = MultiplySaturated(bytes, shape[i]);
  return MultiplySaturated(bytes, sizeof(float));
}

Result<PreparedLayer> PrepareOneDnn(const LayerView& layer, const LayerOptions&,
                                    const ConvShape& shape) try {
  Result<FloatFinish> finish = CheckFloatLayer(layer, shape.activation, shape.outputs);
  if (!finish.ok()) return finish.status();
  const auto made = MakePrimitive(shape, *finish, layer.input(1).data);
  PreparedLayer prepared;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = made->weights.get_desc().get_size();
  prepared.macs = CountMacs({shape.rows(), shape.outputs}, shape.depth());
  prepared.scratch_bytes = made->scratch.get_size();
  prepared.routine = std::make_shared<OneDnnRoutine>(made);
  return prepared;
} catch (const dnnl::error& error) {
  return layer.Wrap(StatusOf(error));
}

}  // namespace intaglio::nn
