// Signatures of .tflite files: which are read, and what becomes of them.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"

namespace intaglio::nn {
namespace {

using Code = tflite::BuiltinOperator;
using test::ModelSpec;
using test::OperatorSpec;
using test::SignatureSpec;
using test::TensorSpec;
using Positions = std::vector<std::pair<std::string, size_t>>;

// Inputs are the tensors 1 and 0, outputs 3, 2 and 3; 4 is a constant.
ModelSpec TwoMaxima() {
  ModelSpec spec;
  for (const char* const name : {"a", "b", "ab", "abc", "c"}) {
    TensorSpec& tensor = spec.tensors.emplace_back();
    tensor.name = name;
    tensor.shape = {1, 4};
  }
  spec.tensors[4].data = {1, 2, 3, 4};
  spec.operators.resize(2);
  for (OperatorSpec& op : spec.operators) op.code = Code::MAXIMUM;
  spec.operators[0].inputs = {0, 1};
  spec.operators[0].outputs = {2};
  spec.operators[1].inputs = {2, 4};
  spec.operators[1].outputs = {3};
  spec.inputs = {1, 0};
  spec.outputs = {3, 2, 3};
  return spec;
}

SignatureSpec GoodSignature() { return {"serve", {{"a", 0}, {"b", 1}}, {{"x", 2}, {"y", 3}}}; }

Positions Pairs(const std::vector<Signature::Entry>& entries) {
  Positions pairs;
  for (const Signature::Entry& entry : entries) pairs.emplace_back(entry.name, entry.position);
  return pairs;
}

struct Read {
  explicit Read(std::vector<uint8_t> file)
      : bytes(std::move(file)),
        graph(ImportTflite(bytes, nullptr, "model", {.signatures = &signatures})) {}
  explicit Read(std::vector<SignatureSpec> specs, int subgraphs = 1)
      : Read(Build(std::move(specs), subgraphs)) {}

  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const Signature& signature : signatures) keys.push_back(signature.key);
    return keys;
  }

  static std::vector<uint8_t> Build(std::vector<SignatureSpec> specs, int subgraphs) {
    ModelSpec spec = TwoMaxima();
    spec.signatures = std::move(specs);
    spec.subgraphs = subgraphs;
    return test::Build(spec);
  }

  std::vector<uint8_t> bytes;  // the graph's constants lie here
  std::vector<Signature> signatures = {Signature{"of before", {}, {}}};
  Result<Graph> graph;
};

void ExpectGoodSignature(const Read& read) {
  ASSERT_TRUE(read.graph.ok()) << read.graph.status().message();
  ASSERT_EQ(read.Keys(), std::vector<std::string>{"serve"});
  EXPECT_EQ(Pairs(read.signatures[0].inputs), (Positions{{"a", 1}, {"b", 0}}));
  EXPECT_EQ(Pairs(read.signatures[0].outputs), (Positions{{"x", 1}, {"y", 0}}));
}

TEST(TfliteSignatures, AreRead) {
  ExpectGoodSignature(Read({GoodSignature()}));
  const Read none(std::vector<SignatureSpec>{});
  ASSERT_TRUE(none.graph.ok());
  EXPECT_TRUE(none.signatures.empty());
}

TEST(TfliteSignatures, MayNameAPartAndOneOutputTwice) {
  const Read read({{"part", {{"b", 1}}, {{"x", 3}, {"y", 3}}}, GoodSignature(), {"", {}, {}}});
  ASSERT_TRUE(read.graph.ok()) << read.graph.status().message();
  ASSERT_EQ(read.Keys(), (std::vector<std::string>{"part", "serve", ""}));
  EXPECT_EQ(Pairs(read.signatures[0].inputs), (Positions{{"b", 0}}));
  EXPECT_EQ(Pairs(read.signatures[0].outputs), (Positions{{"x", 0}, {"y", 0}}));
  EXPECT_TRUE(read.signatures[2].inputs.empty());
}

TEST(TfliteSignatures, ThatNobodyCanCallAreLeftOut) {
  const std::map<std::string, SignatureSpec> unusable = {
      {"an input that is none", {"k", {{"a", 0}, {"b", 2}}, {{"x", 2}}}},
      {"an output that is none", {"k", {{"a", 0}}, {{"x", 0}}}},
      {"a constant", {"k", {{"a", 4}}, {{"x", 2}}}},
      {"two inputs of one name", {"k", {{"a", 0}, {"a", 1}}, {{"x", 2}}}},
      {"two outputs of one name", {"k", {{"a", 0}}, {{"x", 2}, {"x", 3}}}},
      {"two names of one input", {"k", {{"a", 0}, {"b", 0}}, {{"x", 2}}}},
      {"no name", {"k", {{std::nullopt, 0}}, {{"x", 2}}}},
      {"another subgraph", {"k", {{"a", 0}}, {{"x", 2}}, 1}},
      {"a key that was there", {"serve", {{"a", 0}}, {{"x", 2}}}}};
  for (const auto& [what, signature] : unusable) {
    SCOPED_TRACE(what);
    ExpectGoodSignature(Read({GoodSignature(), signature}, 2));
  }
}

