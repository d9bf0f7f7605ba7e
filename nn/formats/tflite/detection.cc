// The end of object detectors, a custom operator of .tflite files.
#include <flatbuffers/flexbuffers.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

// The bytes of a FlexBuffer, at an address that its numbers may be read from.
std::vector<uint64_t> Aligned(const flatbuffers::Vector<uint8_t>& bytes) {
  std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t) + 1);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

class Map {
 public:
  explicit Map(flexbuffers::Map map) : map_(map) {}

  Result<int> Int(const char* name) const {
    const int64_t value = map_[name].AsInt64();
    if (value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max()) {
      return static_cast<int>(value);
    }
    return InvalidArgument(std::string(name) + " is " + std::to_string(value));
  }
  float Float(const char* name) const { return map_[name].AsFloat(); }
  bool Bool(const char* name) const { return map_[name].AsBool(); }
  bool Has(const char* name) const { return !map_[name].IsNull(); }

 private:
  flexbuffers::Map map_;
};

Status Read(const Map& map, const char* name, int& to) {
  const Result<int> value = map.Int(name);
  if (!value.ok()) return value.status();
  to = *value;
  return {};
}

Status TranslateDetectionPostProcess(Translation& t) {
  const flatbuffers::Vector<uint8_t>* const bytes = t.custom_options();
  if (bytes == nullptr || bytes->size() < 3) return InvalidArgument("its options are missing");
  const std::vector<uint64_t> words = Aligned(*bytes);
  const auto* const data = reinterpret_cast<const uint8_t*>(words.data());
  std::vector<uint8_t> seen;
  if (!flexbuffers::VerifyBuffer(data, bytes->size(), &seen) ||
      !flexbuffers::GetRoot(data, bytes->size()).IsMap()) {
    return InvalidArgument("its options are not a map");
  }
  const Map map(flexbuffers::GetRoot(data, bytes->size()).AsMap());
  DetectionPostProcess op;
  INTAGLIO_RETURN_IF_ERROR(Read(map, "max_detections", op.max_detections));
  INTAGLIO_RETURN_IF_ERROR(Read(map, "max_classes_per_detection", op.max_classes_per_detection));
  INTAGLIO_RETURN_IF_ERROR(Read(map, "num_classes", op.classes));
  if (map.Has("detections_per_class")) {
    INTAGLIO_RETURN_IF_ERROR(Read(map, "detections_per_class", op.detections_per_class));
  }
  op.per_class = map.Has("use_regular_nms") && map.Bool("use_regular_nms");
  op.score_threshold = map.Float("nms_score_threshold");
  op.iou_threshold = map.Float("nms_iou_threshold");
  op.y_scale = map.Float("y_scale");
  op.x_scale = map.Float("x_scale");
  op.h_scale = map.Float("h_scale");
  op.w_scale = map.Float("w_scale");
  t.set(op);
  return {};
}

Status Encode(const DetectionPostProcess& op, Encoding& e) {
  flexbuffers::Builder b;
  b.Map([&] {
    b.Int("max_detections", op.max_detections);
    b.Int("max_classes_per_detection", op.max_classes_per_detection);
    b.Int("detections_per_class", op.detections_per_class);
    b.Bool("use_regular_nms", op.per_class);
    b.Float("nms_score_threshold", op.score_threshold);
    b.Float("nms_iou_threshold", op.iou_threshold);
    b.Int("num_classes", op.classes);
    b.Float("y_scale", op.y_scale);
    b.Float("x_scale", op.x_scale);
    b.Float("h_scale", op.h_scale);
    b.Float("w_scale", op.w_scale);
  });
  b.Finish();
  e.SetCustomOptions(b.GetBuffer());
  return {};
}

constexpr TfliteRow kRows[] = {
    {.code = Code::CUSTOM,
     .max_version = 1,
     .read = TranslateDetectionPostProcess,
     .op = &DetectionPostProcess::kRow,
     .write = WriteBy<DetectionPostProcess, Encode>,
     .custom_name = "TFLite_Detection_PostProcess"},
};

}  // namespace

std::span<const TfliteRow> DetectionRows() { return kRows; }

}  // namespace intaglio::nn
