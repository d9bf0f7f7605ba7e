// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D of float32.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>

#include "intaglio/nn/ops/binary.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/parallel.h"
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
    const int height = window_.y.out;
    const ptrdiff_t bytes = window_.x.out * arguments.output_stride;  // of a line
    ForParts(arguments.context, ptrdiff_t{batch_} * height,
             kLeastBytesOfThread / std::max<ptrdiff_t>(1, bytes) + 1,
             [&](ptrdiff_t begin, ptrdiff_t end) {
               for (ptrdiff_t line = begin; line < end; ++line) PoolLine(arguments, line);
             });
    return {};
  }

 private:
  // Of channels that are pooled at once, in registers.
  static constexpr int kBlock = 32;

  void PoolLine(const RunArguments& arguments, ptrdiff_t line) const {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    const auto* image =
        static_cast<const float*>(arguments.inputs[0]) + line / y.out * y.in * x.in * channels_;
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    float* out = static_cast<float*>(arguments.outputs[0]) + line * x.out * stride;
    const Taps rows(y, static_cast<int>(line % y.out));
    for (int out_x = 0; out_x < x.out; ++out_x, out += stride) {
      PoolWindow(image, rows, Taps(x, out_x), out);
    }
  }

  void PoolWindow(const float* image, const Taps& rows, const Taps& cols, float* out) const {
    const float* first = image + (ptrdiff_t{rows.begin} * window_.x.in + cols.begin) * channels_;
    int c = 0;
    for (; c + kBlock <= channels_; c += kBlock) {
      PoolBlock(first + c, rows, cols, std::integral_constant<int, kBlock>(), out + c);
    }
    if (c < channels_) PoolBlock(first + c, rows, cols, channels_ - c, out + c);
  }

  // `count` channels, of which the compiler makes vectors where it knows how many they are.
  template <class Count>
  void PoolBlock(const float* row, const Taps& rows, const Taps& cols, Count count,
                 float* out) const {
    float all[kBlock];
    std::fill_n(all, kBlock, Function::Start());
    for (int y = rows.begin; y < rows.end; ++y, row += ptrdiff_t{window_.x.in} * channels_) {
      const float* pixel = row;
      for (int x = cols.begin; x < cols.end; ++x, pixel += channels_) {
        for (int c = 0; c < count; ++c) all[c] = Function::Take(all[c], pixel[c]);
      }
    }
    const auto taps = static_cast<float>(rows.count() * cols.count());
    for (int c = 0; c < count; ++c) out[c] = bounds_(Function::Finish(all[c], taps));
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
