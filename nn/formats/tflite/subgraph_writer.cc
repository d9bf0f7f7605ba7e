#include "intaglio/nn/formats/tflite/subgraph_writer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "intaglio/nn/formats/tflite/custom.h"
#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/formats/tflite/variables.h"

namespace intaglio::nn {
namespace {

using flatbuffers::FlatBufferBuilder;
template <class T>
using Offset = flatbuffers::Offset<T>;
using tflite::BuiltinOperator;

constexpr size_t kAlignment = 16;  // runtimes read constants in place

constexpr size_t kMaxBytes = size_t{1} << 30;
// Bytes besides data, names and vectors.
constexpr size_t kBytesPerTensor = 256;
constexpr size_t kBytesPerLayer = 512;

class SubgraphWriter {
 public:
  SubgraphWriter(size_t index, FileParts& file)
      : index_(index), graph_(file.subgraphs.At(index)), file_(file), parts_{file.builder,
                                                                             file.subgraphs,
                                                                             graph_.tensors.size(),
                                                                             {},
                                                                             {},
                                                                             {}} {}

  Result<Offset<tflite::SubGraph>> Write() {
    INTAGLIO_RETURN_IF_ERROR(AddResources());
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      INTAGLIO_RETURN_IF_ERROR(CheckRoom(kBytesPerLayer));
      INTAGLIO_RETURN_IF_ERROR(EncodeLayer(i));
    }
    PlaceTensors();
    return WriteAll();
  }

 private:
  // Called before each part is written, because no estimate includes what encodings add.
  Status CheckRoom(size_t more) const { return CheckSize(file_.builder.GetSize() + more); }

  const Tensor& At(size_t id) const {
    const size_t old = graph_.tensors.size();
    return id < old ? graph_.tensors[id] : parts_.new_tensors[id - old];
  }
  // The first new tensors are the handles.
  bool IsHandle(size_t id) const {
    const size_t old = graph_.tensors.size();
    return id >= old && id - old < parts_.handles.size();
  }

  // Adds the operators that give variables their first values, and those that make handles of
  // names.
  Status AddResources() {
    const Result<std::vector<ResourceVariable>> resources = FindResources(graph_);
    if (!resources.ok()) return resources.status();
    Graph first_values = MakeFirstValues(graph_, *resources);
    if (!first_values.layers.empty()) CallOnce(file_.subgraphs.Add(std::move(first_values)));
    for (const ResourceVariable& resource : *resources) {
      INTAGLIO_RETURN_IF_ERROR(CheckRoom(kBytesPerLayer + resource.name.size()));
      MakeHandle(resource);
    }
    return {};
  }

  void CallOnce(int32_t subgraph) {
    EncodedOperator op;
    op.name = "CALL_ONCE";
    op.options_type = tflite::BuiltinOptions::CallOnceOptions;
    op.options = tflite::CreateCallOnceOptions(file_.builder, subgraph).Union();
    operators_.push_back(std::move(op));
  }

  void MakeHandle(const ResourceVariable& resource) {
    Tensor tensor;
    tensor.name = resource.name;
    parts_.new_tensors.push_back(std::move(tensor));
    const auto handle = static_cast<TensorId>(graph_.tensors.size() + parts_.handles.size());
    parts_.handles[resource.variable] = handle;
    const auto container = file_.builder.CreateString("");
    const auto name = file_.builder.CreateString(resource.name);
    EncodedOperator op;
    op.name = "VAR_HANDLE";
    op.outputs = {handle};
    op.options_type = tflite::BuiltinOptions::VarHandleOptions;
    op.options = tflite::CreateVarHandleOptions(file_.builder, container, name).Union();
    operators_.push_back(std::move(op));
  }

  Status Encode(Encoding& e) const {
    const Operator& op = e.layer().layer().op;
    if (const auto* const custom = FindCustom(file_.custom_operators, op); custom != nullptr) {
      return WriteCustom(*custom, e);
    }
    const TfliteRow* const row = FindRow([&](const TfliteRow& r) { return r.op == &op.row(); });
    if (row == nullptr) return e.layer().Unsupported("the format has no such operator");
    return row->write == nullptr ? Status() : row->write(e);
  }

