#include "intaglio/nn/formats/onnx/large_constants.h"

#include <google/protobuf/io/coded_stream.h>

#include <array>
#include <utility>

#include "intaglio/nn/formats/onnx/tensors.h"

namespace intaglio::nn::onnx {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using Bytes = std::span<const uint8_t>;

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

struct Field {
  uint32_t number = 0;
  uint32_t wire_type = kVarint;
  uint64_t value = 0;  // of kVarint
  Bytes payload;       // of kDelimited
  Bytes all;           // with its tag
};

// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(Bytes message)
      : message_(message), stream_(message.data(), static_cast<int>(message.size())) {}

  // False at the end and where the message is damaged.
  bool Next(Field& field) {
    const size_t start = position();
    const uint32_t tag = damaged_ ? 0 : stream_.ReadTag();
    if (tag == 0) {
      damaged_ |= !stream_.ConsumedEntireMessage();
      return false;
    }
    damaged_ = !ReadValue(tag, field);
    if (damaged_) return false;
    field.all = message_.subspan(start, position() - start);
    return true;
  }

  bool damaged() const { return damaged_; }

 private:
  size_t position() const { return static_cast<size_t>(stream_.CurrentPosition()); }

  // Groups count as damage: no message of the format has one.
  bool ReadValue(uint32_t tag, Field& field) {
    field = Field();
    field.number = tag >> 3;
    field.wire_type = tag & 7;
    if (field.wire_type == kVarint) return stream_.ReadVarint64(&field.value);
    if (field.wire_type == kFixed64) return stream_.Skip(8);
    if (field.wire_type == kFixed32) return stream_.Skip(4);
    int size = 0;
    if (field.wire_type != kDelimited || !stream_.ReadVarintSizeAsInt(&size)) return false;
    const size_t start = position();
    if (!stream_.Skip(size)) return false;
    field.payload = message_.subspan(start, static_cast<size_t>(size));
    return true;
  }

  Bytes message_;
  CodedInputStream stream_;
  bool damaged_ = false;
};

void Append(Bytes bytes, std::string& to) {
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Makes what stands behind `start` a field: its tag and its length come in front of it.
void MakeField(uint32_t number, size_t start, std::string& message) {
  std::array<uint8_t, 10> header;  // two varints of 32 bits
  uint8_t* end = CodedOutputStream::WriteTagToArray(number << 3 | kDelimited, header.data());
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(message.size() - start), end);
  message.insert(message.begin() + static_cast<std::ptrdiff_t>(start), header.data(), end);
}

class LeanMaker {
 public:
  explicit LeanMaker(size_t large) : large_(large) {}

  std::optional<LeanModel> Make(Bytes model) {
    const size_t large = CountLarge(model);
    if (large == 0) return std::nullopt;
    message().reserve(model.size() - large);
    const bool is_sound = Copy(model, [this](const Field& field) {
      return field.number == ModelProto::kGraphFieldNumber && MakeGraph(field);
    });
    if (!is_sound || lean_.constants.empty()) return std::nullopt;
    return std::move(lean_);
  }

 private:
  std::string& message() { return lean_.message; }

  // The bytes that are to be taken out of a message without damage.
  size_t CountLarge(Bytes model) const {
    size_t bytes = 0;
    ForEach(model, ModelProto::kGraphFieldNumber, [&](Bytes graph) {
      ForEach(graph, GraphProto::kInitializerFieldNumber,
              [&](Bytes tensor) { bytes += ElementsOf(tensor).size(); });
    });
    return bytes;
  }

  template <class Function>
  static void ForEach(Bytes message, uint32_t number, const Function& function) {
    Fields fields(message);
    for (Field field; fields.Next(field);) {
      if (field.wire_type == kDelimited && field.number == number) function(field.payload);
    }
  }

  // Copies those fields of a message that `replace` does not replace. False if it is damaged.
  template <class Replace>
  bool Copy(Bytes from, const Replace& replace) {
    Fields fields(from);
    for (Field field; fields.Next(field);) {
      if (field.wire_type != kDelimited || !replace(field)) Append(field.all, message());
    }
    return !fields.damaged() && !damaged_;
  }

  bool MakeGraph(const Field& graph) {
    const size_t start = message().size();
    const bool is_sound = Copy(graph.payload, [this](const Field& field) {
      return field.number == GraphProto::kInitializerFieldNumber && MakeInitializer(field);
    });
    damaged_ = !is_sound;
    MakeField(graph.number, start, message());
    return true;
  }

  bool MakeInitializer(const Field& initializer) {
    const size_t place = initializers_++;
    const Bytes elements = ElementsOf(initializer.payload);
    if (elements.empty()) return false;
    const size_t start = message().size();
    (void)Copy(initializer.payload,
               [](const Field& field) { return field.number == TensorProto::kRawDataFieldNumber; });
    MakeField(initializer.number, start, message());
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
