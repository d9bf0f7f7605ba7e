// TFLite_Detection_PostProcess: its options are a FlexBuffer, which is a map of names.
//
// The macro keeps FlatBuffers header-only here, as in nn/import/translate_detection.cc: no target
// links its library.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0
#include <flatbuffers/flexbuffers.h>

#include "intaglio/nn/export/encode.h"

namespace intaglio::nn {

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

}  // namespace intaglio::nn
