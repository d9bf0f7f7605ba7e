// The extension module intaglio._core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "intaglio/bindings/python/src/gemm.h"
#include "intaglio/bindings/python/src/model.h"
#include "intaglio/bindings/python/src/network.h"

namespace intaglio::python {
namespace {

namespace nb = nanobind;

nb::tuple TupleOf(const Model& model, std::vector<TensorInfo> Signature::*infos) {
  const std::shared_ptr<const Signature> signature = model.signature();
  nb::list list;
  for (const TensorInfo& info : (*signature).*infos) list.append(info);
  return nb::tuple(list);
}

nb::tuple LayersOf(Model& model) {
  const auto layers = model.Inspect([](const nn::Model& prepared) { return prepared.layers(); });
  nb::list list;
  for (const nn::LayerInfo& layer : layers) list.append(layer);
  return nb::tuple(list);
}

// A key, and a dict of positions by name for inputs and for outputs.
nb::list SignaturesOf(const Model& model) {
  const auto positions = [](const std::vector<nn::Signature::Entry>& entries) {
    nb::dict dict;
    for (const nn::Signature::Entry& entry : entries) dict[entry.name.c_str()] = entry.position;
    return dict;
  };
  nb::list list;
  for (const nn::Signature& signature : model.origin().signatures) {
    list.append(
        nb::make_tuple(signature.key, positions(signature.inputs), positions(signature.outputs)));
  }
  return list;
}

int64_t CountMacs(Model& model) {
  return model.Inspect([](const nn::Model& prepared) {
    int64_t sum = 0;
    for (const nn::LayerInfo& layer : prepared.layers()) sum += layer.macs;
    return sum;
  });
}

std::string TextOf(const TensorInfo& info) {
  return "<intaglio.Tensor '" + info.name + "' " + intaglio::NameOf(info.type) + " " +
         ShapeText(info.dimensions) + ">";
}

std::string TextOf(const Model& model) {
  if (model.closed()) return "<intaglio.Model '" + model.origin().name + "', closed>";
  const auto names = [](const std::vector<TensorInfo>& infos) {
    std::string text;
    for (const TensorInfo& info : infos) {
      text += (text.empty() ? "" : ", ") + info.name + " " + intaglio::NameOf(info.type) +
              ShapeText(info.dimensions);
    }
    return text;
  };
  return "<intaglio.Model '" + model.origin().name + "': " + names(model.signature()->inputs) +
         " -> " + names(model.signature()->outputs) + ">";
}

void BindTensor(nb::module_& module) {
  nb::class_<TensorInfo>(module, "Tensor",
                         "An input or an output of a model. If it is quantized, a number q stands "
                         "for ``scale * (q - zero_point)``.")
      .def_prop_ro(
          "name", [](const TensorInfo& info) { return info.key; }, nb::sig("def name(self) -> str"),
          "The file's name, made unique where the file has equal or empty ones.")
      .def_prop_ro(
          "shape", [](const TensorInfo& info) { return info.maker.shape(); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The extents, outermost first.")
      .def_prop_ro(
          "dtype", [](const TensorInfo& info) { return info.maker.dtype(); },
          nb::sig("def dtype(self) -> numpy.dtype"), "NumPy's dtype.")
      .def_prop_ro(
          "scales", [](const TensorInfo& info) { return info.quantization.scales; },
          "One scale, or one for each index of ``axis``; empty if the tensor is not quantized.")
      .def_prop_ro(
          "zero_points", [](const TensorInfo& info) { return info.quantization.zero_points; },
          "As many as scales.")
      .def_prop_ro(
          "axis", [](const TensorInfo& info) { return info.quantization.axis; },
          "The dimension that several scales belong to.")
      .def("__repr__", [](const TensorInfo& info) { return TextOf(info); });
}

void BindLayer(nb::module_& module) {
  using nn::LayerInfo;
  nb::class_<LayerInfo>(module, "Layer", "What was decided for one layer of a model.")
      .def_ro("name", &LayerInfo::label, "The layer's name in messages.")
      .def_ro("operator", &LayerInfo::operator_name, "What it computes: 'CONV_2D'.")
      .def_ro("routine", &LayerInfo::routine, "How it is computed: 'cpu:qint8/gemm'.")
      .def_ro("kernel", &LayerInfo::kernel, "The kernel of a layer that multiplies, else empty.")
      .def_ro("macs", &LayerInfo::macs, "Multiply-accumulates of one run.")
      .def_ro("work", &LayerInfo::work, "Steps of all kinds of one run, as Limits counts them.")
      .def_ro("constant_bytes", &LayerInfo::constant_bytes, "Packed weights, tables, multipliers.")
      .def_ro("scratch_bytes", &LayerInfo::scratch_bytes, "Memory in the arena while it runs.")
      .def("__repr__", [](const LayerInfo& layer) {
        return "<intaglio.Layer '" + layer.label + "' " + layer.routine +
               (layer.kernel.empty() ? "" : " " + layer.kernel) + ">";
      });
}

constexpr const char* kModelDoc =
    R"(A network, ready to run. load() makes one.

A model serves one caller at a time: calls from several threads wait for each other. share() gives
each thread a model of its own with the same weights. Runs release the GIL.

A model can be pickled and copied. What arrives is a new model with the same file, options and
shapes, and with fresh state. copy.deepcopy shares the weights.)";

constexpr const char* kRunDoc =
    R"(Runs the model and returns its outputs in new arrays.

``inputs`` is a dict of arrays by name, or a list of them in order. The answer has the same form.
Arrays have exactly the model's dtype and shape and are contiguous; they are read in place. Every
array of NumPy will do, and every other that has the buffer protocol, or DLPack in the host's
memory.)";

constexpr const char* kRunIntoDoc =
    R"(Runs the model and writes its outputs into arrays of the caller, in place.

``inputs`` and ``outputs`` are dicts of arrays by name, or lists in order. empty_outputs() makes
suitable outputs. Nothing is allocated. After an error of the run the outputs are undefined.)";

constexpr const char* kResizeDoc =
    R"(Gives inputs other shapes; all other shapes follow, as if the file had been read with these.

``shapes`` is a dict of shapes by name, of which inputs that do not change may be left out, or a
list in order, with None for them. If a shape does not fit, an error names the layer, and the model
stays as it was. State starts anew. Models that share() made before keep their shapes.)";

