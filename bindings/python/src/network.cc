#include "intaglio/bindings/python/src/network.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "intaglio/bindings/python/src/array.h"
#include "intaglio/bindings/python/src/caller_lock.h"
#include "intaglio/bindings/python/src/errors.h"
#include "intaglio/bindings/python/src/gil.h"
#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::python {
namespace {

namespace nb = nanobind;

nn::Quantization QuantizationOf(std::vector<float> scales, std::vector<int32_t> zero_points,
                                int axis) {
  return {std::move(scales), std::move(zero_points), axis};
}

std::vector<int> ShapeOf(const ArrayView& view) {
  std::vector<int> shape(view.rank());
  for (size_t i = 0; i < view.rank(); ++i) shape[i] = static_cast<int>(view.extent(i));
  return shape;
}

// A prepared network whose constants and quantizations change, and all of whose tensors can be
// read. Tensors are the numbers of its graph.
//
// Any thread may call it at any time. Arrays are opened without the lock, because that may run code
// of Python. What they were held against is a copy, and is compared again under the lock.
class Runner {
 public:
  explicit Runner(nn::Model model) : model_(std::move(model)) {}

  // Arrays in the order of the network's inputs. Tensors are read afterwards.
  void Run(const nb::list& arrays) {
    const size_t count = Locked([&] { return model_.input_count(); });
    if (nb::len(arrays) != count) {
      Raise("ArgumentError", "the network has " + std::to_string(count) + " inputs");
    }
    Few<ArrayView> views(count);
    Few<nn::InputBuffer> inputs(count);
    for (size_t i = 0; i < count; ++i) {
      const nn::Tensor tensor = Locked([&] { return model_.input(i); });
      const ArrayName name{"input", &tensor.name};
      views[i].Open(arrays[i], Access::kRead, name);
      views[i].Require(tensor.type, tensor.shape, name);
      inputs[i] = {views[i].data(), *nn::CountBytes(tensor.shape, tensor.type), tensor.type};
    }
    Status status;
    {
      const CallerGuard guard(lock_);
      const GilRelease release;
      status = CopyAndRun(inputs);
    }
    RaiseIfError(status, "RunError");
  }

  // A copy of a tensor after a run.
  nb::object Read(int id) {
    const nn::Tensor tensor = TensorAt(id);
    nb::object array = ArrayMaker(tensor.type, tensor.shape).Make();
    ArrayView view;
    view.Open(array, Access::kWrite, {"tensor", &tensor.name});
    const size_t bytes = *nn::CountBytes(tensor.shape, tensor.type);
    const CallerGuard guard(lock_);
    if (model_.graph().tensors[static_cast<size_t>(id)].shape != tensor.shape) RaiseResized();
    const void* const data = model_.TensorData(id);
    if (data == nullptr) Raise("ArgumentError", "tensor '" + tensor.name + "' was not kept");
    if (bytes > 0) std::memcpy(view.data(), data, bytes);
    return array;
  }

  // Tuples of a tensor, elements or None, and scales, zero points and axis.
  void Update(const nb::list& tuples) {
    const size_t count = nb::len(tuples);
    std::vector<nn::TensorUpdate> updates(count);
    const auto views = std::make_unique<ArrayView[]>(count);
    for (size_t i = 0; i < count; ++i) {
      const auto tuple = nb::cast<nb::tuple>(tuples[i]);
      updates[i].tensor = nb::cast<int>(tuple[0]);
      const nn::Tensor tensor = TensorAt(updates[i].tensor);
      if (!tuple[1].is_none()) {
        const ArrayName name{"constant", &tensor.name};
        views[i].Open(tuple[1], Access::kRead, name);
        views[i].Require(tensor.type, tensor.shape, name);
        updates[i].data = views[i].data();
        updates[i].bytes = tensor.data_bytes;
      }
      updates[i].quantization =
          QuantizationOf(nb::cast<std::vector<float>>(tuple[2]),
                         nb::cast<std::vector<int32_t>>(tuple[3]), nb::cast<int>(tuple[4]));
    }
    Status status;
    {
      const CallerGuard guard(lock_);
      const GilRelease release;
      status = model_.Update(updates);
    }
    RaiseIfError(status, "ArgumentError");
  }

  void Resize(const std::vector<nn::Shape>& shapes) {
    const CallerGuard guard(lock_);
    Status status;
    {
      const GilRelease release;
      status = model_.Resize(shapes);
    }
    RaiseIfError(status, "ShapeError");
  }

  // Tuples of name, shape, scales and zero points of all tensors.
  nb::list Tensors() const {
    const std::vector<nn::Tensor> tensors = Locked([&] { return model_.graph().tensors; });
    nb::list list;
    for (const nn::Tensor& tensor : tensors) {
      list.append(nb::make_tuple(tensor.name, tensor.shape, tensor.quantization.scales,
                                 tensor.quantization.zero_points, tensor.constant));
    }
    return list;
  }

