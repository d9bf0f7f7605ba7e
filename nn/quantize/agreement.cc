#include "intaglio/nn/quantize/agreement.h"

#include <algorithm>

namespace intaglio::nn::quantize {
namespace {

std::vector<float> Reals(const Tensor& tensor, const std::vector<std::byte>& bytes) {
  return RealsIn(tensor, bytes.data(), bytes.size() / SizeOf(tensor.type));
}

size_t PlaceOfLargest(const std::vector<float>& values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

Status CheckInterfaces(const Model& exact, const Model& actual) {
  bool same =
      exact.input_count() == actual.input_count() && exact.output_count() == actual.output_count();
  for (size_t i = 0; same && i < exact.input_count(); ++i) {
    same = exact.input(i).shape == actual.input(i).shape;
  }
  for (size_t i = 0; same && i < exact.output_count(); ++i) {
    same = exact.output(i).shape == actual.output(i).shape;
  }
  return same ? Status() : InvalidArgument("the two networks have other inputs or outputs");
}

}  // namespace

InputBytes InputsFor(const Graph& from, const InputBytes& inputs, const Graph& to) {
  InputBytes converted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = from.tensors[static_cast<size_t>(from.inputs[i])];
    const Tensor& y = to.tensors[static_cast<size_t>(to.inputs[i])];
    converted.push_back(x.type == y.type ? inputs[i] : ElementsOf(y, Reals(x, inputs[i])));
  }
  return converted;
}

Result<Agreement> Compare(Model& exact, Model& actual, const NextSample& next, size_t most) {
  INTAGLIO_RETURN_IF_ERROR(CheckInterfaces(exact, actual));
  Result<InputBytes> inputs = BuffersFor(exact.graph(), exact.graph().inputs);
  if (!inputs.ok()) return inputs.status();
  std::vector<size_t> compared;
  Agreement agreement;
  for (size_t i = 0; i < exact.output_count(); ++i) {
    if (exact.output(i).type != Type::kFloat32) continue;
    compared.push_back(i);
    agreement.outputs.push_back({exact.output(i).name, {}, 0});
  }
  InputBytes x, y;
  for (; agreement.samples < most; ++agreement.samples) {
    const Result<bool> more = next(*inputs);
    if (!more.ok()) return more.status();
    if (!*more) break;
    INTAGLIO_RETURN_IF_ERROR(RunOn(exact, *inputs, x));
    INTAGLIO_RETURN_IF_ERROR(RunOn(actual, InputsFor(exact.graph(), *inputs, actual.graph()), y));
    for (size_t k = 0; k < compared.size(); ++k) {
      const std::vector<float> a = Reals(exact.output(compared[k]), x[compared[k]]);
      const std::vector<float> b = Reals(actual.output(compared[k]), y[compared[k]]);
      OutputAgreement& output = agreement.outputs[k];
      output.similarity.Add(a, b);
      output.same_place += PlaceOfLargest(a) == PlaceOfLargest(b) ? 1 : 0;
    }
  }
  return agreement;
}

}  // namespace intaglio::nn::quantize