constexpr const char* kSignatureDoc =
    R"(Returns the model as a function of the names of one signature: f(image=x) runs it and returns
a dict of arrays. Without ``key``, the file's only signature.)";

constexpr const char* kProfileDoc =
    R"(Runs the model ``runs`` times and says where the time goes: the result has one line for each
layer. It prints as a table, is a picture in a notebook, and has plot() for Matplotlib. Without
``inputs`` the model runs on zeros. State goes on as with run().)";

void BindModel(nb::module_& module) {
  nb::class_<Model>(module, "Model", kModelDoc)
      .def_prop_ro(
          "name", [](const Model& model) { return model.origin().name; },
          "The path of the file, or the name that load() was given.")
      .def_prop_ro(
          "inputs", [](const Model& model) { return TupleOf(model, &Signature::inputs); },
          nb::sig("def inputs(self) -> tuple[Tensor, ...]"), "The inputs, in the model's order.")
      .def_prop_ro(
          "outputs", [](const Model& model) { return TupleOf(model, &Signature::outputs); },
          nb::sig("def outputs(self) -> tuple[Tensor, ...]"), "The outputs, in the model's order.")
      .def_prop_ro(
          "signatures",
          [](nb::handle self) {
            return nb::module_::import_("intaglio._signature").attr("names")(self);
          },
          nb::sig("def signatures(self) -> dict[str, dict[str, list[str]]]"),
          "The signatures of a .tflite file: for each key a dict of the lists 'inputs' and "
          "'outputs', which hold names.")
      .def_prop_ro("_signatures", &SignaturesOf,
                   nb::sig("def _signatures(self) -> list[tuple[str, dict[str, int], "
                           "dict[str, int]]]"))
      .def_prop_ro("layers", &LayersOf, nb::sig("def layers(self) -> tuple[Layer, ...]"),
                   "The layers, in the order in which they run.")
      .def_prop_ro("macs", &CountMacs, "Multiply-accumulates of one run.")
      .def_prop_ro(
          "arena_bytes",
          [](Model& model) {
            return model.Inspect([](const nn::Model& m) { return m.arena_bytes(); });
          },
          "The memory of all activations, planned before the first run.")
      .def_prop_ro(
          "constant_bytes",
          [](Model& model) {
            return model.Inspect([](const nn::Model& m) { return m.constant_bytes(); });
          },
          "Packed weights, tables and multipliers, which share() shares.")
      .def_prop_ro(
          "threads", [](const Model& model) { return model.origin().prepare.threads; },
          "The number of threads that run the layers, including the caller's.")
      .def_prop_ro(
          "plan_warnings", [](const Model& model) { return model.origin().plan_warnings; },
          "What did not fit of the plan that load() was given; empty: all of it did.")
      .def_prop_ro("closed", &Model::closed, "Whether close() was called.")
      .def("run", &Model::Run, nb::arg("inputs"),
           nb::sig("def run(self, inputs: typing.Any) -> typing.Any"), kRunDoc)
      .def("run_into", &Model::RunInto, nb::arg("inputs"), nb::arg("outputs"),
           nb::sig("def run_into(self, inputs: dict[str, typing.Any] | list[typing.Any] | "
                   "tuple[typing.Any, ...], outputs: dict[str, typing.Any] | list[typing.Any] | "
                   "tuple[typing.Any, ...]) -> None"),
           kRunIntoDoc)
      .def("empty_outputs", &Model::MakeOutputs,
           nb::sig("def empty_outputs(self) -> dict[str, numpy.ndarray]"),
           "New arrays for run_into, by name. Their elements are undefined.")
      .def("resize", &Model::Resize, nb::arg("shapes"),
           nb::sig("def resize(self, shapes: dict[str, tuple[int, ...]] | "
                   "list[tuple[int, ...] | None]) -> None"),
           kResizeDoc)
      .def("reset_state", &Model::ResetState,
           "Gives the variables of a recurrent network their first values, for a new sequence.")
      .def("close", &Model::Close,
           "Frees the memory and the threads of this model. Waits for a run of another thread.")
      .def("share", &Model::Share,
           "Makes another model with the same weights and an arena and threads of its own, for "
           "another thread. Its state is fresh.")
      .def(
          "signature",
          [](nb::handle self, nb::handle key) {
            return nb::module_::import_("intaglio._signature").attr("find")(self, key);
          },
          nb::arg("key") = nb::none(),
          nb::sig("def signature(self, key: str | None = None) -> "
                  "intaglio._signature.Signature"),
          kSignatureDoc)
      .def(
          "profile",
          [](nb::handle self, nb::handle inputs, int runs) {
            return nb::module_::import_("intaglio._profile").attr("measure")(self, inputs, runs);
          },
          nb::arg("inputs") = nb::none(), nb::arg("runs") = 20,
          nb::sig("def profile(self, inputs: dict[str, typing.Any] | list[typing.Any] | "
                  "tuple[typing.Any, ...] | None = None, runs: int = 20) -> "
                  "intaglio._profile.Profile"),
          kProfileDoc)
      .def(
          "__enter__", [](nb::object self) { return self; },
          nb::sig("def __enter__(self) -> Model"))
      .def(
          "__exit__", [](Model& model, const nb::args&) { model.Close(); },
          nb::sig("def __exit__(self, *_: object) -> None"))
      .def(
          "__deepcopy__", [](Model& model, nb::handle) { return model.Share(); }, nb::arg("memo"),
          nb::sig("def __deepcopy__(self, memo: object) -> Model"))
      .def("__copy__", &Model::Share, nb::sig("def __copy__(self) -> Model"))
      .def(
          "__reduce__",
          [](const Model& model) {
            return nb::make_tuple(nb::module_::import_("intaglio._load").attr("restore"),
                                  model.Pickled());
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def("_time_layers", &Model::TimeLayers, nb::arg("inputs"))
      .def("__repr__", [](const Model& model) { return TextOf(model); });
}

}  // namespace
}  // namespace intaglio::python

