#include "intaglio/bindings/python/src/model.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "intaglio/bindings/python/src/errors.h"
#include "intaglio/bindings/python/src/gil.h"

namespace intaglio::python {
namespace {

namespace nb = nanobind;

// Names that tell tensors apart, where the file has empty or equal ones.
std::string UniqueName(const std::string& wanted, const char* role, size_t index,
                       std::unordered_set<std::string>& taken) {
  const std::string base = wanted.empty() ? role + std::to_string(index) : wanted;
  std::string name = base;
  for (size_t i = index; !taken.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return name;
}

std::vector<TensorInfo> Describe(const nn::Graph& graph, const std::vector<nn::TensorId>& tensors,
                                 const char* role) {
  std::vector<TensorInfo> infos;
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const nn::Tensor& tensor = graph.tensors[static_cast<size_t>(tensors[i])];
    const std::string name = UniqueName(tensor.name, role, i, names);
    nb::object key = nb::steal(PyUnicode_DecodeUTF8(
        name.data(), static_cast<Py_ssize_t>(name.size()), "backslashreplace"));
    infos.push_back({name, std::move(key), tensor.type, tensor.shape,
                     *nn::CountBytes(tensor.shape, tensor.type), tensor.quantization,
                     ArrayMaker(tensor.type, tensor.shape)});
  }
  return infos;
}

std::shared_ptr<const Signature> SignatureOf(const nn::Model& model) {
  const nn::Graph& graph = model.graph();
  return std::make_shared<const Signature>(
      Signature{Describe(graph, graph.inputs, "input"), Describe(graph, graph.outputs, "output")});
}

std::string KnownNames(const std::vector<TensorInfo>& infos) {
  std::string names;
  for (const TensorInfo& info : infos) names += (names.empty() ? "'" : ", '") + info.name + "'";
  return names;
}

// The text of any object; a lone surrogate is escaped.
std::string TextOf(nb::handle object) {
  return nb::cast<std::string>(
      nb::str(object).attr("encode")("utf-8", "backslashreplace").attr("decode")());
}

// A key of `values` that names no tensor.
[[noreturn]] void RaiseUnknownName(nb::handle values, const std::vector<TensorInfo>& infos,
                                   const char* role) {
  // Copied: comparing a key, or its text, may be code that changes the dict.
  const nb::list keys = nb::borrow<nb::dict>(values).keys();
  for (const nb::handle key : keys) {
    const bool known = std::any_of(infos.begin(), infos.end(),
                                   [&](const TensorInfo& info) { return info.key.equal(key); });
    if (!known) {
      Raise("UnknownNameError", std::string("the model has no ") + role + " '" + TextOf(key) +
                                    "'; there are: " + KnownNames(infos));
    }
  }
  Raise("UnknownNameError", std::string("a name stands twice among the ") + role + "s");
}

// Calls use(i, value) for each tensor with what the caller gives for it.
template <class Use>
void ForEach(nb::handle values, const std::vector<TensorInfo>& infos, const char* role, Use use) {
  if (PyDict_Check(values.ptr())) {
    for (size_t i = 0; i < infos.size(); ++i) {
      PyObject* const value = PyDict_GetItemWithError(values.ptr(), infos[i].key.ptr());
      if (value == nullptr) {
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        if (static_cast<size_t>(PyDict_Size(values.ptr())) >= infos.size()) {
          RaiseUnknownName(values, infos, role);
        }
        Raise("MissingNameError",
              std::string("the ") + role + " '" + infos[i].name + "' is missing");
      }
      use(i, nb::borrow(value));
    }
    if (static_cast<size_t>(PyDict_Size(values.ptr())) != infos.size()) {
      RaiseUnknownName(values, infos, role);
    }
    return;
  }
  const bool is_list = PyList_Check(values.ptr());
  if (!is_list && !PyTuple_Check(values.ptr())) {
    Raise("ArgumentError", std::string("needs a dict of ") + role + "s by name, or a list of them");
  }
  const auto count = static_cast<size_t>(PySequence_Size(values.ptr()));
  if (count != infos.size()) {
    Raise(count < infos.size() ? "MissingNameError" : "UnknownNameError",
          "got " + std::to_string(count) + " " + role + "s, the model has " +
              std::to_string(infos.size()) + ": " + KnownNames(infos));
  }
  for (size_t i = 0; i < count; ++i) {
    PyObject* const value = PySequence_GetItem(values.ptr(), static_cast<Py_ssize_t>(i));
    if (value == nullptr) throw nb::python_error();
    use(i, nb::steal(value));
  }
}

}  // namespace

Model::Model(std::shared_ptr<const Origin> origin, nn::Model model)
    : origin_(std::move(origin)), signature_(SignatureOf(model)), model_(std::move(model)) {}

Model::~Model() {
  // The child of a fork must not destroy what another thread was changing (gemm/context.h).
  if (lock_.LostInFork() && model_) new nn::Model(std::move(*model_));
}

void Model::CheckOpen() const {
  if (closed()) Raise("ClosedError", origin_->name + ": the model is closed");
}

void Model::OpenAll(nb::handle arrays, const std::vector<TensorInfo>& infos, Access access,
                    Views& views) {
  const char* const role = access == Access::kRead ? "input" : "output";
  ForEach(arrays, infos, role, [&](size_t i, const nb::object& array) {
    const ArrayName name{role, &infos[i].name};
    views[i].Open(array, access, name);
    views[i].Require(infos[i].type, infos[i].dimensions, name);
  });
}

void Model::RunOn(const Signature& signature, Views& inputs, Views& outputs,
                  std::span<std::chrono::nanoseconds> times) {
  Few<nn::InputBuffer> from(inputs.size());
  Few<nn::OutputBuffer> to(outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    from[i] = {inputs[i].data(), signature.inputs[i].bytes, inputs[i].type()};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    to[i] = {outputs[i].data(), signature.outputs[i].bytes, outputs[i].type()};
  }
  Status status;
  {
    const CallerGuard guard(lock_);
    CheckOpen();  // it may have been closed while this call waited
    const GilRelease release;
    status = model_->Run({from.begin(), from.size()}, {to.begin(), to.size()}, times);
  }
  RaiseIfError(status, "RunError");
}

nb::object Model::Run(nb::handle inputs) {
  CheckOpen();
  const std::shared_ptr<const Signature> signature = signature_;
  Views from(signature->inputs.size());
  OpenAll(inputs, signature->inputs, Access::kRead, from);
  const size_t count = signature->outputs.size();
  Views to(count);
  Few<nb::object> arrays(count);
  for (size_t i = 0; i < count; ++i) {
    arrays[i] = signature->outputs[i].maker.Make();
    to[i].Open(arrays[i], Access::kWrite, {"output", &signature->outputs[i].name});
  }
  RunOn(*signature, from, to);
  if (PyDict_Check(inputs.ptr())) {
    nb::dict named;
    for (size_t i = 0; i < count; ++i) named[signature->outputs[i].key] = arrays[i];
    return named;
  }
  nb::list ordered;
  for (size_t i = 0; i < count; ++i) ordered.append(arrays[i]);
  return ordered;
}

void Model::RunInto(nb::handle inputs, nb::handle outputs) {
  CheckOpen();
  const std::shared_ptr<const Signature> signature = signature_;
  Views from(signature->inputs.size());
  Views to(signature->outputs.size());
  OpenAll(inputs, signature->inputs, Access::kRead, from);
  OpenAll(outputs, signature->outputs, Access::kWrite, to);
  RunOn(*signature, from, to);
}

nb::dict Model::MakeOutputs() const {
  CheckOpen();
  const std::shared_ptr<const Signature> signature = signature_;
  nb::dict arrays;
  for (const TensorInfo& info : signature->outputs) arrays[info.key] = info.maker.Make();
  return arrays;
}

std::vector<int64_t> Model::TimeLayers(nb::handle inputs) {
  const nb::dict outputs = MakeOutputs();
  const std::shared_ptr<const Signature> signature = signature_;
  Views from(signature->inputs.size());
  Views to(signature->outputs.size());
  OpenAll(inputs, signature->inputs, Access::kRead, from);
  OpenAll(outputs, signature->outputs, Access::kWrite, to);
  std::vector<std::chrono::nanoseconds> times(
      Inspect([](const nn::Model& model) { return model.layers().size(); }));
  RunOn(*signature, from, to, times);
  std::vector<int64_t> counts;
  for (const std::chrono::nanoseconds time : times) counts.push_back(time.count());
  return counts;
}

std::vector<std::vector<uint8_t>> Model::CopyInputs(nb::handle inputs) const {
  CheckOpen();
  const std::shared_ptr<const Signature> signature = signature_;
  Views from(signature->inputs.size());
  OpenAll(inputs, signature->inputs, Access::kRead, from);
  std::vector<std::vector<uint8_t>> copies;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto* const first = static_cast<const uint8_t*>(from[i].data());
    copies.emplace_back(first, first + signature->inputs[i].bytes);
  }
  return copies;
}

