#include "intaglio/bench/cuda/product.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "intaglio/kernels/cuda/standard.cuh"

namespace intaglio::bench {
namespace {

// Random bytes on the device.
Buffer RandomBytes(size_t bytes, std::mt19937& random) {
  static const std::vector<uint32_t> block = [] {
    std::mt19937 source(1);
    std::vector<uint32_t> words(1 << 22);
    for (auto& w : words) w = static_cast<uint32_t>(source());
    return words;
  }();
  Buffer buffer(bytes);
  const size_t block_bytes = block.size() * 4;
  for (size_t at = 0; at < bytes;) {
    const size_t from = random() % 4096 * 4;
    const size_t count = std::min(bytes - at, block_bytes - from);
    Require(cudaMemcpy(buffer.as<char>() + at, reinterpret_cast<const char*>(block.data()) + from,
                       count, cudaMemcpyHostToDevice),
            "cudaMemcpy");
    at += count;
  }
  return buffer;
}

template <class T>
const T* Upload(const std::vector<T>& values, std::vector<Buffer>& buffers) {
  const size_t bytes = values.size() * sizeof(T);
  buffers.emplace_back(bytes);
  Require(cudaMemcpy(buffers.back().as<>(), values.data(), bytes, cudaMemcpyHostToDevice),
          "cudaMemcpy");
  return buffers.back().as<const T>();
}

template <class T>
std::vector<T> Take(const Buffer& buffer, size_t count) {
  std::vector<T> values(count);
  Require(cudaMemcpy(values.data(), buffer.as<>(), count * sizeof(T), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
  Require(cudaMemset(buffer.as<>(), 0xa5, count * sizeof(T)), "cudaMemset");
  return values;
}

size_t L2Bytes() {
  int device = 0;
  int bytes = 0;
  Require(cudaGetDevice(&device), "cudaGetDevice");
  Require(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "attribute");
  return static_cast<size_t>(bytes);
}

}  // namespace

void Require(const Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "bench_cuda: %s: %s\n", what, status.message().c_str());
  std::exit(1);
}

Product::Product(cuda::Stream& stream, const Case& c) : stream_(stream), case_(c) {
  MakePipeline();
  const auto rows = static_cast<size_t>(c.rows);
  const auto channels = static_cast<size_t>(c.channels);
  const auto depth = static_cast<size_t>(c.depth);
  const size_t bytes = rows * depth + channels * depth + rows * channels;
  const size_t sets = std::clamp<size_t>(2 * L2Bytes() / bytes + 1, 2, 32);
  for (size_t i = 0; i < sets; ++i) MakeSet();
}

void Product::MakePipeline() {
  std::mt19937 random(2);
  const auto n = static_cast<size_t>(case_.channels);
  // Sums of products of random bytes are about 5461 sqrt(depth).
  const int exponent = -7 - static_cast<int>(std::log2(case_.depth) / 2);
  scale_ = std::ldexp(1.0f, exponent);
  std::vector<int32_t> bias(n), mantissa(n), exponents(n, exponent);
  for (size_t i = 0; i < n; ++i) {
    bias[i] = static_cast<int32_t>(random() % 20001) - 10000;
    mantissa[i] = static_cast<int32_t>(random() >> 2 | 1u << 30);
    channel_scales_.push_back(std::ldexp(static_cast<float>(mantissa[i]), exponent - 31));
  }
  for (int i = 0; i < case_.rows; ++i) {
    row_scales_.push_back(0.5f + static_cast<float>(random() % 1024) / 1024);
  }
  standard_.bias = Upload(bias, numbers_);
  standard_.scaling = Scaling::kDoubleRounding;
  standard_.per_channel = true;
  standard_.mantissa = Upload(mantissa, numbers_);
  standard_.exponent = Upload(exponents, numbers_);
  standard_.zero_point = -3;
  standard_.output = Type::kInt8;
  (void)Upload(row_scales_, numbers_);
  (void)Upload(channel_scales_, numbers_);
}

PeerProblem Product::peer_problem() const {
  const size_t count = numbers_.size();
  return {case_.rows,
          case_.channels,
          case_.depth,
          scale_,
          numbers_[count - 2].as<const float>(),
          numbers_[count - 1].as<const float>()};
}

void Product::MakeSet() {
  const auto rows = static_cast<size_t>(case_.rows);
  const auto channels = static_cast<size_t>(case_.channels);
  const auto depth = static_cast<size_t>(case_.depth);
  Buffer weights = RandomBytes(channels * depth, random_);
  auto packed = cuda::PackedMatrix::Pack(
      stream_, Side::kRhs,
      MakeConstMatrix(weights.as<const int8_t>(), case_.depth, case_.channels, Order::kColMajor));
  Require(packed.status(), "Pack");
  auto bound = cuda::BoundPipeline::Bind(stream_, *packed, standard_, Type::kInt8, 0);
  Require(bound.status(), "Bind");
  sets_.push_back({RandomBytes(rows * depth, random_), std::move(weights), Buffer(results()),
                   Buffer(results() * 4), *packed, *bound});
}

ConstMatrix Product::Rows(const Set& s) const {
  return MakeConstMatrix(s.rows.as<const int8_t>(), case_.rows, case_.depth);
}

MutableMatrix Product::Int8(const Set& s) const {
  return MakeMatrix(s.int8.as<int8_t>(), case_.rows, case_.channels);
}

bool Product::Fused(int i) const {
  const Set& s = SetOf(i);
  return Gemm(stream_, Rows(s), s.packed, Int8(s), s.bound).ok();
}

bool Product::Raw(int i) const {
  const Set& s = SetOf(i);
  const MutableMatrix dst = MakeMatrix(s.int32.as<int32_t>(), case_.rows, case_.channels);
  return Gemm(stream_, Rows(s), s.packed, dst, StandardPipeline{}).ok();
}

bool Product::Requantize(int i) const {
  if (case_.channels % 4 != 0) return false;  // the kernel loads 4 at once
  const Set& s = SetOf(i);
  cuda::DeviceProduct p;
  p.row_count = case_.rows;
  p.channel_count = case_.channels;
  p.depth = case_.depth;
  p.params = s.bound.storage()->params.get();
  p.dst = s.int8.as<>();
  p.dst_row_stride = case_.channels;
  p.dst_channel_stride = 1;
  p.wide_stores = case_.channels % 16 == 0;
  const cuda::Partials from{s.int32.as<int32_t>(), 1, case_.channels, 0};
  const cuda::StandardFinish finish{{Type::kInt8, -3, -128, 127}};
  return cuda::FinishStandard(p, from, finish, stream_.get()) == cudaSuccess;
}

bool Product::RunPeer(const Peer& peer, int i) const {
  const Set& s = SetOf(i);
  void* dst = peer.epilogue() == Epilogue::kInt32 ? s.int32.as<>() : s.int8.as<>();
  return peer.Run(s.rows.as<int8_t>(), s.weights.as<int8_t>(), dst, stream_.get());
}

bool Product::Clear() const {
  return cudaMemsetAsync(sets_[0].int32.as<>(), 0, 4, stream_.get()) == cudaSuccess;
}

std::vector<int8_t> Product::TakeInt8() { return Take<int8_t>(sets_[0].int8, results()); }
std::vector<int32_t> Product::TakeInt32() { return Take<int32_t>(sets_[0].int32, results()); }

bool Product::IsScaled(const std::vector<int32_t>& sums, const std::vector<int8_t>& results,
                       Epilogue epilogue) const {
  const bool one = epilogue == Epilogue::kOneScale;
  const size_t channels = channel_scales_.size();
  for (size_t row = 0; row < row_scales_.size(); ++row) {
    for (size_t channel = 0; channel < channels; ++channel) {
      const float scale = one ? scale_ : row_scales_[row] * channel_scales_[channel];
      const size_t at = row * channels + channel;
      const float want = std::clamp(static_cast<float>(sums[at]) * scale, -128.0f, 127.0f);
      if (std::abs(want - static_cast<float>(results[at])) > 1) return false;
    }
  }
  return true;
}

std::string Product::Description() const {
  const Set& s = sets_[0];
  const auto how = DescribeGemm(stream_, Rows(s), s.packed, Int8(s), standard_);
  return how.ok() ? *how : how.status().message();
}

}  // namespace intaglio::bench
