// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D of float32.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

#include "intaglio/nn/ops/binary.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/pool_2d.h"

namespace intaglio::nn {
namespace {

struct Average {
  static float Start() { return 0; }
  static float Take(float sum, float x) { return sum + x; }
  static float Finish(float sum, float count) { return sum / count; }
};
struct Largest {
  static float Start() { return std::numeric_limits<float>::lowest(); }
  static float Take(float best, float x) { return best < x ? x : best; }
  static float Finish(float best, float) { return best; }
};
struct RootMeanSquare {
  static float Start() { return 0; }
  static float Take(float sum, float x) { return sum + x * x; }
  static float Finish(float sum, float count) { return std::sqrt(sum / count); }
};

template <class Function>
class PoolRoutine final : public Routine {
 public:
  PoolRoutine(const Window& window, int batch, int channels, Activation activation)
      : window_(window), batch_(batch), channels_(channels), bounds_(activation) {}

  Status Run(const RunArguments& arguments) const override {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    const auto* in = static_cast<const float*>(arguments.inputs[0]);
    auto* out = static_cast<float*>(arguments.outputs[0]);
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    for (int n = 0; n < batch_; ++n, in += ptrdiff_t{y.in} * x.in * channels_) {
      for (int out_y = 0; out_y < y.out; ++out_y) {
        for (int out_x = 0; out_x < x.out; ++out_x, out += stride) {
          PoolWindow(in, Taps(y, out_y), Taps(x, out_x), out);
        }
      }
    }
    return {};
  }

 private:
  void PoolWindow(const float* image, const Taps& rows, const Taps& cols, float* out) const {
    std::fill_n(out, channels_, Function::Start());
    for (int y = rows.begin; y < rows.end; ++y) {
      const float* pixel = image + (ptrdiff_t{y} * window_.x.in + cols.begin) * channels_;
      for (int x = cols.begin; x < cols.end; ++x, pixel += channels_) {
        for (int c = 0; c < channels_; ++c) out[c] = Function::Take(out[c], pixel[c]);
      }
    }
    const auto count = static_cast<float>(rows.count() * cols.count());
    for (int c = 0; c < channels_; ++c) out[c] = bounds_(Function::Finish(out[c], count));
  }

  Window window_;
  int batch_;
  int channels_;
  Bounds<float> bounds_;
};

template <class Function>
Result<PreparedLayer> PreparePool(const LayerView& layer, const Window& window,
                                  Activation activation, const char* algorithm) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Shape& shape = layer.input(0).shape;
  PreparedLayer prepared;
  prepared.name = RoutineName(Type::kFloat32, algorithm);
  prepared.strides_output = true;
  prepared.routine =
      std::make_shared<PoolRoutine<Function>>(window, shape[0], shape[3], activation);
  return prepared;
}

}  // namespace

Result<PreparedLayer> PrepareAveragePoolFloat(const LayerView& layer, const Window& window) {
  return PreparePool<Average>(layer, window, layer.op<AveragePool2D>().activation, "average_pool");
}

Result<PreparedLayer> PrepareMaxPoolFloat(const LayerView& layer, const Window& window) {
  return PreparePool<Largest>(layer, window, layer.op<MaxPool2D>().activation, "max_pool");
}

Result<PreparedLayer> PrepareL2PoolFloat(const LayerView& layer, const Window& window) {
  return PreparePool<RootMeanSquare>(layer, window, layer.op<L2Pool2D>().activation, "l2_pool");
}

}  // namespace intaglio::nn
