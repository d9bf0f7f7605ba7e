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

InputBytes InputsFor(const Model& from, const InputBytes& inputs, const Model& to) {
  InputBytes converted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool same = from.input(i).type == to.input(i).type;
    converted.push_back(same ? inputs[i]
                             : ElementsOf(to.input(i), Reals(from.input(i), inputs[i])));
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
    INTAGLIO_RETURN_IF_ERROR(RunOn(actual, InputsFor(exact, *inputs, actual), y));
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
