// Models of ONNX against recorded outputs: the node tests of the standard, within the bounds that
// they ask for, other forms of its operators, and quantized models, bit for bit
// (record_node_tests.py, record_operators.py, record_quantized.py, record_recurrent.py).
//
// refused.txt names the cases that do not pass, each with the reason. A case that fails has to be
// in the list, and one that passes must not be, so the list says what is missing. To write it anew:
//
//     nn_onnx_golden_test --gtest_also_run_disabled_tests --gtest_filter='*WriteList'
//
// With INTAGLIO_ONNX_CASES=TEXT, only cases whose names have TEXT in them run, and those that fail
// are printed, in the list or not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/onnx/golden_case.h"
#include "intaglio/test/nn/ops/golden_file.h"
#include "intaglio/test/nn/ops/golden_run.h"

namespace intaglio::nn {
namespace {

const std::string kFolder = INTAGLIO_SOURCE_DIR "/test/nn/formats/onnx/";
const std::string kList = kFolder + "refused.txt";
constexpr const char* kFiles[] = {"node_tests.golden", "operators.golden", "quantized.golden",
                                  "recurrent.golden"};

// The names of the list: what is before the colon.
std::set<std::string> ReadRefused() {
  std::ifstream stream(kList);
  std::set<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line.front() == '#') continue;
    const size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << "no reason: " << line;
    EXPECT_TRUE(names.insert(line.substr(0, colon)).second) << "twice: " << line;
  }
  return names;
}

bool IsClose(float actual, float expected, float bound) {
  if (test::IsSame(actual, expected)) return true;
  if (bound == 0 || !std::isfinite(expected)) return false;
  return std::fabs(actual - expected) <= 1e-7f + bound * std::fabs(expected);
}

std::string TypeAndShape(int type, const Shape& shape) {
  return "type " + std::to_string(type) + " " + testing::PrintToString(shape);
}

template <class T>
std::string ElementAt(const test::GoldenBytes& bytes, size_t offset) {
  T value = {};
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  std::ostringstream text;
  text << +value;
  return text.str();
}

// The element of this byte.
std::string Element(const test::GoldenBytes& bytes, Type type, size_t byte) {
  const size_t offset = byte - byte % *CountBytes({}, type);
  switch (type) {
    case Type::kFloat32:
      return ElementAt<float>(bytes, offset);
    case Type::kInt64:
      return ElementAt<int64_t>(bytes, offset);
    case Type::kInt32:
      return ElementAt<int32_t>(bytes, offset);
    case Type::kInt16:
      return ElementAt<int16_t>(bytes, offset);
    case Type::kUInt16:
      return ElementAt<uint16_t>(bytes, offset);
    case Type::kInt8:
      return ElementAt<int8_t>(bytes, offset);
    case Type::kUInt8:
    case Type::kBool:
      return ElementAt<uint8_t>(bytes, offset);
  }
  return "?";
}

// How an output differs from the recorded one, or nothing.
std::string Compare(const Tensor& tensor, const test::GoldenBytes& actual,
                    const test::GoldenOutput& expected, float bound) {
  const uint8_t type = test::NumberOf(tensor.type);
  if (type != expected.type || tensor.shape != expected.shape) {
    return "has " + TypeAndShape(type, tensor.shape) + " instead of " +
           TypeAndShape(expected.type, expected.shape);
  }
  const std::optional<size_t> byte = test::FirstDifference(
      actual, expected, [bound](float a, float e) { return IsClose(a, e, bound); });
  if (!byte) return "";
  return "has " + Element(actual, tensor.type, *byte) + " instead of " +
         Element(expected.bytes, tensor.type, *byte) + " at byte " + std::to_string(*byte);
}

// Why a model cannot be had, without the name that every message starts with.
std::string Reason(const Status& status) {
  const std::string& message = status.message();
  return message.substr(message.starts_with("case: ") ? 6 : 0);
}

