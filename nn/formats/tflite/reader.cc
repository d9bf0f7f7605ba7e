#include "intaglio/nn/formats/tflite/reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/formats/take_constants.h"
#include "intaglio/nn/formats/tflite/custom.h"
#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/formats/tflite/operators.h"
#include "intaglio/nn/formats/tflite/signatures.h"
#include "intaglio/nn/formats/tflite/subgraph.h"
#include "intaglio/nn/formats/tflite/survey.h"
#include "intaglio/nn/formats/tflite/tensors.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/passes/infer_shapes.h"

namespace intaglio::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "constants are read where they lie");

constexpr uint32_t kSchemaVersion = 3;
constexpr size_t kAlignment = 16;         // the largest that the schema forces
constexpr uint32_t kMaxDepth = 16;        // the schema nests 6 deep
constexpr uint32_t kMaxTables = 1000000;  // a bound on the verifier's work
// FlatBuffers' own offsets end here; what files over 2 GB hold behind it are plain bytes.
constexpr size_t kMaxFlatBuffer = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

Status Verify(std::span<const uint8_t> bytes) {
  // The root offset and the identifier.
  if (bytes.size() < 8 || !tflite::ModelBufferHasIdentifier(bytes.data())) {
    return InvalidArgument("not a .tflite file (no TFL3 identifier)");
  }
  flatbuffers::Verifier verifier(bytes.data(), std::min(bytes.size(), kMaxFlatBuffer), kMaxDepth,
                                 kMaxTables);
  if (!tflite::VerifyModelBuffer(verifier)) {
    return InvalidArgument("the file is damaged or cut short (FlatBuffers verification failed)");
  }
  return {};
}

Status ReadModel(const TfliteFile& file, const ImportOptions& options, Graph& graph) {
  if (file.model->version() != kSchemaVersion) {
    return Unsupported("schema version " + std::to_string(file.model->version()) +
                       " is not supported (3 is)");
  }
  if (Length(file.model->subgraphs()) == 0) return InvalidArgument("the model has no subgraph");
  // The first subgraph is the model; its operators name others.
  const tflite::SubGraph& subgraph = *file.model->subgraphs()->Get(0);
  Budget budget = BudgetOf(file, options.limits);
  INTAGLIO_RETURN_IF_ERROR(ReadSubgraph(
      file, subgraph, budget,
      [&](Graph& g) -> Status {
        INTAGLIO_RETURN_IF_ERROR(GiveConstants(options.constants, subgraph, budget, g));
        return SetInputShapes(options.input_shapes, g);
      },
      graph));
  Result<std::vector<Signature>> signatures = ReadSignatures(file, graph, budget);
  if (signatures.ok() && options.signatures != nullptr) *options.signatures = *signatures;
  return signatures.status();
}

// Bytes at an address that the generated code may read from.
Result<TfliteFile> Align(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
  TfliteFile file;
  file.bytes = bytes;
  file.owner = std::move(owner);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0) return file;
  struct alignas(kAlignment) Block {
    uint8_t bytes[kAlignment];
  };
  const size_t blocks = bytes.size() / kAlignment + 1;
  const std::shared_ptr<Block[]> copy(new Block[blocks]);
  auto* const start = reinterpret_cast<uint8_t*>(copy.get());
  std::memcpy(start, bytes.data(), bytes.size());
  file.bytes = {start, bytes.size()};
  file.owner = copy;
  return file;
}

Result<Graph> Import(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                     const std::string& name, const ImportOptions& options) {
  const DefaultFloatEnvironment environment;
  INTAGLIO_RETURN_IF_ERROR(CheckCustomOperators(options.custom_operators));
  INTAGLIO_RETURN_IF_ERROR(CheckConstants(options.constants));
  if (bytes.empty()) return InvalidArgument("the file is empty");
  Result<TfliteFile> file = Align(bytes, std::move(owner));
  if (!file.ok()) return file.status();
  INTAGLIO_RETURN_IF_ERROR(Verify(file->bytes));
  file->model = tflite::GetModel(file->bytes.data());
  file->custom_operators = options.custom_operators;
  Graph graph;
  graph.name = name;
  INTAGLIO_RETURN_IF_ERROR(ReadModel(*file, options, graph));
  return graph;
}

}  // namespace

std::string Printable(const flatbuffers::String* name) {
  return name == nullptr ? std::string() : Printable(name->string_view());
}

Status ReadName(const flatbuffers::String* name, Budget& budget, std::string& to) {
  const size_t length = name == nullptr ? 0 : name->size();
  INTAGLIO_RETURN_IF_ERROR(budget.Charge(length, 1));
  std::string printable = Printable(name);
  INTAGLIO_RETURN_IF_ERROR(budget.Charge(printable.size() - length, 1));
  to = std::move(printable);
  return {};
}

