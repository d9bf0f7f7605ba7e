// Convolution inputs to test, and the naive readings of them.
#ifndef INTAGLIO_TEST_GEMM_IMAGE_H_
#define INTAGLIO_TEST_GEMM_IMAGE_H_

#include <cstring>
#include <string>
#include <vector>

#include "intaglio/pack/im2col.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {

class TestImage {
 public:
  TestImage(Random& random, Type type, int batch, int height, int width, int channels,
            int32_t zero_point, Values values = Values::kUniform) {
    view_.type = type;
    view_.zero_point = zero_point;
    view_.batch = batch;
    view_.height = height;
    view_.width = width;
    view_.channels = channels;
    view_.group_channels = channels;
    view_.out_height = height;
    view_.out_width = width;
    bytes_.resize(static_cast<size_t>(batch * height * width * channels));
    for (uint8_t& b : bytes_) b = RandomByte(random, type, values);
  }

  // A window of random size over it, with padding on all sides.
  TestImage& RandomWindow(Random& random) {
    Im2col& v = view_;
    v.kernel_height = Uniform(random, 1, 4);
    v.kernel_width = Uniform(random, 1, 4);
    v.stride_height = Uniform(random, 1, 3);
    v.stride_width = Uniform(random, 1, 3);
    v.dilation_height = Uniform(random, 1, 3);
    v.dilation_width = Uniform(random, 1, 3);
    v.pad_top = Uniform(random, 0, 4);
    v.pad_left = Uniform(random, 0, 4);
    // As many outputs as the image gives, and some that lie in the padding altogether.
    v.out_height = v.height / v.stride_height + Uniform(random, 1, 3);
    v.out_width = v.width / v.stride_width + Uniform(random, 1, 3);
    return *this;
  }
  TestImage& Group(int first, int count) {
    view_.first_channel = first;
    view_.group_channels = count;
    return *this;
  }

  // Other elements: as many as the image has.
  void Fill(const void* elements) { std::memcpy(bytes_.data(), elements, bytes_.size()); }

  Im2col& view() {
    view_.data = bytes_.data();
    return view_;
  }

  // Element of the image, or the zero point outside.
  int Quantized(int b, int y, int x, int c) const {
    const Im2col& v = view_;
    if (y < 0 || y >= v.height || x < 0 || x >= v.width) return v.zero_point;
    const uint8_t byte =
        bytes_[static_cast<size_t>(((b * v.height + y) * v.width + x) * v.channels + c)];
    return v.type == Type::kInt8 ? static_cast<int8_t>(byte) : byte;
  }
  // Element (row, col) of the im2col matrix.
  int Quantized(int row, int col) const {
    const Im2col& v = view_;
    const int b = row / (v.out_height * v.out_width);
    const int oy = row / v.out_width % v.out_height;
    const int ox = row % v.out_width;
    const int c = col % v.group_channels;
    const int kx = col / v.group_channels % v.kernel_width;
    const int ky = col / v.group_channels / v.kernel_width;
    return Quantized(b, oy * v.stride_height - v.pad_top + ky * v.dilation_height,
                     ox * v.stride_width - v.pad_left + kx * v.dilation_width, v.first_channel + c);
  }

  Integers ToIntegers() const {
    Integers all = MakeIntegers(view_.batch * view_.out_height * view_.out_width,
                                view_.kernel_height * view_.kernel_width * view_.group_channels);
    for (int r = 0; r < all.rows; ++r) {
      for (int c = 0; c < all.cols; ++c) {
        all.At(r, c) = static_cast<int16_t>(Quantized(r, c) - view_.zero_point);
      }
    }
    return all;
  }

  std::string Text() const {
    const Im2col& v = view_;
    const auto pair = [](int a, int b) { return std::to_string(a) + "," + std::to_string(b); };
    return std::string(NameOf(v.type)) + " " + std::to_string(v.batch) + " x " +
           pair(v.height, v.width) + " x " + std::to_string(v.channels) + ", kernel " +
           pair(v.kernel_height, v.kernel_width) + ", stride " +
           pair(v.stride_height, v.stride_width) + ", dilation " +
           pair(v.dilation_height, v.dilation_width) + ", pad " + pair(v.pad_top, v.pad_left) +
           ", out " + pair(v.out_height, v.out_width) + ", group " +
           pair(v.first_channel, v.group_channels);
  }

 private:
  Im2col view_;
  std::vector<uint8_t> bytes_;
};

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_GEMM_IMAGE_H_