  // Tuples of the label and the outputs of all layers, in the order in which they run.
  nb::list Layers() const {
    struct Layer {
      std::string label;
      std::vector<int> outputs;
      std::string routine;
    };
    const std::vector<Layer> layers = Locked([&] {
      std::vector<Layer> copies;
      const nn::Graph& graph = model_.graph();
      for (size_t i = 0; i < graph.layers.size(); ++i) {
        copies.push_back(
            {nn::LabelOf(graph, i), graph.layers[i].outputs, model_.layers()[i].routine});
      }
      return copies;
    });
    nb::list list;
    for (const Layer& layer : layers) {
      list.append(nb::make_tuple(layer.label, layer.outputs, layer.routine));
    }
    return list;
  }

  std::vector<int> inputs() const {
    return Locked([&] { return model_.graph().inputs; });
  }

 private:
  [[noreturn]] static void RaiseResized() {
    Raise("RunError", "another thread has resized the network");
  }

  // What get() copies of the model, while no other thread changes it.
  template <class Get>
  std::invoke_result_t<const Get&> Locked(const Get& get) const {
    const CallerGuard guard(lock_);
    return get();
  }

  // Under the lock, without the GIL.
  Status CopyAndRun(Few<nn::InputBuffer>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const nn::Tensor& tensor = model_.input(i);
      if (inputs[i].bytes != *nn::CountBytes(tensor.shape, tensor.type)) {
        return InvalidArgument("another thread has resized the network");
      }
      if (inputs[i].bytes > 0) {
        std::memcpy(model_.InputData(i), inputs[i].data, inputs[i].bytes);
      }
    }
    return model_.RunBound();
  }

  nn::Tensor TensorAt(int id) const {
    const CallerGuard guard(lock_);
    const std::vector<nn::Tensor>& tensors = model_.graph().tensors;
    if (id < 0 || static_cast<size_t>(id) >= tensors.size()) {
      Raise("ArgumentError", "there is no tensor " + std::to_string(id));
    }
    return tensors[static_cast<size_t>(id)];
  }

  nn::Model model_;
  mutable CallerLock lock_;
};

std::unique_ptr<Runner> MakeRunner(Result<nn::Graph> graph, int threads, std::string kernel) {
  RaiseIfError(graph.status(), "LoadError");
  Result<nn::Model> model = InvalidArgument("");
  {
    const GilRelease release;
    model = nn::Model::Prepare(
        std::move(*graph),
        {.threads = threads, .kernel = std::move(kernel), .keep_all_tensors = true});
  }
  RaiseIfError(model.status(), "ArgumentError");
  return std::make_unique<Runner>(std::move(*model));
}

// A graph that grows.
class Network {
 public:
  explicit Network(std::string name) { graph_.name = std::move(name); }

  int AddTensor(std::string name, const std::string& type, std::vector<int> shape,
                std::vector<float> scales, std::vector<int32_t> zero_points, int axis) {
    nn::Tensor tensor;
    tensor.name = std::move(name);
    tensor.type = type == "float32" ? Type::kFloat32 : Type::kInt8;
    tensor.shape = std::move(shape);
    RaiseIfError(nn::CountBytes(tensor.shape, tensor.type).status(), "ArgumentError");
    tensor.quantization = QuantizationOf(std::move(scales), std::move(zero_points), axis);
    return Add(std::move(tensor));
  }

  // The elements are copied.
  int AddConstant(std::string name, nb::handle array, std::vector<float> scales,
                  std::vector<int32_t> zero_points, int axis) {
    ArrayView view;
    const ArrayName role{"constant", &name};
    view.Open(array, Access::kRead, role);
    nn::Tensor tensor;
    tensor.type = view.type();
    tensor.shape = ShapeOf(view);
    view.Require(tensor.type, tensor.shape, role);
    tensor.quantization = QuantizationOf(std::move(scales), std::move(zero_points), axis);
    tensor.constant = true;
    tensor.data_bytes = *nn::CountBytes(tensor.shape, tensor.type);
    const auto copy = std::make_shared<std::vector<int64_t>>(tensor.data_bytes / 8 + 1);
    if (tensor.data_bytes > 0) std::memcpy(copy->data(), view.data(), tensor.data_bytes);
    tensor.data = copy->data();
    tensor.owner = copy;
    tensor.name = std::move(name);
    return Add(std::move(tensor));
  }