  Status EncodeLayer(size_t index) {
    Encoding e(LayerView(graph_, index), parts_);
    const OperatorRow& row = e.layer().layer().op.row();
    const Numerics own = row.numerics == nullptr ? Numerics() : row.numerics(e.layer());
    if (e.layer().numerics() != own) {
      return e.layer().Unsupported("the format rounds its sums in another way");
    }
    INTAGLIO_RETURN_IF_ERROR(Encode(e));
    for (EncodedOperator& op : e.Finish()) operators_.push_back(std::move(op));
    return {};
  }

  // Gives the tensors that are used their ids in the file, in the order of the graph.
  void PlaceTensors() {
    std::vector<bool> used(graph_.tensors.size() + parts_.new_tensors.size());
    const auto use = [&](const std::vector<TensorId>& ids) {
      for (const TensorId id : ids) {
        if (id != kNoTensor) used[static_cast<size_t>(id)] = true;
      }
    };
    use(graph_.inputs);
    use(graph_.outputs);
    for (const EncodedOperator& op : operators_) {
      use(op.inputs);
      use(op.outputs);
      use(op.intermediates);
    }
    place_.assign(used.size(), kNoTensor);
    for (size_t id = 0; id < used.size(); ++id) {
      if (!used[id]) continue;
      place_[id] = static_cast<TensorId>(placed_.size());
      placed_.push_back(id);
    }
  }

  std::vector<int32_t> Placed(const std::vector<TensorId>& ids) const {
    std::vector<int32_t> placed;
    for (const TensorId id : ids) {
      placed.push_back(id == kNoTensor ? kNoTensor : place_[static_cast<size_t>(id)]);
    }
    return placed;
  }

  auto WriteIds(const std::vector<TensorId>& ids) {
    return file_.builder.CreateVector(Placed(ids));
  }

  Result<Offset<tflite::SubGraph>> WriteAll() {
    FlatBufferBuilder& b = file_.builder;
    std::vector<Offset<tflite::Tensor>> tensors;
    for (const size_t id : placed_) {
      INTAGLIO_RETURN_IF_ERROR(CheckRoom(BytesOf(At(id))));
      tensors.push_back(WriteTensor(id));
    }
    std::vector<Offset<tflite::Operator>> operators;
    for (const EncodedOperator& op : operators_) {
      INTAGLIO_RETURN_IF_ERROR(CheckRoom(BytesOfOperator(op.inputs.size() + op.outputs.size())));
      operators.push_back(WriteOperator(op));
    }
    if (index_ == 0) {
      INTAGLIO_RETURN_IF_ERROR(CheckRoom(BytesOf(file_.signatures)));
      file_.written_signatures =
          WriteSignatures(file_.signatures, Placed(graph_.inputs), Placed(graph_.outputs), b);
    }
    const auto inputs = WriteIds(graph_.inputs);
    const auto outputs = WriteIds(graph_.outputs);
    const auto name = b.CreateString(index_ == 0 ? "main" : "graph_" + std::to_string(index_));
    return tflite::CreateSubGraph(b, b.CreateVector(tensors), inputs, outputs,
                                  b.CreateVector(operators), name);
  }

  Offset<tflite::Operator> WriteOperator(const EncodedOperator& op) {
    const uint32_t code = file_.codes.IndexOf(op.name, op.version);
    const auto inputs = WriteIds(op.inputs);
    const auto outputs = WriteIds(op.outputs);
    Offset<flatbuffers::Vector<int32_t>> intermediates = 0;
    if (!op.intermediates.empty()) intermediates = WriteIds(op.intermediates);
    return tflite::CreateOperator(file_.builder, code, inputs, outputs, op.options_type, op.options,
                                  op.custom_options, 0, 0, intermediates);
  }

  uint32_t WriteData(const Tensor& tensor) {
    if (!tensor.constant || tensor.data_bytes == 0) return 0;
    FlatBufferBuilder& b = file_.builder;
    b.ForceVectorAlignment(tensor.data_bytes, 1, kAlignment);
    const auto data = b.CreateVector(static_cast<const uint8_t*>(tensor.data), tensor.data_bytes);
    file_.buffers.push_back(tflite::CreateBuffer(b, data));
    return static_cast<uint32_t>(file_.buffers.size()) - 1;
  }

