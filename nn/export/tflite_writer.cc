#include "intaglio/nn/export/tflite_writer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "intaglio/nn/export/encode.h"
#include "intaglio/nn/export/tflite_version.h"
#include "intaglio/nn/replace_file.h"

namespace intaglio::nn {
namespace {

using flatbuffers::FlatBufferBuilder;
template <class T>
using Offset = flatbuffers::Offset<T>;
using Code = tflite::BuiltinOperator;

constexpr uint32_t kSchemaVersion = 3;
constexpr size_t kAlignment = 16;  // of constants, which runtimes read where they lie
// FlatBuffers' offsets end at 2 GiB, and its builder, which doubles its memory, does not check.
constexpr size_t kMaxBytes = size_t{1} << 30;
// Bounds what a tensor and a layer take beside data, names and vectors.
constexpr size_t kBytesPerTensor = 256;
constexpr size_t kBytesPerLayer = 512;

std::optional<Code> CodeNamed(std::string_view name) {
  for (const Code code : tflite::EnumValuesBuiltinOperator()) {
    if (name == tflite::EnumNameBuiltinOperator(code)) return code;
  }
  return std::nullopt;
}

// Kinds of operators, each once.
class Codes {
 public:
  uint32_t IndexOf(Code code, int version) {
    const std::pair<Code, int> wanted(code, version);
    const auto found = std::find(codes_.begin(), codes_.end(), wanted);
    const auto index = static_cast<uint32_t>(found - codes_.begin());
    if (found == codes_.end()) codes_.push_back(wanted);
    return index;
  }

  auto Write(FlatBufferBuilder& b) const {
    std::vector<Offset<tflite::OperatorCode>> offsets;
    for (const auto& [code, version] : codes_) {
      const auto byte = static_cast<int8_t>(std::min(static_cast<int>(code), 127));
      offsets.push_back(tflite::CreateOperatorCode(b, byte, 0, version, code));
    }
    return b.CreateVector(offsets);
  }

 private:
  std::vector<std::pair<Code, int>> codes_;
};

// What the file has of a layer before tensors have got their places in it.
struct EncodedLayer {
  uint32_t code = 0;
  std::vector<TensorId> inputs;
  tflite::BuiltinOptions options_type = tflite::BuiltinOptions::NONE;
  Offset<void> options = 0;
};

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  Result<std::vector<uint8_t>> Write() {
    INTAGLIO_RETURN_IF_ERROR(CheckSize());
    for (size_t i = 0; i < graph_.layers.size(); ++i) INTAGLIO_RETURN_IF_ERROR(EncodeLayer(i));
    PlaceTensors();
    const auto subgraph = WriteSubGraph();
    const auto subgraphs = b_.CreateVector(&subgraph, 1);
    const auto codes = codes_.Write(b_);
    const auto description = b_.CreateString(graph_.name);
    const auto buffers = b_.CreateVector(buffers_);
    b_.Finish(tflite::CreateModel(b_, kSchemaVersion, codes, subgraphs, description, buffers),
              tflite::ModelIdentifier());
    return std::vector<uint8_t>(b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize());
  }

 private:
  const Tensor& At(size_t id) const {
    const size_t old = graph_.tensors.size();
    return id < old ? graph_.tensors[id] : new_tensors_[id - old];
  }

  // Constants are in memory, so that this sum cannot overflow.
  Status CheckSize() const {
    size_t bytes = kBytesPerTensor * graph_.tensors.size() + graph_.name.size();
    for (const Tensor& tensor : graph_.tensors) {
      const size_t per_scale = sizeof(float) + sizeof(int64_t);
      bytes += tensor.data_bytes + tensor.name.size() +
               tensor.quantization.scales.size() * per_scale + tensor.shape.size() * sizeof(int);
    }
    for (const Layer& layer : graph_.layers) {
      bytes += kBytesPerLayer + (layer.inputs.size() + layer.outputs.size()) * sizeof(TensorId);
    }
    if (bytes < kMaxBytes) return {};
    return Unsupported("the model comes to about " + std::to_string(bytes) +
                       " bytes; files of less than 1 GiB are written");
  }

  Status EncodeLayer(size_t index) {
    const LayerView layer(graph_, index);
    Encoding e(layer, graph_.tensors.size(), b_, new_tensors_);
    INTAGLIO_RETURN_IF_ERROR(
        std::visit([&](const auto& op) { return Encode(op, e); }, layer.layer().op));
    const char* const name = e.code_name() != nullptr ? e.code_name() : NameOf(layer.layer().op);
    const std::optional<Code> code = CodeNamed(name);
    if (!code) return layer.Unsupported("the format has no operator of this name");
    layers_.push_back({codes_.IndexOf(*code, TfliteVersion(name, layer)), e.inputs(),
                       e.options_type(), e.options()});
    return {};
  }

