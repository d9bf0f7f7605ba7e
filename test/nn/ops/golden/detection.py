"""TFLite_Detection_PostProcess. See record.py."""

import numpy as np
from flatbuffers import flexbuffers

from record import Family, Tensor, const

F = Family("detection")
RNG = np.random.default_rng(21)
ROUNDED = 1e-6  # exp of the C library


def options(**changes):
    fields = dict(max_detections=5, max_classes_per_detection=1, detections_per_class=4,
                  use_regular_nms=False, nms_score_threshold=0.2, nms_iou_threshold=0.5,
                  num_classes=3, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0)
    fields.update(changes)
    builder = flexbuffers.Builder()
    with builder.Map():
        for key, value in fields.items():
            if value is None:
                continue
            builder.Key(key)
            if isinstance(value, bool):
                builder.Bool(value)
            elif isinstance(value, int):
                builder.Int(value)
            else:
                builder.Float(value)
    return bytes(builder.Finish())


def anchors(boxes):
    """Around a few centres, so that boxes overlap."""
    centres = RNG.choice(np.array([[0.2, 0.2], [0.5, 0.6], [0.8, 0.3]]), boxes)
    return np.concatenate([centres + RNG.uniform(-0.04, 0.04, (boxes, 2)),
                           RNG.uniform(0.2, 0.4, (boxes, 2))], axis=1)


def distinct(boxes, columns, low=0.0):
    """Scores without ties, whose order among equals is nobody's promise."""
    return (RNG.permutation(boxes * columns).reshape(1, boxes, columns) / (boxes * columns)
            * (1 - low) + low)


def case(boxes=40, columns=4, dtype="float32", encoding=4, error=None, scores=None, shape=None,
         custom=None, note="", low=0.0, **changes):
    quantized = dtype != "float32"
    q = dict(scale=0.05, zero=120) if quantized else {}
    s = dict(scale=1 / 256, zero=0) if quantized else {}
    a = (const("uint8", np.round(anchors(boxes) * 200), scale=1 / 200) if quantized
         else const("float32", anchors(boxes)))
    codes = RNG.uniform(-1, 1, (1, boxes, encoding))
    if quantized:
        codes = np.round(codes / 0.05 + 120)
    values = distinct(boxes, columns, low) if scores is None else scores
    if quantized:  # at most 256 of them are distinct
        values = np.round(values * 255)
    F.case("TFLite_Detection_PostProcess",
           [Tensor(dtype, shape or (1, boxes, encoding), **q),
            Tensor(dtype, (1, boxes, columns), **s), a], [Tensor("float32") for _ in range(4)],
           custom if custom is not None else options(**changes), 1, error=error, bound=ROUNDED,
           feeds=None if error else [[codes, values]], note=f"{changes} {note}")


def all_cases():
    for per_class in (False, True):
        case(use_regular_nms=per_class)
        case(use_regular_nms=per_class, columns=3)
        case(use_regular_nms=per_class, encoding=6, nms_iou_threshold=0.2, max_detections=3)
        case(use_regular_nms=per_class, boxes=60, dtype="uint8")
    case(use_regular_nms=True, detections_per_class=1)
    case(use_regular_nms=True, detections_per_class=None, max_detections=12)
    case(use_regular_nms=True, nms_score_threshold=0.95, max_detections=12)
    case(use_regular_nms=None)
    case(max_classes_per_detection=2, max_detections=3)
    case(max_classes_per_detection=3, max_detections=2, low=0.3)
    case(boxes=1, columns=2, num_classes=1, max_detections=1, low=0.5)
    case(max_detections=0, error="asks for 0 detections of 1 of 3 classes")
    case(max_detections=2**20, max_classes_per_detection=2**20,
         error="a dimension of the output would have 1099511627776 elements")
    case(max_detections=2**40, error="max_detections is 1099511627776")
    case(use_regular_nms=True, detections_per_class=-1, error="asks for -1 detections per class")
    case(nms_iou_threshold=0.0, error="the overlap threshold is 0")
    case(nms_iou_threshold=1.5, error="the overlap threshold is 1.5")
    case(h_scale=0.0, error="a scale of the boxes is 0")
    case(num_classes=5, error="has 4 scores for 5 classes")
    case(shape=(1, 40, 3), error="do not fit")
    case(shape=(2, 40, 4), error="do not fit")
    case(shape=(1, 41, 4), error="do not fit")
    case(custom=b"\0\0", error="its options are missing")
    case(custom=b"\xff\xff\xff\xff\xff", error="its options are not a map")
    F.case("TFLite_Detection_PostProcess",
           [Tensor("float32", (1, 2, 4)), Tensor("float32", (1, 2, 4)),
            const("float32", [[0, 0, 1, 1], [0, 0, -1, 1]])], [Tensor("float32")] * 4, options(),
           feeds=[[np.zeros((1, 2, 4)), np.zeros((1, 2, 4))]],
           error="box 1 has a negative extent")


if __name__ == "__main__":
    all_cases()
    F.write()
