// Explicit padding in .tflite files, which know only SAME and VALID.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_WRITE_PADDING_H_
#define INTAGLIO_NN_FORMATS_TFLITE_WRITE_PADDING_H_

#include "intaglio/nn/formats/tflite/write.h"
#include "intaglio/nn/ops/support/padding.h"

namespace intaglio::nn {

// Whether explicit padding is that of SAME, for images of every size. A window has `reach` pixels.
bool IsSame(const Padding& padding, Extent stride, Extent reach);

// Whether the format has no name for the padding.
bool IsUnknown(const Padding& padding);

// Adds a layer before, which pads input 0 with the number in a tensor `value`; with zeros, or with
// the zero point of integers, without one.
void RunPadBefore(const Padding& padding, TensorId value, Encoding& e);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_WRITE_PADDING_H_
