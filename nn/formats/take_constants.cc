#include "intaglio/nn/formats/take_constants.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn {
namespace {

constexpr size_t kMostNames = 8;  // in one message

// Graphs show the names of a file in this form.
bool SameName(const std::string& a, const std::string& b) { return Printable(a) == Printable(b); }

std::string Quoted(const std::string& name) {
  return std::string("'").append(ShortName(Printable(name))).append("'");
}

std::string Listed(const std::vector<std::string>& names) {
  if (names.empty()) return "it has none";
  std::string text = "its inputs are ";
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    text += (i == 0 ? "" : ", ") + Quoted(names[i]);
  }
  return names.size() > kMostNames ? text + ", ..." : text;
}

// "int64 [2, ?]"
std::string Describe(Type type, const Shape& shape) {
  std::string text = std::string(NameOf(type)) + " [";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + (shape[i] < 0 ? "?" : std::to_string(shape[i]));
  }
  return text + "]";
}

bool Fits(const Shape& shape, const Shape& declared) {
  return std::equal(shape.begin(), shape.end(), declared.begin(), declared.end(),
                    [](int extent, int wanted) { return wanted < 0 || extent == wanted; });
}

Status Wrong(const InputConstant& constant, const std::string& what) {
  return InvalidArgument("the value of input " + Quoted(constant.name) + " " + what);
}

}  // namespace

Status CheckConstants(const std::vector<InputConstant>& constants) {
  for (size_t i = 0; i < constants.size(); ++i) {
    const InputConstant& constant = constants[i];
    const Result<size_t> bytes = CountBytes(constant.shape, constant.type);
    if (!bytes.ok()) return Wrong(constant, bytes.status().message());
    if (*bytes != constant.bytes.size()) {
      return Wrong(constant, "has " + std::to_string(constant.bytes.size()) + " bytes; " +
                                 Describe(constant.type, constant.shape) + " has " +
                                 std::to_string(*bytes));
    }
    const bool is_bool =
        constant.type != Type::kBool || std::all_of(constant.bytes.begin(), constant.bytes.end(),
                                                    [](uint8_t byte) { return byte <= 1; });
    if (!is_bool) return Wrong(constant, "has a bool other than 0 and 1");
    for (size_t k = 0; k < i; ++k) {
      if (SameName(constants[k].name, constant.name)) return Wrong(constant, "is given twice");
    }
  }
  return {};
}

Status CheckNamesOfConstants(const std::vector<InputConstant>& constants,
                             const std::vector<std::string>& inputs) {
  for (const InputConstant& constant : constants) {
    const auto count = std::count_if(inputs.begin(), inputs.end(), [&](const std::string& input) {
      return SameName(input, constant.name);
    });
    if (count == 1) continue;
    if (count > 1) {
      return InvalidArgument("the model has " + std::to_string(count) + " inputs " +
                             Quoted(constant.name) + ", so none of them can be given a value");
    }
    return InvalidArgument("the model has no input " + Quoted(constant.name) +
                           " that a value could be given to (" + Listed(inputs) + ")");
  }
  return {};
}

const InputConstant* FindConstant(const std::vector<InputConstant>& constants,
                                  const std::string& input) {
  const auto found = std::find_if(constants.begin(), constants.end(),
                                  [&](const auto& one) { return SameName(one.name, input); });
  return found == constants.end() ? nullptr : &*found;
}

Status BecomeConstant(const InputConstant& constant, const Shape& declared, Tensor& input) {
  if (constant.type != input.type || !Fits(constant.shape, declared)) {
    return Wrong(constant, "is " + Describe(constant.type, constant.shape) + "; the input is " +
                               Describe(input.type, declared));
  }
  auto owner = std::make_shared<const std::vector<uint8_t>>(constant.bytes);
  input.shape = constant.shape;
  input.constant = true;
  input.data = owner->empty() ? nullptr : owner->data();
  input.data_bytes = owner->size();
  input.owner = std::move(owner);
  return {};
}

}  // namespace intaglio::nn
