#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "intaglio/bindings/python/src/errors.h"
#include "intaglio/bindings/python/src/gil.h"
#include "intaglio/bindings/python/src/model.h"
#include "intaglio/nn/cuda/device_named.h"
#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/tune/plan.h"

namespace intaglio::python {
namespace {

namespace nb = nanobind;

// Keeps a Python object alive from C++. The last copy may go without the GIL, or after the
// interpreter.
std::shared_ptr<const void> KeepAlive(nb::handle object) {
  return {object.inc_ref().ptr(), [](PyObject* kept) {
            if (Py_IsInitialized() == 0) return;
            const nb::gil_scoped_acquire acquire;
            Py_DecRef(kept);
          }};
}

// As the system takes it: it need not be UTF-8.
std::string PathOf(nb::handle path) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &encoded) == 0) throw nb::python_error();
  const auto bytes = nb::steal<nb::bytes>(encoded);
  return {bytes.c_str(), bytes.size()};
}

std::string FolderOf(const std::string& path) {
  const size_t end = path.rfind('/');
  return end == std::string::npos ? "." : path.substr(0, end + 1);
}

template <class T>
T Get(const nb::dict& options, const char* key) {
  return nb::cast<T>(options[key]);
}

nn::Limits LimitsOf(const nb::dict& options) {
  return {Get<size_t>(options, "max_bytes"), Get<int64_t>(options, "max_work"),
          Get<int64_t>(options, "max_rounds")};
}

// Tuples of a name, a dtype, a shape and the elements.
std::vector<nn::InputConstant> ConstantsOf(const nb::list& tuples) {
  constexpr Type kTypes[] = {Type::kInt8,  Type::kUInt8,   Type::kInt16, Type::kInt32,
                             Type::kInt64, Type::kFloat32, Type::kBool,  Type::kUInt16};
  std::vector<nn::InputConstant> constants;
  for (const nb::handle each : tuples) {
    const auto tuple = nb::cast<nb::tuple>(each);
    nn::InputConstant constant;
    constant.name = nb::cast<std::string>(tuple[0]);
    const auto dtype = nb::cast<std::string>(tuple[1]);
    const auto* const type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                          [&](Type known) { return dtype == NameOf(known); });
    if (type == std::end(kTypes)) {
      Raise("DtypeError", "constants['" + constant.name + "']: no model takes the dtype " + dtype);
    }
    constant.type = *type;
    constant.shape = nb::cast<nn::Shape>(tuple[2]);
    const auto bytes = nb::cast<nb::bytes>(tuple[3]);
    const auto* const data = static_cast<const uint8_t*>(bytes.data());
    constant.bytes.assign(data, data + bytes.size());
    constants.push_back(std::move(constant));
  }
  return constants;
}

nn::LoadOptions LoadOptionsOf(const nb::dict& options) {
  nn::LoadOptions load;
  load.limits = LimitsOf(options);
  load.input_shapes = Get<std::vector<nn::Shape>>(options, "input_shapes");
  load.external_data_folder = PathOf(options["external_data"]);
  load.copy_file = Get<bool>(options, "copy_file");
  load.ort_fused = Get<bool>(options, "ort_fused");
  load.nhwc_inputs = Get<bool>(options, "nhwc_inputs");
  load.float64_as_float32 = Get<bool>(options, "float64_as_float32");
  load.constants = ConstantsOf(Get<nb::list>(options, "constants"));
  load.without_passes = Get<std::vector<std::string>>(options, "without_passes");
  return load;
}

std::shared_ptr<const nn::Backend> DeviceOf(const nb::dict& options) {
  const auto name = Get<std::string>(options, "device");
  if (name.empty()) return nullptr;
  Result<std::shared_ptr<const nn::Backend>> device = nn::DeviceNamed(name);
  RaiseIfError(device.status(), "LoadError");
  return std::move(*device);
}

nn::PrepareOptions PrepareOptionsOf(const nb::dict& options) {
  nn::PrepareOptions prepare;
  prepare.device = DeviceOf(options);
  prepare.limits = LimitsOf(options);
  prepare.threads = Get<int>(options, "threads");
  prepare.kernel = Get<std::string>(options, "kernel");
  prepare.integer_only = Get<bool>(options, "integer_only");
  if (Get<bool>(options, "unfused_sums")) prepare.float_sums = nn::FloatSums::kUnfused;
  for (const auto [layer, routine] : Get<nb::dict>(options, "routines")) {
    prepare.routines.push_back({nb::cast<std::string>(layer), nb::cast<std::string>(routine)});
  }
  return prepare;
}

// Takes the network and the choices of a plan.
Status TakePlan(const std::string& text, nn::Graph& graph, Origin& origin) {
  const Result<nn::tune::Plan> plan = nn::tune::ParsePlan(text);
  if (!plan.ok()) return plan.status();
  Result<nn::tune::Replay> replay = nn::tune::ReplayOf(*plan, graph, origin.prepare);
  if (!replay.ok()) return replay.status();
  graph = std::move(replay->graph);
  origin.prepare.routines = std::move(replay->choices);
  origin.plan_warnings = std::move(replay->warnings);
  return {};
}

// Fills in the bytes.
void Open(nb::handle source, Origin& origin) {
  if (nb::isinstance<nb::bytes>(source)) {
    const auto bytes = nb::borrow<nb::bytes>(source);
    origin.bytes = {static_cast<const uint8_t*>(bytes.data()), bytes.size()};
    origin.owner = KeepAlive(source);
    return;
  }
  const std::string path = PathOf(source);
  Result<nn::MappedFile> file = InvalidArgument("");
  {
    const GilRelease release;
    file = origin.load.copy_file ? nn::ReadWholeFile(path) : nn::MapFile(path);
  }
  if (!file.ok()) {
    RaiseIfError({file.status().code(), path + ": " + file.status().message()}, "LoadError");
  }
  origin.bytes = file->bytes;
  origin.owner = file->owner;
  if (origin.load.external_data_folder.empty()) origin.load.external_data_folder = FolderOf(path);
}

}  // namespace

std::unique_ptr<Model> Load(nb::handle source, const std::string& name, const nb::dict& options) {
  auto origin = std::make_shared<Origin>();
  origin->name = name;
  origin->load = LoadOptionsOf(options);
  origin->prepare = PrepareOptionsOf(options);
  origin->options = options;
  Open(source, *origin);
  origin->format = nn::FormatOfBytes(origin->bytes);
  const std::string plan = Get<std::string>(options, "plan");
  origin->has_plan = !plan.empty();
  Result<nn::Graph> graph = InvalidArgument("");
  Result<nn::Model> model = InvalidArgument("");
  Status planned;
  nn::LoadOptions load = origin->load;
  load.signatures = &origin->signatures;
  {
    const GilRelease release;
    graph = nn::ImportGraph(origin->bytes, origin->owner, name, origin->format, load);
    if (graph.ok() && origin->has_plan) planned = TakePlan(plan, *graph, *origin);
    if (graph.ok() && planned.ok()) {
      model = nn::Model::Prepare(std::move(*graph), origin->prepare);
    }
  }
  RaiseIfError(graph.status(), "LoadError");
  RaiseIfError(planned, "LoadError");
  if (!model.ok()) {
    RaiseIfError({model.status().code(), name + ": " + model.status().message()}, "LoadError");
  }
  return std::make_unique<Model>(std::move(origin), std::move(*model));
}

}  // namespace intaglio::python