std::unique_ptr<Model> Model::Share() {
  CheckOpen();
  // A model that fork() left in the middle of a run can still be shared.
  std::optional<CallerGuard> guard;
  if (!lock_.LostInFork()) guard.emplace(lock_);
  CheckOpen();
  Result<nn::Model> shared = InvalidArgument("");
  {
    const GilRelease release;
    shared = model_->Share();
  }
  RaiseIfError(shared.status(), "RunError");
  return std::make_unique<Model>(origin_, std::move(*shared));
}

void Model::Resize(nb::handle shapes) {
  CheckOpen();
  // Kept: what stands for a shape or a name may be code of Python, which may resize this model.
  const std::shared_ptr<const Signature> kept = signature_;
  const Signature& signature = *kept;
  std::vector<nn::Shape> wanted(signature.inputs.size());
  const auto take = [&](size_t i, const nb::object& shape) {
    if (!shape.is_none() && !nb::try_cast(shape, wanted[i])) {
      Raise("ArgumentError", "input '" + signature.inputs[i].name +
                                 "': a shape is a tuple of int32 numbers, or None");
    }
    if (!shape.is_none() && wanted[i].empty() && !signature.inputs[i].dimensions.empty()) {
      Raise("ShapeError", "input '" + signature.inputs[i].name + "' cannot be a scalar");
    }
  };
  if (PyDict_Check(shapes.ptr())) {
    size_t found = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      PyObject* const shape = PyDict_GetItemWithError(shapes.ptr(), signature.inputs[i].key.ptr());
      if (shape == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
      if (shape == nullptr) continue;
      take(i, nb::borrow(shape));
      ++found;
    }
    if (found != static_cast<size_t>(PyDict_Size(shapes.ptr()))) {
      RaiseUnknownName(shapes, signature.inputs, "input");
    }
  } else {
    ForEach(shapes, signature.inputs, "input", take);
  }
  const CallerGuard guard(lock_);
  CheckOpen();
  Status status;
  {
    const GilRelease release;
    status = model_->Resize(wanted);
  }
  RaiseIfError(status, "ShapeError");
  signature_ = SignatureOf(*model_);
}

void Model::ResetState() {
  CheckOpen();
  const CallerGuard guard(lock_);
  CheckOpen();
  model_->ResetState();
}

void Model::Close() {
  if (closed()) return;
  const CallerGuard guard(lock_);
  model_.reset();
}

nb::tuple Model::Pickled() const {
  CheckOpen();
  const std::shared_ptr<const Signature> signature = signature_;
  nb::list shapes;
  for (const TensorInfo& info : signature->inputs) shapes.append(info.maker.shape());
  return nb::make_tuple(nb::bytes(origin_->bytes.data(), origin_->bytes.size()), origin_->name,
                        origin_->options, shapes);
}

}  // namespace intaglio::python
