#include "intaglio/nn/quantize/quantize.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <exception>
#include <utility>

#include "intaglio/bindings/python/src/array.h"
#include "intaglio/bindings/python/src/errors.h"
#include "intaglio/bindings/python/src/gil.h"
#include "intaglio/bindings/python/src/model.h"
#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/save.h"

namespace intaglio::python {
namespace {

namespace nb = nanobind;
namespace quantize = nn::quantize;

// Calls of Python from threads that lack the GIL. An exception is kept until the caller has the GIL
// again; until then, there is an error in its place.
class Callbacks {
 public:
  Callbacks(nb::handle open, nb::handle progress, std::shared_ptr<const Signature> signature)
      : open_(nb::borrow(open)),
        progress_(nb::borrow(progress)),
        signature_(std::move(signature)) {}

  quantize::OpenSamples Opener() {
    return [this]() -> Result<quantize::NextSample> {
      const Status status = Try([&] { iterator_ = open_(); });
      if (!status.ok()) return status;
      return quantize::NextSample([this](quantize::InputBytes& inputs) { return Next(inputs); });
    };
  }

  void Progress(const char* done, size_t samples) {
    if (progress_.is_none()) return;
    const Status status = Try([&] { progress_(done, samples); });
    static_cast<void>(status);  // the next sample fails
  }

  // Needs the GIL.
  void RaiseAgain() {
    if (raised_ != nullptr) std::rethrow_exception(std::exchange(raised_, nullptr));
  }

 private:
  template <class Function>
  Status Try(const Function& function) {
    if (raised_ != nullptr) return InvalidArgument("Python raised an exception");
    const nb::gil_scoped_acquire acquire;
    try {
      function();
      return {};
    } catch (...) {
      raised_ = std::current_exception();
      return InvalidArgument("Python raised an exception");
    }
  }

  Result<bool> Next(quantize::InputBytes& inputs) {
    bool more = false;
    const Status status = Try([&] {
      const nb::object sample = nb::steal(PyIter_Next(iterator_.ptr()));
      if (!sample.is_valid() && PyErr_Occurred() != nullptr) throw nb::python_error();
      more = sample.is_valid();
      if (more) Copy(nb::cast<nb::list>(sample), inputs);
    });
    if (!status.ok()) return status;
    return more;
  }

  void Copy(const nb::list& arrays, quantize::InputBytes& inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorInfo& info = signature_->inputs[i];
      const ArrayName name{"input", &info.name};
      ArrayView view;
      view.Open(arrays[i], Access::kRead, name);
      view.Require(info.type, info.dimensions, name);
      if (!inputs[i].empty()) std::memcpy(inputs[i].data(), view.data(), inputs[i].size());
    }
  }