// Whether the caller asks for signatures or not.
TEST(TfliteSignatures, WithBadIndicesAreRefused) {
  const std::vector<std::pair<SignatureSpec, std::string>> bad = {
      {{"k", {{"a", 5}}, {{"x", 2}}},
       "model: signature 'k': input 'a' is tensor #5, which does not exist (there are 5)"},
      {{"k", {{"a", 0}}, {{"x", 4294967295}}},
       "model: signature 'k': output 'x' is tensor #4294967295, which does not exist (there are "
       "5)"},
      {{"k", {}, {}, 1},
       "model: signature #0 belongs to subgraph #1, which does not exist (there are 1)"},
      {{std::nullopt, {}, {}}, "model: signature #0 has no key"}};
  for (const auto& [signature, message] : bad) {
    const std::vector<uint8_t> bytes = Read::Build({signature}, 1);
    EXPECT_EQ(Read(bytes).graph.status().message(), message);
    EXPECT_EQ(ImportTflite(bytes, nullptr, "model").status().message(), message);
  }
}

TEST(TfliteSignatures, NamesAreSafeToPrint) {
  SignatureSpec signature = GoodSignature();
  signature.key = "k\n";
  signature.inputs[0].first = "\x1b[2J";
  const Read read({signature});
  ASSERT_TRUE(read.graph.ok()) << read.graph.status().message();
  ASSERT_EQ(read.Keys(), std::vector<std::string>{"k\\x0a"});
  EXPECT_EQ(read.signatures[0].inputs[0].name, "\\x1b[2J");
}

// A small file that names one long list from many signatures.
TEST(TfliteSignatures, AreNoMoreThanAFileCanHold) {
  test::Builder b;
  const auto name = b.CreateString(std::string(1000, 'n'));
  const std::vector<flatbuffers::Offset<tflite::TensorMap>> maps(
      1000, tflite::CreateTensorMap(b, name, 0));
  const auto inputs = b.CreateVector(maps);
  const std::vector<flatbuffers::Offset<tflite::SignatureDef>> signatures(
      100, tflite::CreateSignatureDef(b, inputs, inputs, name));
  const auto tensor = tflite::CreateTensor(b, b.CreateVector(std::vector<int>{1}));
  const auto ids = b.CreateVector(std::vector<int>{0});
  const auto subgraph = tflite::CreateSubGraph(b, b.CreateVector(&tensor, 1), ids, ids);
  const auto subgraphs = b.CreateVector(&subgraph, 1);
  const auto all = b.CreateVector(signatures);
  b.Finish(tflite::CreateModel(b, 3, 0, subgraphs, 0, 0, 0, 0, all), "TFL3");
  const Result<Graph> graph = ImportTflite({b.GetBufferPointer(), b.GetSize()}, nullptr, "model");
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("names more metadata than a file of its size can hold"),
            std::string::npos)
      << graph.status().message();
}

// The writer gives tensors other numbers: it leaves out those that nothing uses.
TEST(TfliteSignatures, AreWritten) {
  const Read read({GoodSignature(), {"part", {{"b", 1}}, {{"x", 3}, {"y", 3}}}});
  ASSERT_TRUE(read.graph.ok()) << read.graph.status().message();
  Graph graph = *read.graph;
  graph.tensors.insert(graph.tensors.begin(), Tensor{});
  for (std::vector<TensorId>* const ids : {&graph.inputs, &graph.outputs}) {
    for (TensorId& id : *ids) ++id;
  }
  for (Layer& layer : graph.layers) {
    for (TensorId& id : layer.inputs) ++id;
    for (TensorId& id : layer.outputs) ++id;
  }
  const Result<std::vector<uint8_t>> written = ExportTflite(graph, {.signatures = read.signatures});
  ASSERT_TRUE(written.ok()) << written.status().message();
  const auto& signatures = *tflite::GetModel(written->data())->signature_defs();
  ASSERT_EQ(signatures.size(), 2u);
  EXPECT_EQ(signatures.Get(0)->signature_key()->str(), "serve");
  EXPECT_EQ(signatures.Get(0)->inputs()->Get(1)->name()->str(), "b");
  EXPECT_EQ(signatures.Get(0)->inputs()->Get(1)->tensor_index(), 1u);
  EXPECT_EQ(signatures.Get(0)->outputs()->Get(1)->tensor_index(), 3u);
  const Read again(*written);
  ASSERT_TRUE(again.graph.ok()) << again.graph.status().message();
  ASSERT_EQ(again.Keys(), read.Keys());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Pairs(again.signatures[i].inputs), Pairs(read.signatures[i].inputs));
    EXPECT_EQ(Pairs(again.signatures[i].outputs), Pairs(read.signatures[i].outputs));
  }
}

TEST(TfliteSignatures, OfNoSuchOutputIsNotWritten) {
  Read read({GoodSignature()});
  ASSERT_TRUE(read.graph.ok());
  read.signatures[0].outputs[1].position = 3;
  EXPECT_EQ(ExportTflite(*read.graph, {.signatures = read.signatures}).status().message(),
            "signature 'serve': 'y' is output 3, but the graph has 3");
}

}  // namespace
}  // namespace intaglio::nn
