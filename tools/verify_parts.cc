#include "intaglio/tools/verify_parts.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "intaglio/nn/runtime/model.h"
#include "intaglio/tools/input_maker.h"
#include "intaglio/tools/inputs.h"
#include "intaglio/tools/model_io.h"

namespace intaglio::tools {
namespace {

using Tensors = std::vector<std::vector<uint8_t>>;

struct Run {
  Tensors inputs;
  Tensors outputs;
};

// Runs the whole model on inputs that it can compute.
Result<std::vector<Run>> RunWhole(nn::Model& model, const std::vector<std::string>& given,
                                  int count) {
  Buffers buffers(model);
  const Result<std::vector<bool>> filled = FillFromFiles(model, given, false, buffers);
  if (!filled.ok()) return filled.status();
  InputMaker maker(model, *filled);
  std::vector<Run> runs;
  for (int i = 0; i < count; ++i) {
    INTAGLIO_RETURN_IF_ERROR(maker.Run(static_cast<uint64_t>(i), model, buffers));
    runs.push_back({buffers.inputs, {}});
  }
  // The maker may have reset the state between tries.
  model.ResetState();
  for (Run& run : runs) {
    buffers.inputs = run.inputs;
    INTAGLIO_RETURN_IF_ERROR(buffers.Run(model));
    run.outputs = buffers.outputs;
  }
  return runs;
}

// A model of the chain, with its name for messages.
struct Part {
  std::string name;
  nn::Model model;
  Buffers buffers;

  Status Fail(const Status& status) const {
    return {status.code(), name + " as it is read back: " + status.message()};
  }

  // The outputs stay in the buffers.
  Status Run(const Tensors& inputs) {
    bool fits = inputs.size() == buffers.inputs.size();
    for (size_t i = 0; fits && i < inputs.size(); ++i) {
      fits = inputs[i].size() == buffers.inputs[i].size();
    }
    if (!fits) return Fail(InvalidArgument("its inputs are not what the part before it gives"));
    buffers.inputs = inputs;
    const Status status = buffers.Run(model);
    return status.ok() ? status : Fail(status);
  }
};

Result<std::vector<Part>> PrepareAll(const std::vector<ChainLink>& chain,
                                     const nn::Limits& limits) {
  std::vector<Part> parts;
  for (const ChainLink& link : chain) {
    nn::PrepareOptions options;
    options.integer_only = link.integer_only;
    options.limits = limits;
    Result<nn::Model> model = nn::Model::Prepare(link.graph, options);
    if (!model.ok()) {
      return Status(model.status().code(),
                    link.graph.name + " as it is read back: " + model.status().message());
    }
    Buffers buffers(*model);
    parts.push_back({link.graph.name, std::move(*model), std::move(buffers)});
  }
  return parts;
}

Status Compare(const nn::Model& whole, size_t run, const Tensors& expected, const Tensors& got) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i < got.size() && got[i] == expected[i]) continue;
    return InvalidArgument("what was split does not give the bits of the whole: output " +
                           std::to_string(i) + " '" + whole.output(i).name + "' differs in run " +
                           std::to_string(run + 1) + "; please report this");
  }
  return {};
}

}  // namespace

Status VerifyChain(const nn::Graph& whole, const std::vector<ChainLink>& chain,
                   const std::vector<std::string>& given, int runs, const nn::Limits& limits) {
  Result<nn::Model> model = nn::Model::Prepare(whole, {.limits = limits});
  if (!model.ok()) return model.status();
  const Result<std::vector<Run>> expected = RunWhole(*model, given, runs);
  if (!expected.ok()) return expected.status();
  Result<std::vector<Part>> parts = PrepareAll(chain, limits);
  if (!parts.ok()) return parts.status();
  for (size_t i = 0; i < expected->size(); ++i) {
    Tensors tensors = (*expected)[i].inputs;
    for (Part& part : *parts) {
      INTAGLIO_RETURN_IF_ERROR(part.Run(tensors));
      tensors = part.buffers.outputs;
    }
    INTAGLIO_RETURN_IF_ERROR(Compare(*model, i, (*expected)[i].outputs, tensors));
  }
  return {};
}

}  // namespace intaglio::tools
