#include <cstring>
#include <string>

#include "intaglio/gemm/cuda/jobs.h"
#include "intaglio/test/cuda/verify.h"
#include "intaglio/test/kernels/cuda_jobs.h"

namespace intaglio::test {
namespace {

// A host vector on the device.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : memory_(values.size() * sizeof(T)) {
    memory_.Upload(values.data(), values.size() * sizeof(T));
  }
  const T* data() const { return reinterpret_cast<const T*>(memory_.data()); }

 private:
  DeviceMemory memory_;
};

template <class Job>
std::string Compare(const cuda::Stream& stream, const Job& job, const DeviceMemory& out,
                    const Bytes& want) {
  const Status status = cuda::Enqueue(stream, job);
  if (!status.ok()) return status.message();
  Bytes got(want.size());
  const std::string error = out.Download(got.data(), got.size());
  if (!error.empty()) return error;
  return got == want ? "" : "differs";
}

// A job with one input.
template <class Case, class Job>
std::string CheckUnary(const cuda::Stream& stream, Random& random, const Job&) {
  Case c(random);
  const OnDevice<uint8_t> in(c.in);
  const DeviceMemory out(c.want.size(), random() % 4);
  Job job = c.job;
  job.in = in.data();
  job.out = reinterpret_cast<uint8_t*>(out.data());
  return Compare(stream, job, out, c.want);
}

std::string CheckAdd(const cuda::Stream& stream, Random& random) {
  AddCase c(random);
  const OnDevice<uint8_t> a(c.a);
  const OnDevice<uint8_t> b(c.b);
  const DeviceMemory out(c.want.size(), random() % 4);
  c.job.a = a.data();
  c.job.b = b.data();
  c.job.out = reinterpret_cast<uint8_t*>(out.data());
  return Compare(stream, c.job, out, c.want);
}

Bytes BytesOf(TestImage& image) {
  const Im2col& v = image.view();
  const auto* data = static_cast<const uint8_t*>(v.data);
  return {data, data + static_cast<ptrdiff_t>(v.batch) * v.height * v.width * v.channels};
}

std::string CheckPool(const cuda::Stream& stream, Random& random) {
  PoolCase c(random);
  const OnDevice<uint8_t> image(BytesOf(c.image));
  const DeviceMemory out(c.want.size());
  c.job.image.data = image.data();
  c.job.out = reinterpret_cast<uint8_t*>(out.data());
  return Compare(stream, c.job, out, c.want);
}

std::string CheckDepthwise(const cuda::Stream& stream, Random& random) {
  DepthwiseCase c(random);
  const OnDevice<uint8_t> image(BytesOf(c.image));
  const OnDevice<uint8_t> filters(c.filters);
  const OnDevice<PanelParams> params(c.params);
  const DeviceMemory out(c.want.size());
  c.job.p.image.data = image.data();
  c.job.p.params = params.data();
  c.job.p.dst = out.data();
  c.job.filters = filters.data();
  return Compare(stream, c.job, out, c.want);
}

}  // namespace

Tally VerifyJobs(const cuda::Stream& stream, int cases) {
  Tally tally{"other operators"};
  Random random(6);
  for (int i = 0; i < cases; ++i) {
    tally.Count(CheckAdd(stream, random));
    tally.Count(CheckUnary<TableCase>(stream, random, cuda::TableJob{}));
    tally.Count(CheckUnary<PadCase>(stream, random, cuda::PadJob{}));
    tally.Count(CheckUnary<MeanCase>(stream, random, cuda::MeanJob{}));
    tally.Count(CheckPool(stream, random));
    tally.Count(CheckDepthwise(stream, random));
  }
  return tally;
}

}  // namespace intaglio::test
