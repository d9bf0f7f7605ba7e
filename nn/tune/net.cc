#include "intaglio/nn/tune/net.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace intaglio::nn::tune {
namespace {

constexpr double kMostNanoseconds = 1LL << 50;
constexpr double kMostBytes = 1LL << 62;  // or units of differences

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  return std::to_string(value);
}

int64_t UnitsOf(double nanoseconds) {
  return static_cast<int64_t>(std::llround(nanoseconds * kUnitsPerNanosecond));
}

std::string LayerName(int layer) { return "layer " + std::to_string(layer); }
std::string TensorName(int tensor) { return "tensor " + std::to_string(tensor); }

Status CheckSchema(int schema, const std::string& where) {
  if (schema >= 0) return {};
  return InvalidArgument(where + " has the schema " + std::to_string(schema) +
                         ", which is negative");
}

}  // namespace

Result<Net> Net::Make(const Problem& problem) {
  if (problem.tensors < 0) {
    return InvalidArgument("the problem has " + std::to_string(problem.tensors) + " tensors");
  }
  Net net(problem);
  net.writers_.assign(At(problem.tensors), kNoNode);
  net.readers_.resize(At(problem.tensors));
  INTAGLIO_RETURN_IF_ERROR(net.AddLayers());
  INTAGLIO_RETURN_IF_ERROR(net.CheckSums());
  INTAGLIO_RETURN_IF_ERROR(net.AddEnds());
  INTAGLIO_RETURN_IF_ERROR(net.AddAdapters());
  INTAGLIO_RETURN_IF_ERROR(net.CheckWriters());
  INTAGLIO_RETURN_IF_ERROR(net.CheckCycles());
  return net;
}

std::string Net::NameOf(int node) const {
  const int inputs = static_cast<int>(problem_->inputs.size());
  if (node < layers()) return LayerName(node);
  if (node < layers() + inputs) return "input " + std::to_string(node - layers());
  return "output " + std::to_string(node - layers() - inputs);
}

int64_t Net::CostOf(const Option& option) { return UnitsOf(option.nanoseconds); }

std::optional<int64_t> Net::CostOf(int tensor, int from, int to) const {
  if (from == to) return 0;
  const auto adapter = adapters_.find({tensor, from, to});
  if (adapter == adapters_.end()) return std::nullopt;
  return adapter->second;
}

Status Net::AddLayers() {
  for (int i = 0; i < layers(); ++i) {
    if (layer(i).options.empty()) return InvalidArgument(LayerName(i) + " has no options");
    std::vector<int> schemas;
    for (size_t k = 0; k < layer(i).options.size(); ++k) {
      INTAGLIO_RETURN_IF_ERROR(CheckOption(layer(i).options[k], i, k));
      schemas.push_back(layer(i).options[k].schema);
    }
    std::sort(schemas.begin(), schemas.end());
    schemas.erase(std::unique(schemas.begin(), schemas.end()), schemas.end());
    schemas_.push_back(std::move(schemas));
    for (const int tensor : layer(i).reads) INTAGLIO_RETURN_IF_ERROR(AddReader(tensor, i));
    for (const int tensor : layer(i).writes) INTAGLIO_RETURN_IF_ERROR(AddWriter(tensor, i));
  }
  return {};
}

Status Net::AddEnds() {
  for (const End& end : problem_->inputs) {
    const int node = nodes();
    INTAGLIO_RETURN_IF_ERROR(CheckSchema(end.schema, NameOf(node)));
    INTAGLIO_RETURN_IF_ERROR(AddWriter(end.tensor, node));
    schemas_.push_back({end.schema});
  }
  for (const End& end : problem_->outputs) {
    const int node = nodes();
    INTAGLIO_RETURN_IF_ERROR(CheckSchema(end.schema, NameOf(node)));
    INTAGLIO_RETURN_IF_ERROR(AddReader(end.tensor, node));
    schemas_.push_back({end.schema});
  }
  return {};
}

Status Net::AddAdapters() {
  for (size_t i = 0; i < problem_->adapters.size(); ++i) {
    const Adapter& adapter = problem_->adapters[i];
    const std::string name = "adapter " + std::to_string(i);
    if (adapter.tensor < 0 || adapter.tensor >= tensors()) {
      return InvalidArgument(name + " converts the unknown " + TensorName(adapter.tensor));
    }
    INTAGLIO_RETURN_IF_ERROR(CheckSchema(std::min(adapter.from, adapter.to), name));
    if (adapter.from == adapter.to) {
      return InvalidArgument(name + " converts " + TensorName(adapter.tensor) +
                             " from a schema to the same one");
    }
    if (std::isnan(adapter.nanoseconds) || adapter.nanoseconds < 0) {
      return InvalidArgument(name + " takes " + Number(adapter.nanoseconds) + " ns");
    }
    const bool possible = !std::isinf(adapter.nanoseconds);
    if (possible) nanoseconds_ += adapter.nanoseconds;
    INTAGLIO_RETURN_IF_ERROR(CheckSums());  // before a time that is too long becomes an integer
    const std::array<int, 3> key = {adapter.tensor, adapter.from, adapter.to};
    if (adapters_.contains(key)) {
      return InvalidArgument(name + " converts " + TensorName(adapter.tensor) +
                             " between the same schemas as one before it");
    }
    if (possible) adapters_[key] = UnitsOf(adapter.nanoseconds);
  }
  return {};
}

