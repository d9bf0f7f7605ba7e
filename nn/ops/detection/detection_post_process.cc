// TFLite_Detection_PostProcess: decodes boxes, and keeps the best ones that do not overlap.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/ops/detection/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/scratch_divider.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

struct Box {
  float ymin;
  float xmin;
  float ymax;
  float xmax;
};

struct ScoredBox {
  int box;
  int label;
  float score;
};

// Elements as real numbers.
class Reals {
 public:
  static Result<Reals> Of(const LayerView& layer, size_t i) {
    const Tensor& tensor = layer.input(i);
    Reals reals;
    reals.type_ = tensor.type;
    if (tensor.type == Type::kFloat32) return reals;
    if (tensor.type != Type::kUInt8 && tensor.type != Type::kInt8) {
      return layer.Unsupported("input " + std::to_string(i) + " '" + tensor.name + "' is " +
                               NameOf(tensor.type));
    }
    const Result<Affine> affine = AffineOf(layer, tensor);
    if (!affine.ok()) return affine.status();
    reals.affine_ = *affine;
    return reals;
  }

  float At(const void* data, ptrdiff_t i) const {
    if (type_ == Type::kFloat32) return static_cast<const float*>(data)[i];
    const int32_t q = type_ == Type::kUInt8 ? int32_t{static_cast<const uint8_t*>(data)[i]}
                                            : int32_t{static_cast<const int8_t*>(data)[i]};
    return static_cast<float>(q - affine_.zero_point) * affine_.scale;
  }

 private:
  Type type_ = Type::kFloat32;
  Affine affine_;
};

// Intersection over union; 0 for boxes without an area.
float Overlap(const Box& a, const Box& b) {
  const float area_a = (a.ymax - a.ymin) * (a.xmax - a.xmin);
  const float area_b = (b.ymax - b.ymin) * (b.xmax - b.xmin);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin), 0.0f);
  const float width = std::max(std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin), 0.0f);
  const float both = height * width;
  return both / (area_a + area_b - both);
}

class DetectionRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const Buffers b = Divide(static_cast<std::byte*>(arguments.scratch));
    INTAGLIO_RETURN_IF_ERROR(Decode(arguments, b.boxes));
    for (ptrdiff_t i = 0; i < ptrdiff_t{boxes} * columns; ++i) {
      b.scores[i] = score_reals.At(arguments.inputs[1], i);
    }
    std::fill_n(static_cast<float*>(arguments.outputs[0]), 4 * Detections(), 0.0f);
    std::fill_n(static_cast<float*>(arguments.outputs[1]), Detections(), 0.0f);
    std::fill_n(static_cast<float*>(arguments.outputs[2]), Detections(), 0.0f);
    const int count = op.per_class ? RunPerClass(b, arguments) : RunByBestClass(b, arguments);
    *static_cast<float*>(arguments.outputs[3]) = static_cast<float>(count);
    return {};
  }

  size_t ScratchBytes() const { return Divide(nullptr).bytes; }

  DetectionPostProcess op;
  int boxes = 0;
  int encoding = 4;  // numbers per box
  int columns = 0;   // scores per box
  Reals box_reals;
  Reals score_reals;
  Reals anchor_reals;

 private:
  struct Buffers {
    Box* boxes;         // [boxes]
    float* scores;      // [boxes, columns]
    float* of_boxes;    // [boxes]: the scores that one suppression goes by
    int* order;         // [boxes]
    uint8_t* active;    // [boxes]
    int* labels;        // [boxes, classes]
    ScoredBox* best;    // [max_detections + boxes]
    ScoredBox* merged;  // the same
    size_t bytes;
  };

  Buffers Divide(std::byte* scratch) const {
    const auto n = static_cast<size_t>(boxes);
    const size_t candidates = n + static_cast<size_t>(op.max_detections);
    ScratchDivider divider(scratch);
    Buffers b{};
    b.boxes = divider.Take<Box>(n);
    b.scores = divider.Take<float>(n * static_cast<size_t>(columns));
    b.of_boxes = divider.Take<float>(n);
    b.order = divider.Take<int>(n);
    b.active = divider.Take<uint8_t>(n);
    b.labels = divider.Take<int>(n * static_cast<size_t>(op.classes));
    b.best = divider.Take<ScoredBox>(candidates);
    b.merged = divider.Take<ScoredBox>(candidates);
    b.bytes = divider.bytes();
    return b;
  }

  ptrdiff_t Detections() const {
    return ptrdiff_t{op.max_detections} * op.max_classes_per_detection;
  }
  int background() const { return columns - op.classes; }

  Status Decode(const RunArguments& arguments, Box* to) const {
    for (ptrdiff_t i = 0; i < boxes; ++i) {
      const auto code = [&](ptrdiff_t k) {
        return static_cast<double>(box_reals.At(arguments.inputs[0], i * encoding + k));
      };
      const auto anchor = [&](ptrdiff_t k) {
        return static_cast<double>(anchor_reals.At(arguments.inputs[2], i * 4 + k));
      };
      const auto y = static_cast<float>(code(0) / double{op.y_scale} * anchor(2) + anchor(0));
      const auto x = static_cast<float>(code(1) / double{op.x_scale} * anchor(3) + anchor(1));
      const auto h = static_cast<float>(0.5 * std::exp(code(2) / double{op.h_scale}) * anchor(2));
      const auto w = static_cast<float>(0.5 * std::exp(code(3) / double{op.w_scale}) * anchor(3));
      to[i] = {y - h, x - w, y + h, x + w};
      if (to[i].ymin > to[i].ymax || to[i].xmin > to[i].xmax) {
        return InvalidArgument("box " + std::to_string(i) + " has a negative extent");
      }
    }
    return {};
  }

  // The boxes that remain, best first, at most `limit`, go to order[0], order[1], ...; their
  // number.
  int Suppress(const Buffers& b, int limit) const {
    int count = 0;
    for (int i = 0; i < boxes; ++i) {
      if (b.of_boxes[i] >= op.score_threshold) b.order[count++] = i;
    }
    std::sort(b.order, b.order + count, [&](int i, int j) {
      return b.of_boxes[i] > b.of_boxes[j] || (b.of_boxes[i] == b.of_boxes[j] && i < j);
    });
    std::fill_n(b.active, count, uint8_t{1});
    int kept = 0;
    for (int i = 0; i < count && kept < limit; ++i) {
      if (b.active[i] == 0) continue;
      for (int j = i + 1; j < count; ++j) {
        if (b.active[j] != 0 &&
            Overlap(b.boxes[b.order[i]], b.boxes[b.order[j]]) > op.iou_threshold) {
          b.active[j] = 0;
        }
      }
      b.order[kept++] = b.order[i];
    }
    return kept;
  }

  void Write(const RunArguments& arguments, ptrdiff_t at, const Box& box, int label,
             float score) const {
    static_cast<Box*>(arguments.outputs[0])[at] = box;
    static_cast<float*>(arguments.outputs[1])[at] = static_cast<float>(label);
    static_cast<float*>(arguments.outputs[2])[at] = score;
  }

  int RunPerClass(const Buffers& b, const RunArguments& arguments) const {
    ScoredBox* best = b.best;
    ScoredBox* merged = b.merged;
    int count = 0;
    for (int label = 0; label < op.classes; ++label) {
      for (ptrdiff_t i = 0; i < boxes; ++i) {
        b.of_boxes[i] = b.scores[i * columns + background() + label];
      }
      const int kept = Suppress(b, std::min(op.detections_per_class, op.max_detections));
      // Both are sorted; of equals those of earlier classes come first.
      int from = 0;
      int to = 0;
      for (int i = 0; i < kept; ++i) {
        const float score = b.of_boxes[b.order[i]];
        while (from < count && !(score > best[from].score)) merged[to++] = best[from++];
        merged[to++] = {b.order[i], label, score};
      }
      while (from < count) merged[to++] = best[from++];
      count = std::min(to, op.max_detections);
      std::swap(best, merged);
    }
    for (int i = 0; i < count; ++i) {
      Write(arguments, i, b.boxes[best[i].box], best[i].label, best[i].score);
    }
    return count;
  }

  int RunByBestClass(const Buffers& b, const RunArguments& arguments) const {
    const int labels = std::min(op.max_classes_per_detection, op.classes);
    for (ptrdiff_t i = 0; i < boxes; ++i) {
      const float* const scores = b.scores + i * columns + background();
      int* const order = b.labels + i * op.classes;
      SortLabels(scores, labels, order);
      b.of_boxes[i] = scores[order[0]];
    }
    const int count = Suppress(b, op.max_detections);
    for (int i = 0; i < count; ++i) {
      const ptrdiff_t box = b.order[i];
      for (int k = 0; k < labels; ++k) {
        const int label = b.labels[box * op.classes + k];
        Write(arguments, ptrdiff_t{op.max_classes_per_detection} * i + k, b.boxes[box], label,
              b.scores[box * columns + background() + label]);
      }
    }
    return count;
  }

  // The labels of the highest scores first; numbers that are none come last.
  void SortLabels(const float* scores, int count, int* order) const {
    std::iota(order, order + op.classes, 0);
    std::partial_sort(order, order + count, order + op.classes, [&](int i, int j) {
      if (std::isnan(scores[i]) || std::isnan(scores[j])) {
        return std::isnan(scores[i]) == std::isnan(scores[j]) ? i < j : std::isnan(scores[j]);
      }
      return scores[i] > scores[j] || (scores[i] == scores[j] && i < j);
    });
  }
};

