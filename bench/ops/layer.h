// A convolution layer with random numbers in it, and its definition.
#ifndef INTAGLIO_BENCH_OPS_LAYER_H_
#define INTAGLIO_BENCH_OPS_LAYER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/bench/harness/aligned.h"
#include "intaglio/pack/im2col.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio::bench {

struct LayerSize {
  int side;  // of the square input
  int in_channels;
  int out_channels;
  int kernel_height;
  int kernel_width;
  int stride;
};

// int8 input (zero point -5, batch 1, padded as TFLite's SAME) and filters, int32 bias, half-even.
class Layer {
 public:
  // `depthwise`: filters are taps x channels; else out_channels x (taps x in_channels).
  Layer(const LayerSize& size, bool depthwise);

  const Im2col& view() const { return view_; }
  const int8_t* filters() const { return filters_.data(); }
  int taps() const { return size_.kernel_height * size_.kernel_width; }
  int out_pixels() const { return view_.out_height * view_.out_width; }
  int out_channels() const { return size_.out_channels; }
  StandardPipeline pipeline() const;
  int8_t* result() { return result_.data(); }
  double read() const { return static_cast<double>(input_.size() + filters_.size()); }
  double written() const { return static_cast<double>(result_.size()); }
  double macs() const;
  std::string name() const;  // "112x112x64 3x3/2 -> 64"

  // "" where a sample of result() is what the definition says.
  std::string Check() const;

 private:
  int8_t Expected(int pixel, int channel) const;

  LayerSize size_;
  bool depthwise_;
  Im2col view_;
  AlignedVector<int8_t> input_;
  AlignedVector<int8_t> filters_;
  AlignedVector<int8_t> result_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
};

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_OPS_LAYER_H_
