#include <algorithm>
#include <cstring>
#include <functional>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/gemm/plan/folded_params.h"
#include "intaglio/gemm/plan/panel_params.h"
#include "intaglio/gemm/run/depthwise_line.h"
#include "intaglio/gemm/run/depthwise_product.h"
#include "intaglio/gemm/run/task_parts.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// The parameters per panel of a pipeline that was not bound before.
void FillParams(const DepthwiseProduct& product, PanelForm* first, size_t each) {
  const Im2col& input = product.input;
  const RowFacts rows{input.zero_point + TapMove(*product.packed.kernel, input.type),
                      LargestDistance(input.type, input.zero_point)};
  const Panels& panels = product.packed.filters.panels;
  FillAllParams(panels, rows, product.standard, first);
  if (product.packed.folded.copies > 1) RepeatChannels(panels, first, each);
}

// Threads that are worth their waking: a multiplication takes some 50 picoseconds, handing work to
// a thread that spins and waiting for it 130 to 430 nanoseconds where the cores share a cache, and
// 1.5 microseconds where they do not (bench_peak: round-of-work).
int MostWorkers(const DepthwiseProduct& product) {
  constexpr int64_t kLeastOfThread = 1 << 14;  // multiplications
  const DepthwiseFilters& filters = product.packed.filters;
  const int64_t taps = int64_t{filters.kernel_height} * filters.kernel_width;
  const int64_t each = taps * filters.panels.channels;
  return static_cast<int>(
      std::clamp<int64_t>(Rows(product.input) * each / kLeastOfThread, 1, 1024));
}

int CountBands(const DepthwiseJob& job) { return (job.input().out_height - 1) / job.lines + 1; }

// Whether pixels that share a panel read taps that do, are enough for one, and finished as kernels
// finish them. params: of the folded panel.
bool Folds(const DepthwiseProduct& product, const PanelForm& params) {
  const Im2col& v = product.input;
  const DepthwiseFilters& folded = product.packed.folded;
  return v.stride_width == 1 && v.dilation_width == 1 && v.out_width >= folded.copies &&
         product.standard != nullptr &&
         AreFolded(params, folded.panels.format.vectors, folded.weights[0].terms,
                   product.standard->output, folded.copies);
}

// Tasks for each image: as few as kMaxBands allows that the threads can share evenly.
int PartsOfImage(const DepthwiseJob& job, int threads) {
  const int bands = CountBands(job);
  const int share = (threads - 1) / job.input().batch + 1;  // threads for each image
  const int least = (bands - 1) / kMaxBands + 1;
  return std::min(((least - 1) / share + 1) * share, bands);
}

Status NoScratch() { return OutOfMemory("no memory for the scratch of a depthwise convolution"); }

}  // namespace

Status ExecuteDepthwise(Context& context, const DepthwiseProduct& product) {
  const Im2col& input = product.input;
  const Panels& panels = product.packed.filters.panels;
  if (Rows(input) == 0 || panels.channels == 0) return {};
  const DefaultFloatEnvironment environment;
  const int threads = std::min(context.threads(), MostWorkers(product));
  const bool bound = product.params != nullptr;
  const bool may_fold = product.packed.folded.copies > 1;
  const size_t panel_count = panels.ranges.size() + (may_fold ? 1 : 0);
  const size_t params_bytes = ParamsBytes(panels.format.width());
  const size_t made_bytes = bound ? 0 : panel_count * params_bytes;
  const size_t outside_bytes = static_cast<size_t>(input.channels) + kMaxPanelWidth;
  auto* shared = static_cast<std::byte*>(context.Scratch(0, made_bytes + outside_bytes));
  if (shared == nullptr) return NoScratch();
  const PanelForm* params = product.params;
  if (!bound) {
    auto* const made = reinterpret_cast<PanelForm*>(shared);
    FillParams(product, made, params_bytes);
    params = made;
  }
  const PanelForm* const last = ParamsAt(params, panel_count - 1, params_bytes);
  const bool folds = may_fold && Folds(product, *last);
  const DepthwiseFilters& filters = folds ? product.packed.folded : product.packed.filters;
  auto* outside = reinterpret_cast<uint8_t*>(shared + made_bytes);
  std::memset(outside, static_cast<uint8_t>(input.zero_point), outside_bytes);

  DepthwiseJob job{product,
                   MakeEpilogue(product.standard),
                   folds ? last : params,
                   outside,
                   0,
                   LinesAtOnce(product, threads),
                   filters};
  job.params_bytes = params_bytes;
  job.slides = Slides(job);
  job.run = PixelsOfRun(job);
  const int each = PartsOfImage(job, threads);
  const int tasks = input.batch * each;
  const int workers = std::min(threads, tasks);
  const size_t scratch_bytes = DepthwiseScratch::Carve(nullptr, job, nullptr);
  for (int w = 0; w < workers; ++w) {
    if (context.Scratch(w + 1, scratch_bytes) == nullptr) return NoScratch();
  }

  TaskParts parts(tasks, workers);
  const auto work = [&](int worker) {
    DepthwiseScratch scratch;
    DepthwiseScratch::Carve(static_cast<std::byte*>(context.Scratch(worker + 1, 0)), job, &scratch);
    parts.Run(worker, [&](int task) {
      const auto begin = [&](int part) {
        const int64_t line = int64_t{CountBands(job)} * part / each * job.lines;
        return static_cast<int>(std::min<int64_t>(line, input.out_height));
      };
      const int part = task % each;
      RunDepthwiseLines(job, task / each, begin(part), begin(part + 1), scratch);
    });
  };
  context.Run(workers, std::ref(work));  // by reference: a copy would be allocated
  return {};
}

}  // namespace intaglio