NB_MODULE(_core, module) {
  using namespace intaglio::python;
  // Objects that a daemon thread holds live longer than the interpreter.
  nanobind::set_leak_warnings(false);
  module.doc() = "The C++ part of the package intaglio.";
  BindTensor(module);
  BindLayer(module);
  BindModel(module);
  module.def("_load", &Load, nanobind::arg("source"), nanobind::arg("name"),
             nanobind::arg("options"),
             nanobind::sig("def _load(source: str | bytes, name: str, options: dict[str, "
                           "typing.Any]) -> Model"));
  module.def("_tune", &Tune, nanobind::arg("model"), nanobind::arg("seconds"),
             nanobind::arg("allow_float32"), nanobind::arg("max_error"), nanobind::arg("max_bytes"),
             nanobind::arg("inputs").none(), nanobind::arg("ranges"),
             nanobind::sig("def _tune(model: Model, seconds: float, allow_float32: bool, "
                           "max_error: float, max_bytes: int, inputs: typing.Any, ranges: str) -> "
                           "str"));
  module.def("_quantize", &Quantize, nanobind::arg("model"), nanobind::arg("open").none(),
             nanobind::arg("options"),
             nanobind::sig("def _quantize(model: Model, open: typing.Any, options: dict[str, "
                           "typing.Any]) -> dict[str, typing.Any]"));
  BindGemm(module);
  BindNetwork(module);
}