  Offset<tflite::QuantizationParameters> WriteQuantization(const Quantization& q) {
    if (!q.quantized()) return 0;
    FlatBufferBuilder& b = file_.builder;
    const auto scales = b.CreateVector(q.scales);
    const std::vector<int64_t> wide(q.zero_points.begin(), q.zero_points.end());
    return tflite::CreateQuantizationParameters(b, 0, 0, scales, b.CreateVector(wide),
                                                tflite::QuantizationDetails::NONE, 0, q.axis);
  }

  Offset<tflite::Tensor> WriteTensor(size_t id) {
    const Tensor& tensor = At(id);
    const tflite::TensorType type =
        IsHandle(id) ? tflite::TensorType::RESOURCE : ToTflite(tensor.type);
    const uint32_t buffer = WriteData(tensor);
    const auto shape = file_.builder.CreateVector(tensor.shape);
    const auto name = file_.builder.CreateString(tensor.name);
    const auto quantization = WriteQuantization(tensor.quantization);
    Offset<flatbuffers::Vector<int32_t>> signature = 0;
    if (parts_.open.contains(static_cast<TensorId>(id))) {
      signature = file_.builder.CreateVector(std::vector<int32_t>(tensor.shape.size(), -1));
    }
    return tflite::CreateTensor(file_.builder, shape, type, buffer, name, quantization,
                                tensor.variable, 0, signature, true);
  }

  const size_t index_;
  const Graph& graph_;
  FileParts& file_;
  EncodingParts parts_;
  std::vector<EncodedOperator> operators_;
  std::vector<TensorId> place_;  // per tensor: its id in the file, or kNoTensor if left out
  std::vector<size_t> placed_;   // the reverse mapping
};

}  // namespace

BuiltinOperator CodeNamed(std::string_view name) {
  for (const BuiltinOperator code : tflite::EnumValuesBuiltinOperator()) {
    if (name == tflite::EnumNameBuiltinOperator(code)) return code;
  }
  return BuiltinOperator::CUSTOM;
}

uint32_t OperatorCodes::IndexOf(const std::string& name, int version) {
  const Code wanted{name, version};
  const auto found = std::find(codes_.begin(), codes_.end(), wanted);
  const auto index = static_cast<uint32_t>(found - codes_.begin());
  if (found == codes_.end()) codes_.push_back(wanted);
  return index;
}

Offset<flatbuffers::Vector<Offset<tflite::OperatorCode>>> OperatorCodes::Write(
    FlatBufferBuilder& b) const {
  std::vector<Offset<tflite::OperatorCode>> offsets;
  for (const Code& code : codes_) {
    const BuiltinOperator builtin = CodeNamed(code.name);
    const auto byte = static_cast<int8_t>(std::min(static_cast<int>(builtin), 127));
    Offset<flatbuffers::String> custom = 0;
    if (builtin == BuiltinOperator::CUSTOM) custom = b.CreateString(code.name);
    offsets.push_back(tflite::CreateOperatorCode(b, byte, custom, code.version, builtin));
  }
  return b.CreateVector(offsets);
}

size_t BytesOf(const Tensor& tensor) {
  const size_t per_scale = sizeof(float) + sizeof(int64_t);
  const size_t state =
      tensor.variable ? std::min(*CountBytes(tensor.shape, tensor.type), kMaxBytes) : 0;
  return kBytesPerTensor + state + tensor.data_bytes + tensor.name.size() +
         tensor.quantization.scales.size() * per_scale + tensor.shape.size() * sizeof(int);
}

size_t BytesOfOperator(size_t tensors) { return kBytesPerLayer + tensors * sizeof(TensorId); }

Status CheckSize(size_t bytes) {
  if (bytes < kMaxBytes) return {};
  return Unsupported("the model comes to about " + std::to_string(bytes) +
                     " bytes; files of less than 1 GiB are written");
}

Result<Offset<tflite::SubGraph>> WriteSubgraph(size_t index, FileParts& file) {
  return SubgraphWriter(index, file).Write();
}

}  // namespace intaglio::nn
