#include <cstring>
#include <limits>
#include <string>

#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

class CopyRoutine final : public Routine {
 public:
  explicit CopyRoutine(size_t bytes) : bytes_(bytes) {}

  Status Run(const RunArguments& arguments) const override {
    if (arguments.outputs[0] != arguments.inputs[0] && bytes_ > 0) {
      std::memcpy(arguments.outputs[0], arguments.inputs[0], bytes_);
    }
    return {};
  }

 private:
  size_t bytes_;
};

}  // namespace

ShapesResult InferReshape(const LayerView& layer) {
  const Shape& from = layer.input(0).shape;
  Shape shape = layer.op<Reshape>().shape;
  const Status error =
      layer.Invalid("cannot give " + ToString(from) + " the shape " + ToString(shape));
  int* open = nullptr;
  for (int& extent : shape) {
    if (extent >= 0) continue;
    if (extent < -1 || open != nullptr) return error;
    open = &extent;
    extent = 1;
  }
  const Result<int64_t> have = CountElements(from);
  const Result<int64_t> known = CountElements(shape);
  if (!have.ok() || !known.ok()) return error;
  if (open != nullptr) {
    if (*known == 0 || *have % *known != 0) return error;
    const int64_t extent = *have / *known;
    if (extent > std::numeric_limits<int>::max()) return error;
    *open = static_cast<int>(extent);
  } else if (*known != *have) {
    return error;
  }
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareReshape(const LayerView& layer, const LayerOptions&) {
  const Tensor& in = layer.input(0);
  if (in.type != layer.output().type) {
    return layer.Unsupported(std::string("the input is ") + NameOf(in.type) +
                             ", but the output is " + NameOf(layer.output().type));
  }
  PreparedLayer prepared;
  prepared.routine = std::make_shared<CopyRoutine>(*CountBytes(in.shape, in.type));
  prepared.name = RoutineName(in.type, "copy");
  prepared.alias = true;
  return prepared;
}

}  // namespace intaglio::nn
