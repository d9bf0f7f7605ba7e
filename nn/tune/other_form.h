// A network computes in one form: with integers, or in float32. Some of its layers may compute in
// the other form, with adapters where tensors pass from one to the other.
#ifndef INTAGLIO_NN_TUNE_OTHER_FORM_H_
#define INTAGLIO_NN_TUNE_OTHER_FORM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/named_range.h"
#include "intaglio/nn/passes/compute_in_float.h"

namespace intaglio::nn::tune {

// A network of which some layers have been converted to the other form.
struct Conversion {
  FloatRewrite network;
  std::vector<size_t> layers;                           // that were converted
  std::vector<std::pair<size_t, std::string>> refused;  // the others that were asked for, and why
};

class OtherForm {
 public:
  // Layers of integers may compute in float32: nn/passes/compute_in_float.h. The graph must outlive
  // the form, here and in Int8.
  static OtherForm Float32(const Graph& graph);
  // Layers of float32 may compute with int8 as the quantizer makes them (nn/quantize), if the
  // ranges of all their tensors are given. Errors are those of quantize::RangesOf, and
  // kUnsupported in a build without the quantizer.
  static Result<OtherForm> Int8(const Graph& graph, const std::vector<NamedRange>& ranges);

  const Graph& given() const { return *given_; }
  // The numbers of layers and tensors are those of this network. For int8, it is the given one as
  // the quantizer simplifies it.
  const Graph& graph() const;
  bool is_int8() const { return int8_ != nullptr; }
  // Whether graph() is another network than given().
  bool is_simplified() const;
  // The names of networks that compute in one form alone: "integers", "float32", "int8".
  const char* own_name() const { return is_int8() ? "float32" : "integers"; }
  const char* other_name() const { return is_int8() ? "int8" : "float32"; }

  // Layers that can be converted if all are.
  Result<std::vector<size_t>> List() const;
  // Whether an activation has the other form, too.
  bool HasForm(TensorId tensor) const;
  // The type of the integers in that form.
  Type IntegersOf(TensorId tensor) const;
  // Where only the form of a tensor changes: such a layer vanishes between converted ones.
  bool IsAdapter(size_t layer) const;
  // A layer that has nothing to do if it is converted.
  bool Vanishes(size_t layer) const;
  // The range that is known of the tensor; only for int8.
  std::optional<NamedRange> RangeOf(TensorId tensor) const;
  // A number for what the other form depends on besides the network.
  uint64_t digest() const;

  // Converts some layers. For float32, a layer that has no such form is an error; for int8 it is
  // refused, because that may depend on the layers beside it. `accepted`: the same layers were
  // converted before, and routines took all of them, so that they need not be asked again.
  Result<Conversion> Convert(std::span<const size_t> layers, bool accepted = false) const;

 private:
  struct Int8State;
  OtherForm() = default;
  bool HasRanges(const Layer& layer) const;
  Result<Conversion> ConvertToInt8(std::span<const size_t> layers, bool accepted) const;

  const Graph* given_ = nullptr;
  std::shared_ptr<const Int8State> int8_;
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_OTHER_FORM_H_