  // Returns the output. Its shape follows, and its type is int8, or float32 where `to_float`: what
  // DEQUANTIZE and layers of float32 give, and the sums of products of integers.
  int AddLayer(const std::string& operator_name, const nb::dict& parameters,
               std::vector<int> inputs, std::string output, std::vector<float> scales,
               std::vector<int32_t> zero_points, std::string label, bool to_float) {
    Result<nn::Operator> op = OperatorFrom(operator_name, parameters);
    RaiseIfError(op.status(), "ArgumentError");
    for (const int input : inputs) {
      if (input != nn::kNoTensor) CheckTensor(input);
    }
    const bool sums = to_float && operator_name != "DEQUANTIZE" && !ReadsFloats(inputs);
    const int id = AddTensor(std::move(output), to_float ? "float32" : "int8", {},
                             std::move(scales), std::move(zero_points), 0);
    graph_.layers.push_back({std::move(*op), std::move(inputs), {id}, std::move(label)});
    if (sums) {
      graph_.layers.back().numerics = nn::Numerics{.scaling = Scaling::kToFloat};
    }
    Result<std::vector<nn::Shape>> shapes = nn::InferShapes(graph_, graph_.layers.size() - 1);
    if (!shapes.ok()) {
      graph_.layers.pop_back();
      graph_.tensors.pop_back();
      RaiseIfError(shapes.status(), "ArgumentError");
    }
    graph_.tensors[static_cast<size_t>(id)].shape = std::move((*shapes)[0]);
    return id;
  }

  void SetInterface(std::vector<int> inputs, std::vector<int> outputs) {
    graph_.inputs = std::move(inputs);
    graph_.outputs = std::move(outputs);
  }

  std::vector<int> ShapeAt(int id) const {
    return graph_.tensors.at(static_cast<size_t>(id)).shape;
  }

  void Save(const std::string& path) const {
    RaiseIfError(nn::SaveGraph(graph_, path), "ArgumentError");
  }

  std::unique_ptr<Runner> Prepare(int threads, std::string kernel) const {
    return MakeRunner(graph_, threads, std::move(kernel));
  }

 private:
  void CheckTensor(int id) const {
    if (id < 0 || static_cast<size_t>(id) >= graph_.tensors.size()) {
      Raise("ArgumentError", "there is no tensor " + std::to_string(id));
    }
  }

  // Whether the first input is of float32.
  bool ReadsFloats(const std::vector<int>& inputs) const {
    return !inputs.empty() && inputs[0] != nn::kNoTensor &&
           graph_.tensors[static_cast<size_t>(inputs[0])].type == Type::kFloat32;
  }

  int Add(nn::Tensor tensor) {
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<int>(graph_.tensors.size()) - 1;
  }

  nn::Graph graph_;
};

std::unique_ptr<Runner> OpenRunner(const std::string& path, int threads, std::string kernel) {
  return MakeRunner(nn::LoadGraph(path), threads, std::move(kernel));
}

}  // namespace

void BindNetwork(nb::module_& module) {
  nb::class_<Runner>(module, "_Runner")
      .def("run", &Runner::Run, nb::arg("inputs"),
           nb::sig("def run(self, inputs: list[typing.Any]) -> None"))
      .def("read", &Runner::Read, nb::arg("tensor"),
           nb::sig("def read(self, tensor: int) -> numpy.ndarray"))
      .def("update", &Runner::Update, nb::arg("updates"),
           nb::sig("def update(self, updates: list[tuple[typing.Any, ...]]) -> None"))
      .def("resize", &Runner::Resize, nb::arg("shapes"))
      .def("tensors", &Runner::Tensors,
           nb::sig("def tensors(self) -> list[tuple[typing.Any, ...]]"))
      .def("layers", &Runner::Layers, nb::sig("def layers(self) -> list[tuple[typing.Any, ...]]"))
      .def("inputs", &Runner::inputs);
  nb::class_<Network>(module, "_Network")
      .def(nb::init<std::string>(), nb::arg("name"))
      .def("tensor", &Network::AddTensor, nb::arg("name"), nb::arg("dtype"), nb::arg("shape"),
           nb::arg("scales"), nb::arg("zero_points"), nb::arg("axis"))
      .def("constant", &Network::AddConstant, nb::arg("name"), nb::arg("array"), nb::arg("scales"),
           nb::arg("zero_points"), nb::arg("axis"))
      .def("layer", &Network::AddLayer, nb::arg("operator"), nb::arg("parameters"),
           nb::arg("inputs"), nb::arg("output"), nb::arg("scales"), nb::arg("zero_points"),
           nb::arg("label"), nb::arg("to_float"),
           nb::sig("def layer(self, operator: str, parameters: dict[str, typing.Any], "
                   "inputs: collections.abc.Sequence[int], output: str, "
                   "scales: collections.abc.Sequence[float], "
                   "zero_points: collections.abc.Sequence[int], label: str, "
                   "to_float: bool) -> int"))
      .def("interface", &Network::SetInterface, nb::arg("inputs"), nb::arg("outputs"))
      .def("shape", &Network::ShapeAt, nb::arg("tensor"))
      .def("save", &Network::Save, nb::arg("path"))
      .def("prepare", &Network::Prepare, nb::arg("threads"), nb::arg("kernel"));
  module.def("_open_runner", &OpenRunner, nb::arg("path"), nb::arg("threads"), nb::arg("kernel"));
}

}  // namespace intaglio::python
