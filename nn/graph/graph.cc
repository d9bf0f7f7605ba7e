#include "intaglio/nn/graph/graph.h"

#include <cmath>
#include <string>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn {
namespace {

std::string DescribeTensor(const Graph& graph, TensorId id) {
  return "tensor #" + std::to_string(id) + " '" + graph.tensors[static_cast<size_t>(id)].name + "'";
}

Status CheckId(const Graph& graph, TensorId id, const std::string& what) {
  if (id >= 0 && static_cast<size_t>(id) < graph.tensors.size()) return {};
  return InvalidArgument(what + " is tensor #" + std::to_string(id) + ", but the graph has " +
                         std::to_string(graph.tensors.size()) + " tensors");
}

Status CheckQuantization(const Quantization& q) {
  if (q.zero_points.size() != q.scales.size()) {
    return InvalidArgument("has " + std::to_string(q.scales.size()) + " scales but " +
                           std::to_string(q.zero_points.size()) + " zero points");
  }
  for (const float scale : q.scales) {
    if (!std::isfinite(scale) || scale < 0) {
      return InvalidArgument("has the scale " + std::to_string(scale));
    }
  }
  return {};
}

Status CheckTensor(const Tensor& tensor) {
  const Result<size_t> bytes = CountBytes(tensor.shape, tensor.type);
  if (!bytes.ok()) return bytes.status();
  INTAGLIO_RETURN_IF_ERROR(CheckQuantization(tensor.quantization));
  if (tensor.constant && tensor.variable) return InvalidArgument("is a constant and a variable");
  if (!tensor.constant && !(tensor.variable && tensor.data != nullptr)) return {};
  if (tensor.data_bytes != *bytes) {
    return InvalidArgument("is given " + std::to_string(tensor.data_bytes) + " bytes, but " +
                           NameOf(tensor.type) + ToString(tensor.shape) + " has " +
                           std::to_string(*bytes));
  }
  if (*bytes > 0 && tensor.data == nullptr) return InvalidArgument("is a constant without data");
  return {};
}

// The row's infer, after the checks that the row states.
ShapesResult Infer(const LayerView& layer) {
  const OperatorRow& row = layer.layer().op.row();
  const size_t count = layer.input_count();
  if (count < row.min_inputs || count > row.max_inputs) {
    std::string expected = std::to_string(row.min_inputs);
    if (row.max_inputs > row.min_inputs) expected += " to " + std::to_string(row.max_inputs);
    return layer.Invalid("has " + std::to_string(count) + " inputs; " + expected + " expected");
  }
  for (size_t i = 0; i < row.min_inputs; ++i) {
    if (!layer.has_input(i)) return layer.Invalid("input " + std::to_string(i) + " is absent");
  }
  return row.infer(layer);
}

Status CheckLayer(const Graph& graph, size_t index, std::vector<bool>& written) {
  const Layer& layer = graph.layers[index];
  const LayerView view(graph, index);
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const TensorId id = layer.inputs[i];
    if (id == kNoTensor) continue;
    if (const Status s = CheckId(graph, id, "input " + std::to_string(i)); !s.ok())
      return view.Wrap(s);
    if (!written[static_cast<size_t>(id)]) {
      return view.Invalid("reads " + DescribeTensor(graph, id) +
                          ", which nothing has written before");
    }
  }
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const TensorId id = layer.outputs[i];
    if (const Status s = CheckId(graph, id, "output " + std::to_string(i)); !s.ok())
      return view.Wrap(s);
    if (written[static_cast<size_t>(id)]) {
      return view.Invalid("writes " + DescribeTensor(graph, id) +
                          ", which is a constant, a variable, an input or written before");
    }
    written[static_cast<size_t>(id)] = true;
  }
  const Result<std::vector<Shape>> shapes = Infer(view);
  if (!shapes.ok()) return shapes.status();
  if (shapes->size() != layer.outputs.size()) {
    return view.Invalid("has " + std::to_string(layer.outputs.size()) + " outputs; " +
                        std::to_string(shapes->size()) + " expected");
  }
  for (size_t i = 0; i < shapes->size(); ++i) {
    if (view.output(i).shape != (*shapes)[i]) {
      return view.Invalid("output '" + view.output(i).name + "' has the shape " +
                          ToString(view.output(i).shape) + ", but the operator makes " +
                          ToString((*shapes)[i]));
    }
  }
  return {};
}

}  // namespace

const char* NameOf(const Operator& op) { return op.row().name; }

std::string LabelOf(const Graph& graph, size_t layer) {
  const Layer& l = graph.layers[layer];
  if (!l.label.empty()) return l.label;
  std::string label = std::string(NameOf(l.op)) + " #" + std::to_string(layer);
  if (!l.outputs.empty() && l.outputs[0] >= 0 &&
      static_cast<size_t>(l.outputs[0]) < graph.tensors.size()) {
    label += " '" + ShortName(graph.tensors[static_cast<size_t>(l.outputs[0])].name) + "'";
  }
  return label;
}

Numerics LayerView::numerics() const {
  if (layer().numerics.has_value()) return *layer().numerics;
  const OperatorRow& row = layer().op.row();
  return row.numerics == nullptr ? Numerics() : row.numerics(*this);
}

Status LayerView::Invalid(const std::string& what) const {
  return InvalidArgument(LabelOf(*graph_, index_) + ": " + what);
}

Status LayerView::Unsupported(const std::string& what) const {
  return intaglio::Unsupported(LabelOf(*graph_, index_) + ": " + what);
}

Status LayerView::Wrap(const Status& status) const {
  return {status.code(), LabelOf(*graph_, index_) + ": " + status.message()};
}

Result<std::vector<Shape>> InferShapes(const Graph& graph, size_t layer) {
  const DefaultFloatEnvironment environment;
  return Infer(LayerView(graph, layer));
}

Status Validate(const Graph& graph) {
  const DefaultFloatEnvironment environment;
  std::vector<bool> written(graph.tensors.size(), false);
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    if (const Status s = CheckTensor(tensor); !s.ok()) {
      return {s.code(), DescribeTensor(graph, static_cast<TensorId>(i)) + ": " + s.message()};
    }
    written[i] = tensor.constant || tensor.variable;
  }
  for (const TensorId id : graph.inputs) {
    INTAGLIO_RETURN_IF_ERROR(CheckId(graph, id, "an input of the graph"));
    if (written[static_cast<size_t>(id)]) {
      return InvalidArgument(
          DescribeTensor(graph, id) +
          " cannot be an input: it is a constant, a variable or an input already");
    }
    written[static_cast<size_t>(id)] = true;
  }
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(CheckLayer(graph, i, written));
  }
  for (const TensorId id : graph.outputs) {
    INTAGLIO_RETURN_IF_ERROR(CheckId(graph, id, "an output of the graph"));
    if (!written[static_cast<size_t>(id)]) {
      return InvalidArgument(DescribeTensor(graph, id) + " is an output, but nothing writes it");
    }
  }
  return {};
}

}  // namespace intaglio::nn