Status Net::AddWriter(int tensor, int node) {
  INTAGLIO_RETURN_IF_ERROR(CheckTensor(tensor, node));
  if (writers_[At(tensor)] != kNoNode) {
    return InvalidArgument(TensorName(tensor) + " is written by both " +
                           NameOf(writers_[At(tensor)]) + " and " + NameOf(node));
  }
  writers_[At(tensor)] = node;
  return {};
}

Status Net::AddReader(int tensor, int node) {
  INTAGLIO_RETURN_IF_ERROR(CheckTensor(tensor, node));
  std::vector<int>& readers = readers_[At(tensor)];
  if (readers.empty() || readers.back() != node) readers.push_back(node);
  return {};
}

Status Net::CheckTensor(int tensor, int node) const {
  if (tensor >= 0 && tensor < tensors()) return {};
  return InvalidArgument(NameOf(node) + " names the unknown " + TensorName(tensor));
}

Status Net::CheckOption(const Option& option, int layer, size_t index) {
  const std::string name = LayerName(layer) + ", option " + std::to_string(index);
  INTAGLIO_RETURN_IF_ERROR(CheckSchema(option.schema, name));
  if (!std::isfinite(option.nanoseconds) || option.nanoseconds < 0) {
    return InvalidArgument(name + " takes " + Number(option.nanoseconds) + " ns");
  }
  if (option.bytes < 0) {
    return InvalidArgument(name + " keeps " + std::to_string(option.bytes) + " bytes");
  }
  if (option.difference < 0) {
    return InvalidArgument(name + " has the difference " + std::to_string(option.difference));
  }
  nanoseconds_ += option.nanoseconds;
  difference_ += static_cast<double>(option.difference);
  bytes_ += static_cast<double>(option.bytes);
  return {};
}

Status Net::CheckSums() const {
  if (nanoseconds_ >= kMostNanoseconds) {
    return InvalidArgument("the times of all options and adapters come to 2^50 ns or more");
  }
  if (bytes_ >= kMostBytes) {
    return InvalidArgument("the bytes of all options come to 2^62 or more");
  }
  if (difference_ >= kMostBytes) {
    return InvalidArgument("the differences of all options come to 2^62 or more");
  }
  return {};
}

Status Net::CheckWriters() const {
  for (int t = 0; t < tensors(); ++t) {
    if (writer(t) == kNoNode && !readers(t).empty()) {
      return InvalidArgument(TensorName(t) + ", which " + NameOf(readers(t)[0]) +
                             " reads, is neither an input nor written by a layer");
    }
  }
  return {};
}

// Takes layers away whose tensors are all written, for as long as there are any (A. B. Kahn,
// "Topological sorting of large networks", 1962).
Status Net::CheckCycles() const {
  std::vector<int> missing(At(nodes()), 0);  // tensors that a node reads and that are not written
  for (int t = 0; t < tensors(); ++t) {
    for (const int reader : readers(t)) ++missing[At(reader)];
  }
  std::vector<std::vector<int>> written(At(nodes()));
  for (int t = 0; t < tensors(); ++t) {
    if (writer(t) != kNoNode) written[At(writer(t))].push_back(t);
  }
  std::vector<int> ready;
  for (int i = 0; i < nodes(); ++i) {
    if (missing[At(i)] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const int node = ready.back();
    ready.pop_back();
    for (const int t : written[At(node)]) {
      for (const int reader : readers(t)) {
        if (--missing[At(reader)] == 0) ready.push_back(reader);
      }
    }
  }
  for (int i = 0; i < layers(); ++i) {
    if (missing[At(i)] == 0) continue;
    return InvalidArgument(LayerName(i) + " is part of a cycle, or reads what one writes");
  }
  return {};
}

Result<Selection> Net::Complete(const std::vector<int>& options) const {
  Selection selection{options, {}};
  int64_t cost = 0;
  std::vector<int> schema;  // by node
  for (int i = 0; i < layers(); ++i) {
    const Option& option = layer(i).options[At(options[At(i)])];
    schema.push_back(option.schema);
    cost += CostOf(option);
    selection.bytes += option.bytes;
    selection.difference += option.difference;
  }
  for (int i = layers(); i < nodes(); ++i) schema.push_back(schemas(i)[0]);
  for (int t = 0; t < tensors(); ++t) {
    std::vector<int> read;  // the schemas in which the tensor is read
    for (const int reader : readers(t)) read.push_back(schema[At(reader)]);
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const int to : read) {
      const int from = schema[At(writer(t))];
      const std::optional<int64_t> copy = CostOf(t, from, to);
      if (!copy.has_value()) {
        return Unsupported("no adapter converts " + TensorName(t) + " from schema " +
                           std::to_string(from) + " to schema " + std::to_string(to));
      }
      cost += *copy;
      if (from != to) selection.copies.push_back({t, from, to});
    }
  }
  selection.nanoseconds = static_cast<double>(cost) / kUnitsPerNanosecond;
  return selection;
}

}  // namespace intaglio::nn::tune