Status CheckParameters(const LayerView& layer) {
  const DetectionPostProcess& op = layer.op<DetectionPostProcess>();
  if (op.max_detections < 1 || op.max_classes_per_detection < 1 || op.classes < 1) {
    return layer.Invalid("asks for " + std::to_string(op.max_detections) + " detections of " +
                         std::to_string(op.max_classes_per_detection) + " of " +
                         std::to_string(op.classes) + " classes");
  }
  if (op.per_class && op.detections_per_class < 1) {
    return layer.Invalid("asks for " + std::to_string(op.detections_per_class) +
                         " detections per class");
  }
  if (!(op.iou_threshold > 0 && op.iou_threshold <= 1)) {
    return layer.Invalid("the overlap threshold is " + std::to_string(op.iou_threshold) +
                         ", not in (0, 1]");
  }
  for (const float scale : {op.y_scale, op.x_scale, op.h_scale, op.w_scale}) {
    if (scale > 0 && std::isfinite(scale)) continue;
    return layer.Invalid("a scale of the boxes is " + std::to_string(scale));
  }
  return {};
}

Status CheckShapes(const LayerView& layer) {
  const DetectionPostProcess& op = layer.op<DetectionPostProcess>();
  const Shape& codes = layer.input(0).shape;
  const Shape& scores = layer.input(1).shape;
  const Shape& anchors = layer.input(2).shape;
  const bool fit = codes.size() == 3 && scores.size() == 3 && codes[0] == 1 && scores[0] == 1 &&
                   codes[2] >= 4 && codes[1] == scores[1] && anchors == Shape{codes[1], 4};
  if (!fit) {
    return layer.Invalid("boxes of " + ToString(codes) + ", scores of " + ToString(scores) +
                         " and anchors of " + ToString(anchors) + " do not fit");
  }
  if (scores[2] == op.classes || scores[2] - 1 == op.classes) return {};
  return layer.Invalid("has " + std::to_string(scores[2]) + " scores for " +
                       std::to_string(op.classes) + " classes");
}

ShapesResult InferDetectionPostProcess(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckParameters(layer));
  INTAGLIO_RETURN_IF_ERROR(CheckShapes(layer));
  const DetectionPostProcess& op = layer.op<DetectionPostProcess>();
  const Result<int> detections =
      CheckExtent(layer, int64_t{op.max_detections} * op.max_classes_per_detection);
  if (!detections.ok()) return detections.status();
  const Shape each = {1, *detections};
  return std::vector<Shape>{{1, *detections, 4}, each, each, {1}};
}

Result<PreparedLayer> PrepareDetectionPostProcess(const LayerView& layer, const LayerOptions&) {
  for (size_t i = 0; i < 4; ++i) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(i), Type::kFloat32));
  }
  auto routine = std::make_shared<DetectionRoutine>();
  Reals* const reals[] = {&routine->box_reals, &routine->score_reals, &routine->anchor_reals};
  for (size_t i = 0; i < 3; ++i) {
    const Result<Reals> of_input = Reals::Of(layer, i);
    if (!of_input.ok()) return of_input.status();
    *reals[i] = *of_input;
  }
  routine->op = layer.op<DetectionPostProcess>();
  routine->boxes = layer.input(0).shape[1];
  routine->encoding = layer.input(0).shape[2];
  routine->columns = layer.input(1).shape[2];
  PreparedLayer prepared;
  prepared.scratch_bytes = routine->ScratchBytes();
  prepared.routine = std::move(routine);
  return prepared;
}

// The pairs of boxes that may be compared.
int64_t CountPairs(const LayerView& layer) {
  const auto& op = layer.op<DetectionPostProcess>();
  const int64_t boxes = layer.input(0).shape[1];
  const int64_t most =
      op.per_class ? std::max(op.max_detections, op.detections_per_class) : op.max_detections;
  const int64_t pairs = MultiplySaturated(boxes, std::min(boxes, std::max<int64_t>(1, most)));
  return op.per_class ? MultiplySaturated(pairs, op.classes) : pairs;
}

}  // namespace

constinit const OperatorRow DetectionPostProcess::kRow = {
    .name = "TFLite_Detection_PostProcess",
    .min_inputs = 3,
    .max_inputs = 3,
    .types = kEightBit | kFloat,
    .infer = InferDetectionPostProcess,
    .candidates = Candidate{"detection", PrepareDetectionPostProcess},
    .remark = "custom; anchors and scores of the same types",
    .extra_work = CountPairs};

}  // namespace intaglio::nn
