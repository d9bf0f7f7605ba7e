// A product on the host and the same in device memory.
#ifndef INTAGLIO_TEST_CUDA_DEVICE_PROBLEM_H_
#define INTAGLIO_TEST_CUDA_DEVICE_PROBLEM_H_

#include <memory>
#include <string>
#include <vector>

#include "intaglio/pack/validate.h"
#include "intaglio/test/cuda/verify.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {

// An array in device memory, aligned no better than it must be.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& host)
      : memory_(host.size() * sizeof(T) + 1, sizeof(T)) {
    memory_.Upload(host.data(), host.size() * sizeof(T));
  }
  const T* data() const { return reinterpret_cast<const T*>(memory_.data()); }

 private:
  DeviceMemory memory_;
};

// Shapes that hurt: around tile sizes, and single rows and columns.
inline int RandomExtent(Random& random, int most) {
  static const std::vector<int> kEdges = {1,  2,  3,  4,   5,   8,   15,  16,  17,  31,  32, 33,
                                          63, 64, 65, 127, 128, 129, 191, 255, 256, 257, 300};
  const int extent = random() % 3 == 0 ? Uniform(random, 1, most) : OneOf(random, kEdges);
  return std::min(extent, most);
}

struct DeviceProblem {
  int m, n, k;
  Order lhs_order, rhs_order, dst_order;
  std::unique_ptr<TestMatrix> lhs, rhs;
  std::unique_ptr<DeviceMemory> device_lhs, device_rhs, device_dst;
  std::unique_ptr<TestResult> result;
  ConstMatrix lhs_view, rhs_view;  // on the device
  MutableMatrix dst_view;

  // `max_rows` of the canonical form, 0 for any number.
  DeviceProblem(Random& random, int max_rows, Type output) {
    m = RandomExtent(random, max_rows > 0 ? max_rows : 400);
    n = RandomExtent(random, 400);
    k = random() % 8 == 0 ? Uniform(random, 400, 5000) : RandomExtent(random, 700);
    // Mostly what kernels read in place.
    lhs_order = random() % 4 == 0 ? Order::kColMajor : Order::kRowMajor;
    rhs_order = random() % 2 == 0 ? Order::kColMajor : Order::kRowMajor;
    // The canonical form of a column-major result has other rows.
    dst_order = max_rows == 0 && random() % 3 == 0 ? Order::kColMajor : Order::kRowMajor;
    const Type lhs_type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    const Type rhs_type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    const Values values = random() % 3 == 0 ? Values::kExtremes : Values::kUniform;
    const int lhs_line = lhs_order == Order::kRowMajor ? k : m;
    const int extra = random() % 3 == 0 ? Uniform(random, 0, 40) : (16 - lhs_line % 16) % 16;
    lhs = std::make_unique<TestMatrix>(random, lhs_type, m, k, lhs_order, extra,
                                       RandomZeroPoint(random, lhs_type), values);
    rhs = std::make_unique<TestMatrix>(random, rhs_type, k, n, rhs_order, Uniform(random, 0, 5),
                                       RandomZeroPoint(random, rhs_type), values);
    const int padding = random() % 2 == 0 ? Uniform(random, 0, 20) : (16 - n % 16) % 16;
    result = std::make_unique<TestResult>(output, m, n, dst_order, padding);
    device_lhs = Copy(lhs->view(), random() % 3 == 0 ? Random16(random) : 0);
    device_rhs = Copy(rhs->view(), Random16(random));
    lhs_view = lhs->view();
    lhs_view.data = device_lhs->data();
    rhs_view = rhs->view();
    rhs_view.data = device_rhs->data();
    dst_view = result->view();
    const size_t shift = random() % 3 == 0 ? 4 * (random() % 4) : 0;
    device_dst = std::make_unique<DeviceMemory>(DstBytes(), shift);
    dst_view.data = device_dst->data();
  }

  // Compares with what is wanted, which lies in result->want().
  std::string Compare() {
    const std::string error = device_dst->Download(result->view().data, DstBytes());
    if (!error.empty()) return Text() + ": " + error;
    return result->Same() ? "" : Text() + ": " + result->Difference();
  }
  // Forgets the result.
  void Clear() {
    const std::vector<uint8_t> unwritten(DstBytes(), 0xa5);
    device_dst->Upload(unwritten.data(), unwritten.size());
  }
  MutableMatrix want() {
    MutableMatrix view = result->view();
    view.data = result->want();
    return view;
  }
  std::string Text() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) + " " +
           NameOf(lhs_view.type) + " x " + NameOf(rhs_view.type) + " to " + NameOf(dst_view.type);
  }

 private:
  static size_t Random16(Random& random) { return random() % 17; }
  size_t DstBytes() const { return SpanBytes(dst_view); }
  static std::unique_ptr<DeviceMemory> Copy(const ConstMatrix& m, size_t shift) {
    auto memory = std::make_unique<DeviceMemory>(SpanBytes(m), shift);
    memory->Upload(m.data, SpanBytes(m));
    return memory;
  }
};

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_CUDA_DEVICE_PROBLEM_H_
