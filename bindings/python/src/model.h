// A model as Python sees it.
#ifndef INTAGLIO_BINDINGS_PYTHON_SRC_MODEL_H_
#define INTAGLIO_BINDINGS_PYTHON_SRC_MODEL_H_

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/bindings/python/src/array.h"
#include "intaglio/bindings/python/src/caller_lock.h"
#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::python {

// An input or an output.
struct TensorInfo {
  std::string name;
  nanobind::object key;  // the name
  Type type = Type::kInt8;
  std::vector<int> dimensions;
  size_t bytes = 0;
  nn::Quantization quantization;
  ArrayMaker maker;
};

// Inputs and outputs as they are between two changes of shape.
struct Signature {
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
};

// What a model was made of, which all its instances share: enough to make it again elsewhere.
struct Origin {
  std::string name;
  nn::Format format = nn::Format::kTflite;
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
  nn::LoadOptions load;
  nn::PrepareOptions prepare;
  nanobind::object options;  // the arguments of load(), for pickle
  std::vector<nn::Signature> signatures;
  bool has_plan = false;
  std::vector<std::string> plan_warnings;
};

// All methods need the GIL. Those that read a file, prepare, or run release it meanwhile.
class Model {
 public:
  Model(std::shared_ptr<const Origin> origin, nn::Model model);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // A dict of arrays by name, or a list of arrays in order; the answer has the same form.
  nanobind::object Run(nanobind::handle inputs);
  void RunInto(nanobind::handle inputs, nanobind::handle outputs);
  nanobind::dict MakeOutputs() const;
  // Runs and returns the nanoseconds of each layer.
  std::vector<int64_t> TimeLayers(nanobind::handle inputs);
  // The bytes of the inputs that Run would take.
  std::vector<std::vector<uint8_t>> CopyInputs(nanobind::handle inputs) const;

  std::unique_ptr<Model> Share();
  void Resize(nanobind::handle shapes);
  void ResetState();
  void Close();

  bool closed() const { return !model_; }
  const Origin& origin() const { return *origin_; }
  // Whoever makes objects of Python from it keeps it: their making may run code that resizes.
  std::shared_ptr<const Signature> signature() const { return signature_; }
  // What read(const nn::Model&) makes of the prepared model, which changes only between two calls.
  template <class Read>
  auto Inspect(Read read) {
    CheckOpen();
    const CallerGuard guard(lock_);
    CheckOpen();
    return read(std::as_const(*model_));
  }
  // The arguments of restore() in intaglio/_restore.py.
  nanobind::tuple Pickled() const;

 private:
  using Views = Few<ArrayView>;
  static void OpenAll(nanobind::handle arrays, const std::vector<TensorInfo>& infos, Access access,
                      Views& views);
  // On arrays that fit `signature`.
  void RunOn(const Signature& signature, Views& inputs, Views& outputs,
             std::span<std::chrono::nanoseconds> times = {});
  // Raises ClosedError if the model is closed.
  void CheckOpen() const;

  std::shared_ptr<const Origin> origin_;
  std::shared_ptr<const Signature> signature_;
  std::optional<nn::Model> model_;
  CallerLock lock_;
};

// Reads the file at `source`, a str, or the file in memory that `source`, a bytes, holds. `options`
// holds all arguments of load() (intaglio/_load.py) by name.
std::unique_ptr<Model> Load(nanobind::handle source, const std::string& name,
                            const nanobind::dict& options);

// Makes a plan, as JSON, for a model that was loaded without one. Releases the GIL meanwhile.
std::string Tune(Model& model, double seconds, bool allow_float32, double max_error,
                 size_t max_bytes, nanobind::handle inputs, const std::string& ranges);

// Makes a network of integers of a model's. `open` is called for each pass over the samples and
// returns an iterator of lists of arrays, one for each input. `options` holds the arguments of
// quantize() (intaglio/_quantize.py) by name. Returns a dict of all that quantize() says. Releases
// the GIL meanwhile.
nanobind::dict Quantize(Model& model, nanobind::handle open, const nanobind::dict& options);

}  // namespace intaglio::python

#endif  // INTAGLIO_BINDINGS_PYTHON_SRC_MODEL_H_
