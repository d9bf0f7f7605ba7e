#include "intaglio/pack/im2col.h"

#include <limits>
#include <string>

#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

constexpr int kIntMax = std::numeric_limits<int>::max();

// a * b, or -1 where that is not an int (or an operand is negative).
int Product(int a, int b) {
  if (a < 0 || b < 0) return -1;
  const int64_t product = int64_t{a} * b;
  return product > kIntMax ? -1 : static_cast<int>(product);
}

// The least values of a view's numbers.
struct Least {
  int Im2col::*number;
  int value;
  const char* name;
};
constexpr Least kLeast[] = {
    {&Im2col::batch, 0, "batch"},
    {&Im2col::height, 0, "height"},
    {&Im2col::width, 0, "width"},
    {&Im2col::channels, 0, "channels"},
    {&Im2col::first_channel, 0, "first channel"},
    {&Im2col::group_channels, 0, "group channels"},
    {&Im2col::pad_top, 0, "padding at the top"},
    {&Im2col::pad_left, 0, "padding at the left"},
    {&Im2col::out_height, 0, "output height"},
    {&Im2col::out_width, 0, "output width"},
    {&Im2col::kernel_height, 1, "kernel height"},
    {&Im2col::kernel_width, 1, "kernel width"},
    {&Im2col::stride_height, 1, "stride height"},
    {&Im2col::stride_width, 1, "stride width"},
    {&Im2col::dilation_height, 1, "dilation height"},
    {&Im2col::dilation_width, 1, "dilation width"},
};

// Input coordinates reach out * stride + kernel * dilation: keep them ints.
Status Reach(const char* name, int out, int stride, int kernel, int dilation, int pad) {
  const int64_t reach = int64_t{out} * stride + int64_t{kernel} * dilation + pad;
  if (int64_t{out} * stride <= kIntMax && int64_t{kernel} * dilation <= kIntMax &&
      reach <= kIntMax) {
    return {};
  }
  return InvalidArgument(std::string("im2col: ") + name + " coordinates overflow");
}

}  // namespace

Status Validate(const Im2col& v) {
  if (v.type != Type::kInt8 && v.type != Type::kUInt8) {
    return Unsupported(std::string("im2col: input is ") + NameOf(v.type) + ", not int8 or uint8");
  }
  INTAGLIO_RETURN_IF_ERROR(ValidateZeroPoint(v.zero_point, v.type));
  for (const Least& least : kLeast) {
    const int value = v.*least.number;
    if (value >= least.value) continue;
    return InvalidArgument(std::string("im2col: ") + least.name + " is " + std::to_string(value));
  }
  if (int64_t{v.first_channel} + v.group_channels > v.channels) {
    return InvalidArgument("im2col: channels " + std::to_string(v.first_channel) + " + " +
                           std::to_string(v.group_channels) + " of " + std::to_string(v.channels));
  }
  if (Product(Product(v.batch, v.out_height), v.out_width) < 0 ||
      Product(Product(v.kernel_height, v.kernel_width), v.channels) < 0 ||
      Product(Product(Product(v.batch, v.height), v.width), v.channels) < 0) {
    return InvalidArgument("im2col: more elements than an int counts");
  }
  INTAGLIO_RETURN_IF_ERROR(Reach("vertical", v.out_height, v.stride_height, v.kernel_height,
                                 v.dilation_height, v.pad_top));
  INTAGLIO_RETURN_IF_ERROR(Reach("horizontal", v.out_width, v.stride_width, v.kernel_width,
                                 v.dilation_width, v.pad_left));
  const bool reads = v.batch > 0 && v.height > 0 && v.width > 0 && v.group_channels > 0;
  if (reads && v.data == nullptr) return InvalidArgument("im2col: null data");
  return {};
}

}  // namespace intaglio
