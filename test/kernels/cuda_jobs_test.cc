// The operators of networks that are no products, as the device computes them, thread by thread.
#include "intaglio/test/kernels/cuda_jobs.h"

#include <gtest/gtest.h>

namespace intaglio::test {
namespace {

constexpr int kCases = 200;
constexpr uint8_t kGuard = 0xa5;

// Runs a job that writes to `out`, and looks at what stands behind its result, too.
template <class Job>
void Check(Job job, uint8_t* Job::*out, const Bytes& want) {
  Bytes got(want.size() + 16, kGuard);
  job.*out = got.data();
  for (long long i = 0; i < job.count(); ++i) job.Run(i);
  Bytes all = want;
  all.resize(got.size(), kGuard);
  ASSERT_EQ(got, all);
}

TEST(CudaJobs, Sums) {
  Random random(1);
  for (int i = 0; i < kCases; ++i) {
    AddCase c(random);
    c.job.a = c.a.data();
    c.job.b = c.b.data();
    ASSERT_NO_FATAL_FAILURE(Check(c.job, &cuda::AddJob::out, c.want)) << i;
  }
}

TEST(CudaJobs, Tables) {
  Random random(2);
  for (int i = 0; i < kCases; ++i) {
    TableCase c(random);
    c.job.in = c.in.data();
    ASSERT_NO_FATAL_FAILURE(Check(c.job, &cuda::TableJob::out, c.want)) << i;
  }
}

TEST(CudaJobs, Padding) {
  Random random(3);
  for (int i = 0; i < kCases; ++i) {
    PadCase c(random);
    c.job.in = c.in.data();
    ASSERT_NO_FATAL_FAILURE(Check(c.job, &cuda::PadJob::out, c.want)) << i;
  }
}

TEST(CudaJobs, Means) {
  Random random(4);
  for (int i = 0; i < kCases; ++i) {
    MeanCase c(random);
    c.job.in = c.in.data();
    ASSERT_NO_FATAL_FAILURE(Check(c.job, &cuda::MeanJob::out, c.want)) << i;
  }
}

TEST(CudaJobs, Pools) {
  Random random(5);
  for (int i = 0; i < kCases; ++i) {
    PoolCase c(random);
    c.job.image = c.image.view();
    ASSERT_NO_FATAL_FAILURE(Check(c.job, &cuda::PoolJob::out, c.want)) << c.image.Text();
  }
}

TEST(CudaJobs, DepthwiseConvolutions) {
  Random random(6);
  for (int i = 0; i < kCases; ++i) {
    DepthwiseCase c(random);
    c.job.p.image = c.image.view();
    c.job.p.params = c.params.data();
    c.job.filters = c.filters.data();
    Bytes got(c.want.size() + 16, kGuard);
    c.job.p.dst = got.data();
    for (long long t = 0; t < c.job.count(); ++t) c.job.Run(t);
    Bytes all = c.want;
    all.resize(got.size(), kGuard);
    ASSERT_EQ(got, all) << c.image.Text() << " times " << c.job.multiplier;
  }
}

}  // namespace
}  // namespace intaglio::test