// Why a case does not pass, or nothing. It runs twice: what a run leaves behind must not matter.
std::string Failure(const test::GoldenCase& c) {
  test::OnnxCase read = test::ReadOnnxCase(c);
  if (!read.graph.ok()) return Reason(read.graph.status());
  Result<Model> model = Model::Prepare(std::move(*read.graph));
  if (!model.ok()) return Reason(model.status());
  for (int round = 0; round < 2; ++round) {
    for (const test::GoldenRun& run : read.runs) {
      std::vector<test::GoldenBytes> outputs;
      const Status status = test::RunGolden(*model, run, outputs);
      if (!status.ok()) return Reason(status);
      if (outputs.size() != run.outputs.size()) return "number of outputs";
      for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string difference =
            Compare(model->output(i), outputs[i], run.outputs[i], c.bound);
        if (!difference.empty()) return "output " + std::to_string(i) + " " + difference;
      }
    }
  }
  return "";
}

// What is counted together: node tests of one form, or quantized models of one operator.
std::string GroupOf(const std::string& name) {
  if (!name.starts_with("test_")) {
    const size_t operator_at = name.starts_with("QDQ/") ? 4 : 0;
    return name.substr(0, name.find('/', operator_at));
  }
  const bool expanded = name.find("_expanded") != std::string::npos;
  const bool has_values = name.find('@') != std::string::npos;
  return std::string(expanded ? "expanded" : "plain") + (has_values ? " with values" : "");
}

struct Count {
  int passed = 0;
  int all = 0;
};

std::ostream& operator<<(std::ostream& stream, const Count& count) {
  return stream << count.passed << " of " << count.all << " pass";
}

void ExpectCases(const std::string& file) {
  const char* const part = std::getenv("INTAGLIO_ONNX_CASES");
  const std::set<std::string> refused = ReadRefused();
  std::map<std::string, Count> groups;
  Count total;
  for (const test::GoldenCase& c : test::ReadGoldenFile(kFolder + file)) {
    if (part != nullptr && c.name.find(part) == std::string::npos) continue;
    const std::string failure = Failure(c);
    const bool passes = failure.empty();
    if (passes == refused.contains(c.name)) {
      ADD_FAILURE() << c.name << (passes ? " passes: take it out of refused.txt" : ": " + failure);
    }
    if (part != nullptr && !passes) std::cout << c.name << ": " << failure << "\n";
    for (Count* count : {&groups[GroupOf(c.name)], &total}) {
      ++count->all;
      count->passed += passes ? 1 : 0;
    }
  }
  for (const auto& [group, count] : groups) std::cout << group << ": " << count << "\n";
  std::cout << file << ": " << total << "\n";
}

TEST(OnnxGolden, NodeTests) { ExpectCases("node_tests.golden"); }

TEST(OnnxGolden, Operators) { ExpectCases("operators.golden"); }

TEST(OnnxGolden, Quantized) { ExpectCases("quantized.golden"); }

TEST(OnnxGolden, Recurrent) { ExpectCases("recurrent.golden"); }

TEST(OnnxGolden, ListNamesCases) {
  std::set<std::string> unknown = ReadRefused();
  for (const char* file : kFiles) {
    for (const test::GoldenCase& c : test::ReadGoldenFile(kFolder + file)) unknown.erase(c.name);
  }
  EXPECT_TRUE(unknown.empty()) << testing::PrintToString(unknown);
}

TEST(OnnxGolden, DISABLED_WriteList) {
  std::ofstream list(kList);
  list << "# Cases that do not pass, and why. onnx_golden_test.cc says how to write this file "
          "anew.\n";
  for (const char* file : kFiles) {
    for (const test::GoldenCase& c : test::ReadGoldenFile(kFolder + file)) {
      const std::string failure = Failure(c);
      if (!failure.empty()) list << c.name << ": " << failure << "\n";
    }
  }
}

}  // namespace
}  // namespace intaglio::nn
