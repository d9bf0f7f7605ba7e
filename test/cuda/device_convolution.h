// A convolution on the host and the same in device memory.
#ifndef INTAGLIO_TEST_CUDA_DEVICE_CONVOLUTION_H_
#define INTAGLIO_TEST_CUDA_DEVICE_CONVOLUTION_H_

#include <memory>
#include <string>

#include "intaglio/pack/validate.h"
#include "intaglio/test/cuda/verify.h"
#include "intaglio/test/gemm/image.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {

struct DeviceConvolution {
  std::unique_ptr<TestImage> image;
  std::unique_ptr<TestMatrix> weights;
  std::unique_ptr<TestResult> result;
  std::unique_ptr<DeviceMemory> device_image, device_weights, device_dst;
  int filters;
  Im2col host_view, view;    // the latter on the device
  ConstMatrix weights_view;  // on the device
  MutableMatrix dst_view;

  // Of whole chunks (kernels/cuda/image_lines.h), or of any channels; results are int8.
  DeviceConvolution(Random& random, bool whole) {
    const int channels = whole ? 16 * Uniform(random, 1, 6) : Uniform(random, 1, 40);
    const Type type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    image = std::make_unique<TestImage>(random, type, Uniform(random, 1, 3), Uniform(random, 1, 14),
                                        Uniform(random, 1, 14), channels,
                                        RandomZeroPoint(random, type));
    if (random() % 4 != 0) image->RandomWindow(random);
    if (random() % 3 == 0 && channels >= 32) image->Group(16, channels - 16);
    host_view = image->view();
    filters = Uniform(random, 1, 100);
    const int32_t zero_point = random() % 2 == 0 ? 0 : RandomZeroPoint(random, Type::kInt8);
    weights = std::make_unique<TestMatrix>(random, Type::kInt8, Cols(host_view), filters,
                                           Order::kColMajor, 0, zero_point);
    result =
        std::make_unique<TestResult>(Type::kInt8, Rows(host_view), filters, Order::kRowMajor, 0);
    const auto bytes = static_cast<size_t>(host_view.batch * host_view.height * host_view.width *
                                           host_view.channels);
    device_image = std::make_unique<DeviceMemory>(bytes, whole || random() % 2 == 0 ? 0 : 3);
    device_image->Upload(host_view.data, bytes);
    weights_view = weights->view();
    device_weights = std::make_unique<DeviceMemory>(SpanBytes(weights_view));
    device_weights->Upload(weights_view.data, SpanBytes(weights_view));
    device_dst = std::make_unique<DeviceMemory>(SpanBytes(result->view()));
    view = host_view;
    view.data = device_image->data();
    weights_view.data = device_weights->data();
    dst_view = result->view();
    dst_view.data = device_dst->data();
  }

  int rows() const { return Rows(host_view); }
  int depth() const { return Cols(host_view); }
  MutableMatrix want() {
    MutableMatrix v = result->view();
    v.data = result->want();
    return v;
  }
  // Compares with what is wanted, which lies in result->want().
  std::string Compare() {
    const std::string error = device_dst->Download(result->view().data, SpanBytes(result->view()));
    if (!error.empty()) return error;
    return result->Same() ? "" : "a convolution: " + result->Difference();
  }
};

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_CUDA_DEVICE_CONVOLUTION_H_