Result<Graph> ImportTflite(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                           const std::string& name, const ImportOptions& options) {
  try {
    Result<Graph> graph = Import(bytes, std::move(owner), name, options);
    if (graph.ok()) return graph;
    return Status(graph.status().code(), name + ": " + graph.status().message());
  } catch (const std::bad_alloc&) {
    return OutOfMemory(name + ": no memory to read the model");
  }
}

namespace {

// Opens a verified file that has a subgraph.
Result<TfliteFile> OpenModel(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
  Result<TfliteFile> file = Align(bytes, std::move(owner));
  if (!file.ok()) return file;
  INTAGLIO_RETURN_IF_ERROR(Verify(file->bytes));
  file->model = tflite::GetModel(file->bytes.data());
  if (Length(file->model->subgraphs()) == 0) return InvalidArgument("the model has no subgraph");
  return file;
}

Result<std::vector<SurveyRow>> Survey(const std::string& path, const Limits& limits,
                                      std::span<const CustomOperator> custom_operators,
                                      const std::vector<InputConstant>& constants) {
  INTAGLIO_RETURN_IF_ERROR(CheckCustomOperators(custom_operators));
  INTAGLIO_RETURN_IF_ERROR(CheckConstants(constants));
  Result<MappedFile> mapped = MapFile(path);
  if (!mapped.ok()) return mapped.status();
  Result<TfliteFile> file = OpenModel(mapped->bytes, std::move(mapped->owner));
  if (!file.ok()) return file.status();
  file->custom_operators.assign(custom_operators.begin(), custom_operators.end());
  const tflite::SubGraph& subgraph = *file->model->subgraphs()->Get(0);
  Budget budget = BudgetOf(*file, limits);
  Graph graph;
  const Result<std::vector<Status>> tensors = SurveyTensors(*file, subgraph, budget, graph);
  if (!tensors.ok()) return tensors.status();
  if (!constants.empty()) {
    INTAGLIO_RETURN_IF_ERROR(ReadInputIds(subgraph, budget, graph));
    INTAGLIO_RETURN_IF_ERROR(GiveConstants(constants, subgraph, budget, graph));
  }
  const Result<std::vector<SurveyedOperator>> operators =
      SurveyOperators(*file, subgraph, *tensors, limits, budget, graph);
  if (!operators.ok()) return operators.status();
  std::vector<SurveyRow> rows;
  for (const SurveyedOperator& op : *operators) {
    const auto same = [&](const SurveyRow& row) {
      return row.name == op.name && row.version == op.version && row.type == op.type &&
             row.why_not == op.status.message();
    };
    auto row = std::find_if(rows.begin(), rows.end(), same);
    if (row == rows.end()) {
      row = rows.insert(rows.end(), {op.name, op.version, op.type, 0, op.status.message()});
    }
    ++row->count;
  }
  return rows;
}

}  // namespace

Result<std::vector<SurveyRow>> SurveyTflite(const std::string& path, const Limits& limits,
                                            std::span<const CustomOperator> custom_operators,
                                            const std::vector<InputConstant>& constants) try {
  Result<std::vector<SurveyRow>> rows = Survey(path, limits, custom_operators, constants);
  if (rows.ok()) return rows;
  return Status(rows.status().code(), path + ": " + rows.status().message());
} catch (const std::bad_alloc&) {
  return OutOfMemory(path + ": no memory to read the model");
}

namespace {

Result<Graph> ReadSignature(const std::string& path) {
  Result<MappedFile> mapped = MapFile(path);
  if (!mapped.ok()) return mapped.status();
  Result<TfliteFile> file = OpenModel(mapped->bytes, std::move(mapped->owner));
  if (!file.ok()) return file.status();
  Budget budget = BudgetOf(*file, {});
  Graph graph;
  INTAGLIO_RETURN_IF_ERROR(
      ReadTensorsAndIds(*file, *file->model->subgraphs()->Get(0), budget, graph));
  return graph;
}

}  // namespace

Result<Graph> LoadTfliteSignature(const std::string& path) try {
  Result<Graph> graph = ReadSignature(path);
  if (graph.ok()) return graph;
  return Status(graph.status().code(), path + ": " + graph.status().message());
} catch (const std::bad_alloc&) {
  return OutOfMemory(path + ": no memory to read the model");
}

Result<Graph> LoadTflite(const std::string& path, const ImportOptions& options) try {
  Result<MappedFile> file = options.copy_file ? ReadWholeFile(path) : MapFile(path);
  if (!file.ok()) return Status(file.status().code(), path + ": " + file.status().message());
  return ImportTflite(file->bytes, std::move(file->owner), path, options);
} catch (const std::bad_alloc&) {
  return OutOfMemory(path + ": no memory to read the model");
}

}  // namespace intaglio::nn
