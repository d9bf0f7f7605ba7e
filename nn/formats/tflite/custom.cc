#include "intaglio/nn/formats/tflite/custom.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "intaglio/nn/formats/tflite/subgraph_writer.h"
#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn {
namespace {

// The first version of a custom operator, and the only one.
constexpr int kVersion = 1;

template <class Matches>
const CustomOperator* Find(std::span<const CustomOperator> list, const Matches& matches) {
  const auto found = std::find_if(list.begin(), list.end(), matches);
  return found == list.end() ? nullptr : &*found;
}

std::string_view NameOf(const tflite::OperatorCode& code) {
  return code.custom_code() == nullptr ? std::string_view() : code.custom_code()->string_view();
}

const char* WhatIsMissing(const CustomOperator& custom) {
  if (custom.row == nullptr) return "row";
  if (custom.row->infer == nullptr || custom.row->candidates.list().empty()) {
    return "function in its row";
  }
  return custom.read == nullptr ? "function that reads it" : nullptr;
}

}  // namespace

Status CheckCustomOperators(std::span<const CustomOperator> list) {
  for (const CustomOperator& custom : list) {
    if (custom.name == nullptr || *custom.name == '\0') {
      return InvalidArgument("a custom operator has no name");
    }
    const std::string name = "custom operator '" + Printable(custom.name) + "'";
    if (const char* const missing = WhatIsMissing(custom); missing != nullptr) {
      return InvalidArgument(name + " has no " + missing);
    }
    if (CodeNamed(custom.name) != tflite::BuiltinOperator::CUSTOM) {
      return InvalidArgument(name + " has the name of one of the format's own operators");
    }
  }
  return {};
}

const CustomOperator* FindCustom(std::span<const CustomOperator> list,
                                 const tflite::OperatorCode& code) {
  if (code.version() != kVersion) return nullptr;
  return Find(list, [&](const CustomOperator& custom) { return NameOf(code) == custom.name; });
}

const CustomOperator* FindCustom(std::span<const CustomOperator> list, const Operator& op) {
  return Find(list, [&](const CustomOperator& custom) { return custom.row == &op.row(); });
}

Status ReadCustom(const CustomOperator& custom, Translation& t) {
  for (size_t i = 0; i < std::min<size_t>(t.input_count(), 32); ++i) {
    if ((custom.row->parameters >> i & 1) != 0) t.IsConstant(i);
  }
  const flatbuffers::Vector<uint8_t>* const options = t.custom_options();
  const std::span<const uint8_t> bytes(options == nullptr ? nullptr : options->data(),
                                       Length(options));
  Result<Operator> op = custom.read(bytes, t.view());
  if (!op.ok()) return op.status();
  if (&op->row() != custom.row) {
    return InvalidArgument("the function that reads it made another operator, " +
                           std::string(op->row().name));
  }
  t.set(std::move(*op));
  return {};
}

Status WriteCustom(const CustomOperator& custom, Encoding& e) {
  if (custom.write == nullptr) {
    return e.layer().Unsupported("there is no function that writes the custom operator");
  }
  const Result<std::vector<uint8_t>> options = custom.write(e.layer());
  if (!options.ok()) return e.layer().Wrap(options.status());
  INTAGLIO_RETURN_IF_ERROR(CheckSize(e.builder().GetSize() + options->size()));
  e.set_code_name(custom.name);
  e.SetCustomOptions(*options);
  return {};
}

}  // namespace intaglio::nn
