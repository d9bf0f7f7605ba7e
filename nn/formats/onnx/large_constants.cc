#include "intaglio/nn/formats/onnx/large_constants.h"

#include <utility>

#include "intaglio/nn/formats/onnx/tensors.h"

namespace intaglio::nn::onnx {
namespace {

using Bytes = std::span<const uint8_t>;

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

struct Field {
  uint64_t number = 0;
  uint64_t wire_type = 0;
  uint64_t value = 0;  // of kVarint
  Bytes payload;       // of kDelimited
  Bytes all;           // with its tag
};

// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(Bytes message) : rest_(message) {}

  // False at the end and where the message is damaged.
  bool Next(Field& field) {
    if (rest_.empty() || damaged_) return false;
    const Bytes start = rest_;
    uint64_t tag = 0;
    damaged_ = !ReadVarint(32, tag) || !ReadValue(tag, field);
    if (damaged_) return false;
    field.all = start.first(start.size() - rest_.size());
    return true;
  }

  bool damaged() const { return damaged_; }

 private:
  bool ReadVarint(int bits, uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < bits && !rest_.empty(); shift += 7) {
      const uint64_t byte = rest_.front();
      rest_ = rest_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return bits == 64 || value >> bits == 0;
    }
    return false;
  }

  bool Skip(uint64_t bytes) {
    if (bytes > rest_.size()) return false;
    rest_ = rest_.subspan(static_cast<size_t>(bytes));
    return true;
  }

  // Groups count as damage: no message of the format has one.
  bool ReadValue(uint64_t tag, Field& field) {
    field = Field();
    field.number = tag >> 3;
    field.wire_type = tag & 7;
    if (field.wire_type == kVarint) return ReadVarint(64, field.value);
    if (field.wire_type == kFixed64) return Skip(8);
    if (field.wire_type == kFixed32) return Skip(4);
    uint64_t size = 0;
    if (field.wire_type != kDelimited || !ReadVarint(32, size) || size > rest_.size()) return false;
    field.payload = rest_.first(static_cast<size_t>(size));
    return Skip(size);
  }

  Bytes rest_;
  bool damaged_ = false;
};

void Append(Bytes bytes, std::string& to) {
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void AppendMessage(uint64_t number, const std::string& message, std::string& to) {
  const auto append_varint = [&](uint64_t value) {
    for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
    to.push_back(static_cast<char>(value));
  };
  append_varint(number << 3 | kDelimited);
  append_varint(message.size());
  to.append(message);
}

class LeanMaker {
 public:
  explicit LeanMaker(size_t large) : large_(large) {}

  std::optional<LeanModel> Make(Bytes model) {
    const bool is_sound = Copy(model, lean_.message, [this](const Field& field, std::string& to) {
      return field.number == ModelProto::kGraphFieldNumber && MakeGraph(field, to);
    });
    if (!is_sound || lean_.constants.empty()) return std::nullopt;
    return std::move(lean_);
  }

 private:
  // Copies those fields of a message that `replace` does not replace. False if it is damaged.
  template <class Replace>
  bool Copy(Bytes message, std::string& to, const Replace& replace) {
    Fields fields(message);
    for (Field field; fields.Next(field);) {
      if (field.wire_type != kDelimited || !replace(field, to)) Append(field.all, to);
    }
    return !fields.damaged() && !damaged_;
  }

  bool MakeGraph(const Field& graph, std::string& to) {
    std::string lean;
    const bool is_sound = Copy(graph.payload, lean, [this](const Field& field, std::string& into) {
      return field.number == GraphProto::kInitializerFieldNumber && MakeInitializer(field, into);
    });
    damaged_ = !is_sound;
    AppendMessage(graph.number, lean, to);
    return true;
  }

  bool MakeInitializer(const Field& initializer, std::string& to) {
    const size_t place = initializers_++;
    const Bytes elements = ElementsOf(initializer.payload);
    if (elements.empty()) return false;
    std::string lean;
    (void)Copy(initializer.payload, lean, [](const Field& field, std::string&) {
      return field.number == TensorProto::kRawDataFieldNumber;
    });
    AppendMessage(initializer.number, lean, to);
    lean_.constants.push_back({place, elements});
    return true;
  }

  // The elements to take out; none if the tensor shall stay as it is.
  Bytes ElementsOf(Bytes tensor) const {
    if (tensor.size() < large_) return {};
    Bytes elements;
    int data_type = 0;
    Fields fields(tensor);
    for (Field field; fields.Next(field);) {
      const bool is_raw = field.number == TensorProto::kRawDataFieldNumber;
      if (is_raw && (field.wire_type != kDelimited || elements.data() != nullptr)) return {};
      if (is_raw) elements = field.payload;
      if (field.number == TensorProto::kDataTypeFieldNumber) {
        data_type = static_cast<int>(field.value);
      }
      // What is both inside and outside of the file is refused as it stands.
      if (field.number == TensorProto::kDataLocationFieldNumber) return {};
    }
    const bool is_taken = !fields.damaged() && elements.size() >= large_ && !elements.empty() &&
                          TypeFrom(data_type).ok();
    return is_taken ? elements : Bytes();
  }

  const size_t large_;
  LeanModel lean_;
  size_t initializers_ = 0;
  bool damaged_ = false;
};

}  // namespace

std::optional<LeanModel> WithoutLargeConstants(std::span<const uint8_t> model, size_t large) {
  return LeanMaker(large).Make(model);
}

}  // namespace intaglio::nn::onnx