  nb::object open_;
  nb::object progress_;
  std::shared_ptr<const Signature> signature_;
  nb::object iterator_;
  std::exception_ptr raised_;
};

template <class T>
T Get(const nb::dict& options, const char* key) {
  return nb::cast<T>(options[key]);
}

std::optional<Type> InterfaceOf(const std::string& name) {
  for (const Type type : {Type::kInt8, Type::kUInt8, Type::kInt16}) {
    if (name == NameOf(type)) return type;
  }
  if (name != "float32") {
    Raise("ArgumentError", "io: float32, int8, uint8 or int16, not '" + name + "'");
  }
  return {};
}

quantize::Options OptionsOf(const nb::dict& from, nn::Format format, const Origin& origin) {
  quantize::Options options;
  if (format == nn::Format::kOnnx) options.form = quantize::Form::kPairs;
  RaiseIfError(quantize::SetBits(Get<std::string>(from, "bits"), options), "ArgumentError");
  const Result<quantize::Method> method = quantize::MethodByName(Get<std::string>(from, "method"));
  RaiseIfError(method.status(), "ArgumentError");
  options.observer.method = *method;
  Result<quantize::Recipe> recipe = quantize::ParseRecipe(Get<std::string>(from, "recipe"));
  RaiseIfError(recipe.status(), "ArgumentError");
  options.recipe = std::move(*recipe);
  for (const std::string& pattern : Get<std::vector<std::string>>(from, "keep_float")) {
    options.recipe.rules.push_back({.layers = pattern, .keep_float = true});
  }
  options.interface = InterfaceOf(Get<std::string>(from, "io"));
  options.layer.per_channel = Get<bool>(from, "per_channel");
  options.equalize = Get<bool>(from, "equalize");
  options.smooth = Get<bool>(from, "smooth");
  options.learn_rounding = Get<bool>(from, "learn_rounding");
  options.correct_bias = Get<bool>(from, "correct_bias");
  if (!from["max_drop"].is_none()) {
    options.goal = quantize::Goal{.most_drop = Get<double>(from, "max_drop"),
                                  .labels = Get<std::vector<int32_t>>(from, "labels")};
  }
  if (!from["min_sqnr"].is_none()) {
    options.goal = quantize::Goal{.least_sqnr = Get<double>(from, "min_sqnr")};
  }
  options.threads = origin.prepare.threads;
  options.limits = origin.prepare.limits;
  return options;
}

// All that is made without the GIL.
struct Made {
  Status status;
  quantize::Network network;
  std::vector<uint8_t> file;
  std::optional<quantize::Report> report;
  quantize::Agreement agreement;
};

struct Wishes {
  nn::Format format;
  size_t report_samples;
  bool has_samples;
};

// Writes the file, and compares what is read back from it.
Status MakeFile(const Origin& origin, const Wishes& wishes, const quantize::OpenSamples& open,
                const quantize::Options& options, Made& made) {
  Result<std::vector<uint8_t>> file =
      nn::ExportGraph(made.network.quantized.graph, wishes.format, {{}, origin.signatures});
  if (!file.ok()) return file.status();
  made.file = std::move(*file);
  if (!wishes.has_samples) return {};
  const auto copy = std::make_shared<const std::vector<uint8_t>>(made.file);
  Result<nn::Graph> read_back =
      nn::ImportGraph(*copy, copy, origin.name, wishes.format, {.limits = origin.load.limits});
  if (!read_back.ok()) return read_back.status();
  Result<quantize::Agreement> agreement =
      quantize::AgreementOf(made.network, std::move(*read_back), open, options);
  if (!agreement.ok()) return agreement.status();
  made.agreement = std::move(*agreement);
  return {};
}

Status MakeAll(nn::Graph graph, const Origin& origin, const Wishes& wishes,
               const quantize::OpenSamples& open, const quantize::Options& options, Made& made) {
  Result<quantize::Network> network =
      quantize::Quantize(std::move(graph), wishes.has_samples ? open : nullptr, options);
  if (!network.ok()) return network.status();
  made.network = std::move(*network);
  INTAGLIO_RETURN_IF_ERROR(MakeFile(origin, wishes, open, options, made));
  if (wishes.report_samples == 0 || made.network.rules.form == quantize::Form::kDynamic) return {};
  Result<quantize::Report> report =
      quantize::ReportOn(made.network, open, options, wishes.report_samples);
  if (!report.ok()) return report.status();
  made.report = std::move(*report);
  return {};
}

nb::dict Answer(const Made& made, const Wishes& wishes, const std::string& name) {
  nb::dict answer;
  answer["format"] = nn::ExtensionOf(wishes.format);
  answer["data"] = nb::bytes(made.file.data(), made.file.size());
  answer["samples"] = made.network.samples;
  nb::list layers;
  for (const quantize::Outcome& layer : made.network.quantized.layers) {
    layers.append(
        nb::make_tuple(layer.label, layer.quantized, layer.quantized ? layer.note : layer.reason));
  }
  answer["layers"] = layers;
  nb::list outputs;
  for (const quantize::OutputAgreement& output : made.agreement.outputs) {
    outputs.append(nb::make_tuple(output.name, output.similarity.Sqnr(), output.similarity.Cosine(),
                                  output.same_place, made.agreement.samples));
  }
  answer["outputs"] = outputs;
  nb::list changes;
  if (made.network.search.has_value()) {
    for (const quantize::Change& change : made.network.search->changes) {
      changes.append(nb::make_tuple(change.label, change.change));
    }
  }
  answer["changes"] = changes;
  answer["report"] = made.report.has_value() ? ToJson(*made.report, name) : std::string();
  return answer;
}

}  // namespace

nb::dict Quantize(Model& model, nb::handle open, const nb::dict& options) {
  const Origin& origin = model.origin();
  if (origin.has_plan) Raise("ArgumentError", "the model was loaded with a plan");
  nn::Graph graph = model.Inspect([](const nn::Model& prepared) { return prepared.graph(); });
  const auto format = Get<std::string>(options, "format");
  Wishes wishes = {origin.format, Get<size_t>(options, "report_samples"), !open.is_none()};
  if (!format.empty()) {
    wishes.format = format == "onnx" ? nn::Format::kOnnx : nn::Format::kTflite;
  }
  quantize::Options chosen = OptionsOf(options, wishes.format, origin);
  Callbacks callbacks(open, options["progress"], model.signature());
  chosen.progress = [&](const char* done, size_t samples) { callbacks.Progress(done, samples); };
  Made made;
  {
    const GilRelease release;
    made.status = MakeAll(std::move(graph), origin, wishes, callbacks.Opener(), chosen, made);
  }
  callbacks.RaiseAgain();
  RaiseIfError(made.status, "ArgumentError");
  return Answer(made, wishes, origin.name);
}

}  // namespace intaglio::python
