// The end of object detectors. See operators.h.
#ifndef INTAGLIO_NN_OPS_DETECTION_OPERATORS_H_
#define INTAGLIO_NN_OPS_DETECTION_OPERATORS_H_

#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

// The best boxes that do not overlap (TFLite_Detection_PostProcess). Inputs: box encodings
// [1, N, 4 or more], of which the first four are the centre's y and x, the height and the width,
// relative to the box's anchor; scores [1, N, classes], or one more, then the first of them is the
// background; anchors [N, 4], the same four. float32, or uint8 or int8 with their quantization.
// Outputs, float32, with D = max_detections * max_classes_per_detection: boxes [1, D, 4] as ymin,
// xmin, ymax, xmax; classes [1, D]; scores [1, D]; and how many there are [1]. The rest is 0.
struct DetectionPostProcess {
  static const OperatorRow kRow;
  int max_detections = 0;
  int max_classes_per_detection = 0;
  int detections_per_class = 100;  // only where per_class
  // Suppresses overlapping boxes class by class, instead of once, by the best class of each box.
  bool per_class = false;
  float score_threshold = 0;  // lower scores do not count
  float iou_threshold = 0;    // in (0, 1]: what overlaps a better box by more goes
  int classes = 0;            // without the background
  float y_scale = 1;          // the encodings are divided by these
  float x_scale = 1;
  float h_scale = 1;
  float w_scale = 1;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_DETECTION_OPERATORS_H_
