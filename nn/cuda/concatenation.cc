// CONCATENATION: one small kernel per input that does not lie where it belongs.
#include "intaglio/nn/ops/movement/concatenation.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/routine/memory_plan.h"

namespace intaglio::nn::cuda {
namespace {

// An input, with what the job of copying it points to.
struct Part {
  device::JoinJob job{};
  std::shared_ptr<const uint8_t> table;     // or null
  std::shared_ptr<const uint8_t> constant;  // null: a run brings it
};

class ConcatenationRoutine final : public Routine {
 public:
  explicit ConcatenationRoutine(const Stream& on) : stream(on) {}

  Status Run(const RunArguments& arguments) const override {
    auto* out = static_cast<uint8_t*>(arguments.outputs[0]);
    for (size_t i = 0; i < parts.size(); ++i) {
      device::JoinJob job = parts[i].job;
      job.in = parts[i].constant != nullptr ? parts[i].constant.get()
                                            : static_cast<const uint8_t*>(arguments.inputs[i]);
      job.out = out;
      out += job.line;
      if (job.line > 0 && job.in != job.out) INTAGLIO_RETURN_IF_ERROR(Enqueue(stream, job));
    }
    return {};
  }

  Stream stream;
  std::vector<Part> parts;
};

}  // namespace

Result<PreparedLayer> PrepareConcatenation(const Stream& stream, const LayerView& layer) {
  const Result<JoinedParts> joined = JoinedPartsOf(layer);
  if (!joined.ok()) return joined.status();
  auto routine = std::make_shared<ConcatenationRoutine>(stream);
  PreparedLayer prepared;
  for (size_t i = 0; i < joined->parts.size(); ++i) {
    const JoinedPart& from = joined->parts[i];
    Part part;
    part.job.line = static_cast<long long>(from.bytes);
    part.job.lines = joined->steps;
    part.job.stride = joined->stride;
    auto constant = ConstantOf(stream, layer, i);
    if (!constant.ok()) return constant.status();
    part.constant = *constant;
    if (layer.input(i).constant) prepared.constant_bytes += layer.input(i).data_bytes;
    if (from.table.has_value()) {
      auto table = Upload(stream, from.table->data(), from.table->size());
      if (!table.ok()) return layer.Wrap(table.status());
      part.table = *table;
      part.job.table = part.table.get();
      prepared.constant_bytes += from.table->size();
    }
    routine->parts.push_back(std::move(part));
  }
  prepared.routine = std::move(routine);
  // Other kernels count on tensors that begin where an arena's do.
  if (std::all_of(joined->parts.begin(), joined->parts.end(),
                  [](const JoinedPart& part) { return part.bytes % kArenaAlignment == 0; })) {
    prepared.joined_axis = joined->axis;
  }
  return prepared;
}

}  // namespace intaglio::nn::cuda