  // Gives the tensors that are used their ids in the file, in the order of the graph.
  void PlaceTensors() {
    std::vector<bool> used(graph_.tensors.size() + new_tensors_.size());
    const auto use = [&](const std::vector<TensorId>& ids) {
      for (const TensorId id : ids) {
        if (id != kNoTensor) used[static_cast<size_t>(id)] = true;
      }
    };
    use(graph_.inputs);
    use(graph_.outputs);
    for (const EncodedLayer& layer : layers_) use(layer.inputs);
    for (const Layer& layer : graph_.layers) use(layer.outputs);
    place_.assign(used.size(), kNoTensor);
    for (size_t id = 0; id < used.size(); ++id) {
      if (!used[id]) continue;
      place_[id] = static_cast<TensorId>(placed_.size());
      placed_.push_back(id);
    }
  }

  auto WriteIds(const std::vector<TensorId>& ids) {
    std::vector<int32_t> placed;
    for (const TensorId id : ids) {
      placed.push_back(id == kNoTensor ? kNoTensor : place_[static_cast<size_t>(id)]);
    }
    return b_.CreateVector(placed);
  }

  Offset<tflite::SubGraph> WriteSubGraph() {
    buffers_.push_back(tflite::CreateBuffer(b_));  // number 0 is that of tensors without data
    std::vector<Offset<tflite::Tensor>> tensors;
    for (const size_t id : placed_) tensors.push_back(WriteTensor(At(id)));
    std::vector<Offset<tflite::Operator>> operators;
    for (size_t i = 0; i < layers_.size(); ++i) {
      const auto inputs = WriteIds(layers_[i].inputs);
      const auto outputs = WriteIds(graph_.layers[i].outputs);
      operators.push_back(tflite::CreateOperator(b_, layers_[i].code, inputs, outputs,
                                                 layers_[i].options_type, layers_[i].options));
    }
    const auto inputs = WriteIds(graph_.inputs);
    const auto outputs = WriteIds(graph_.outputs);
    const auto name = b_.CreateString("main");
    return tflite::CreateSubGraph(b_, b_.CreateVector(tensors), inputs, outputs,
                                  b_.CreateVector(operators), name);
  }

  uint32_t WriteData(const Tensor& tensor) {
    if (!tensor.constant || tensor.data_bytes == 0) return 0;
    b_.ForceVectorAlignment(tensor.data_bytes, 1, kAlignment);
    const auto data = b_.CreateVector(static_cast<const uint8_t*>(tensor.data), tensor.data_bytes);
    buffers_.push_back(tflite::CreateBuffer(b_, data));
    return static_cast<uint32_t>(buffers_.size()) - 1;
  }

  Offset<tflite::QuantizationParameters> WriteQuantization(const Quantization& q) {
    if (!q.quantized()) return 0;
    const auto scales = b_.CreateVector(q.scales);
    const std::vector<int64_t> wide(q.zero_points.begin(), q.zero_points.end());
    return tflite::CreateQuantizationParameters(b_, 0, 0, scales, b_.CreateVector(wide),
                                                tflite::QuantizationDetails::NONE, 0, q.axis);
  }

  Offset<tflite::Tensor> WriteTensor(const Tensor& tensor) {
    const uint32_t buffer = WriteData(tensor);
    const auto shape = b_.CreateVector(tensor.shape);
    const auto name = b_.CreateString(tensor.name);
    return tflite::CreateTensor(b_, shape, ToTflite(tensor.type), buffer, name,
                                WriteQuantization(tensor.quantization), tensor.variable, 0, 0,
                                true);
  }

  const Graph& graph_;
  FlatBufferBuilder b_;
  Codes codes_;
  std::vector<Tensor> new_tensors_;
  std::vector<EncodedLayer> layers_;
  std::vector<TensorId> place_;  // in the file, per tensor; kNoTensor: left out
  std::vector<size_t> placed_;   // the other way round
  std::vector<Offset<tflite::Buffer>> buffers_;
};

}  // namespace

Result<std::vector<uint8_t>> ExportTflite(const Graph& graph) try {
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  return Writer(graph).Write();
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory to write the model");
}

Status SaveTflite(const Graph& graph, const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = ExportTflite(graph);
  if (!bytes.ok()) return {bytes.status().code(), path + ": " + bytes.status().message()};
  return ReplaceFile(path, *bytes);
}

}  // namespace intaglio::nn
