// Operators that slide a window over images, in .tflite files.
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/formats/tflite/write_padding.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

template <class Op>
Status TranslatePool(Translation& t) {
  const auto* const options = t.options<tflite::Pool2DOptions>();
  if (options == nullptr) return MissingOptions();
  const Result<Padding> padding = PaddingFrom(options->padding());
  if (!padding.ok()) return padding.status();
  const Result<Activation> activation = ActivationFrom(options->fused_activation_function());
  if (!activation.ok()) return activation.status();
  Op op;
  op.filter = {options->filter_height(), options->filter_width()};
  op.stride = {options->stride_h(), options->stride_w()};
  op.padding = *padding;
  op.activation = *activation;
  t.set(op);
  return {};
}

Status TranslateAveragePool2D(Translation& t) { return TranslatePool<AveragePool2D>(t); }

Status TranslateMaxPool2D(Translation& t) { return TranslatePool<MaxPool2D>(t); }

Status TranslateL2Pool2D(Translation& t) { return TranslatePool<L2Pool2D>(t); }

// Height and width of the output are input 1.
template <class Op, class Options>
Status TranslateResize(Translation& t) {
  const Result<std::vector<int>> size = t.ConstantInts(1, "sizes");
  if (!size.ok()) return size.status();
  if (size->size() != 2) return InvalidArgument("sizes are not height and width");
  const Result<const Options*> options = t.RequiredOptions<Options>();
  if (!options.ok()) return options.status();
  t.set(Op{(*size)[0], (*size)[1], (*options)->align_corners(), (*options)->half_pixel_centers()});
  return t.PickInputs({0});
}

Status TranslateResizeBilinear(Translation& t) {
  return TranslateResize<ResizeBilinear, tflite::ResizeBilinearOptions>(t);
}

Status TranslateResizeNearestNeighbor(Translation& t) {
  return TranslateResize<ResizeNearestNeighbor, tflite::ResizeNearestNeighborOptions>(t);
}

template <class Op>
Status EncodePool(const Op& op, tflite::Padding padding, Encoding& e) {
  e.SetOptions(tflite::CreatePool2DOptions(e.builder(), padding, op.stride.width, op.stride.height,
                                           op.filter.width, op.filter.height,
                                           ToTflite(op.activation)));
  return {};
}

// Padding does not count in these means, so that no layer PAD can stand for it.
template <class Op>
Status EncodeMean(const Op& op, Encoding& e) {
  if (IsSame(op.padding, op.stride, op.filter)) return EncodePool(op, tflite::Padding::SAME, e);
  const Result<tflite::Padding> padding = ToTflite(e.layer(), op.padding);
  if (!padding.ok()) {
    return e.layer().Unsupported(
        "explicit padding of means cannot be written: .tflite files know only SAME and VALID");
  }
  return EncodePool(op, *padding, e);
}

Status Encode(const AveragePool2D& op, Encoding& e) { return EncodeMean(op, e); }

Status Encode(const L2Pool2D& op, Encoding& e) { return EncodeMean(op, e); }

// The least number, from which maxima start.
std::variant<double, int64_t> LeastOf(Type type) {
  switch (type) {
    case Type::kFloat32:
      return double{std::numeric_limits<float>::lowest()};
    case Type::kInt16:
      return int64_t{std::numeric_limits<int16_t>::lowest()};
    case Type::kInt8:
      return int64_t{std::numeric_limits<int8_t>::lowest()};
    default:
      return int64_t{0};  // uint8
  }
}

Status Encode(const MaxPool2D& op, Encoding& e) {
  if (IsSame(op.padding, op.stride, op.filter)) return EncodePool(op, tflite::Padding::SAME, e);
  if (!IsUnknown(op.padding)) return EncodePool(op, *ToTflite(e.layer(), op.padding), e);
  const TensorId least =
      e.NumberLike("least", e.layer().input(0), LeastOf(e.layer().input(0).type));
  RunPadBefore(op.padding, least, e);
  return EncodePool(op, tflite::Padding::VALID, e);
}

Status Encode(const ResizeBilinear& op, Encoding& e) {
  if (op.height_scale > 0 && e.layer().input(0).type == Type::kFloat32) {
    return e.layer().Unsupported(
        "a resize of float32 by an .onnx file's scales cannot be written: a .tflite file's rules "
        "give other bits");
  }
  e.SetOptions(tflite::CreateResizeBilinearOptions(e.builder(), 0, 0, op.align_corners,
                                                   op.half_pixel_centers));
  return Append(e, e.Ints("size", {op.height, op.width}));
}

Status Encode(const ResizeNearestNeighbor& op, Encoding& e) {
  e.SetOptions(tflite::CreateResizeNearestNeighborOptions(e.builder(), op.align_corners,
                                                          op.half_pixel_centers));
  return Append(e, e.Ints("size", {op.height, op.width}));
}

constexpr TfliteRow kRows[] = {
    {Code::AVERAGE_POOL_2D, 3, TranslateAveragePool2D, &AveragePool2D::kRow,
     WriteBy<AveragePool2D, Encode>},
    {Code::MAX_POOL_2D, 3, TranslateMaxPool2D, &MaxPool2D::kRow, WriteBy<MaxPool2D, Encode>},
    {Code::L2_POOL_2D, 1, TranslateL2Pool2D, &L2Pool2D::kRow, WriteBy<L2Pool2D, Encode>},
    {Code::RESIZE_BILINEAR, 4, TranslateResizeBilinear, &ResizeBilinear::kRow,
     WriteBy<ResizeBilinear, Encode>},
    {Code::RESIZE_NEAREST_NEIGHBOR, 4, TranslateResizeNearestNeighbor, &ResizeNearestNeighbor::kRow,
     WriteBy<ResizeNearestNeighbor, Encode>},
};

}  // namespace

std::span<const TfliteRow> WindowRows() { return kRows; }

}  // namespace intaglio::nn
