#include <cuda_runtime_api.h>

#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/test/cuda/device_problem.h"

namespace intaglio::test {

Tally VerifyContracts(cuda::Stream& stream) {
  Tally tally;
  Random random(3);
  Context context(4);
  DeviceProblem p(random, 0, Type::kInt32);
  // A product in a graph: nothing in it waits or allocates.
  const Status reference =
      Gemm(context, p.lhs->view(), p.rhs->view(), p.want(), StandardPipeline{});
  tally.Count(reference.ok() ? "" : reference.message());
  cudaStream_t captured = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  tally.Count(cudaStreamCreate(&captured) == cudaSuccess ? "" : "cudaStreamCreate");
  auto wrapped = cuda::Stream::Wrap(captured);
  tally.Count(wrapped.ok() ? "" : wrapped.status().message());
  if (!wrapped.ok()) return tally;
  const auto bytes =
      cuda::WorkspaceBytes(*wrapped, p.lhs_view, p.rhs_view, p.dst_view, StandardPipeline{});
  tally.Count(bytes.ok() ? "" : bytes.status().message());
  if (!bytes.ok()) return tally;
  const Status small = Gemm(*wrapped, p.lhs_view, p.rhs_view, p.dst_view, StandardPipeline{});
  tally.Count(small.code() == StatusCode::kOutOfMemory ? "" : "no workspace was enough");
  const Status reserved = wrapped->Reserve(*bytes);
  tally.Count(reserved.ok() ? "" : reserved.message());
  // The first call loads the kernels' code, which a graph cannot hold.
  const Status first = Gemm(*wrapped, p.lhs_view, p.rhs_view, p.dst_view, StandardPipeline{});
  tally.Count(first.ok() ? "" : first.message());
  tally.Count(p.Compare());
  p.Clear();
  tally.Count(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal) == cudaSuccess
                  ? ""
                  : "cudaStreamBeginCapture");
  const Status status = Gemm(*wrapped, p.lhs_view, p.rhs_view, p.dst_view, StandardPipeline{});
  tally.Count(status.ok() ? "" : status.message());
  tally.Count(cudaStreamEndCapture(captured, &graph) == cudaSuccess ? "" : "capturing a product");
  tally.Count(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess ? "" : "instantiating");
  tally.Count(cudaGraphLaunch(executable, captured) == cudaSuccess ? "" : "launching a graph");
  tally.Count(p.Compare());
  // The caller's own workspace.
  DeviceMemory own(*bytes);
  const Status shifted = wrapped->UseWorkspace(own.data() + 16, *bytes);
  tally.Count(shifted.code() == StatusCode::kInvalidArgument ? "" : "a workspace at 16 bytes");
  const Status taken = wrapped->UseWorkspace(own.data(), *bytes);
  tally.Count(taken.ok() ? "" : taken.message());
  p.Clear();
  const Status with_own = Gemm(*wrapped, p.lhs_view, p.rhs_view, p.dst_view, StandardPipeline{});
  tally.Count(with_own.ok() ? "" : with_own.message());
  tally.Count(p.Compare());
  tally.Count(own.Download(nullptr, 0));
  // Out of memory is a status, and the device goes on.
  const Status huge = wrapped->Reserve(size_t{1} << 46);
  tally.Count(huge.code() == StatusCode::kOutOfMemory ? "" : "64 TiB were allocated");
  tally.Count(cudaGetLastError() == cudaSuccess ? "" : "an error was left behind");
  p.Clear();
  const Status after = Gemm(stream, p.lhs_view, p.rhs_view, p.dst_view, StandardPipeline{});
  tally.Count(after.ok() ? "" : after.message());
  tally.Count(p.Compare());
  (void)cudaGraphExecDestroy(executable);
  (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(captured);
  return tally;
}

}  // namespace intaglio::test
