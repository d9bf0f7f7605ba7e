#include "intaglio/pack/image_lines.h"

#include <algorithm>
#include <limits>

namespace intaglio {
namespace {

// What lies behind the last line, which a depth group may reach into.
constexpr ptrdiff_t kSlack = 64;  // bytes

constexpr int64_t kMostBytes = 1 << 28;  // twice as many are places within an int32

// A line as it is laid out, in pixels.
struct Line {
  int before;  // of padding
  int inside;
  int after;  // of padding

  explicit Line(const Im2col& v) {
    const int columns = (v.out_width - 1) * v.stride_width + v.kernel_width;
    before = std::min(v.pad_left, columns);
    inside = std::min(v.width, columns - before);
    after = columns - before - inside;
  }
  int columns() const { return before + inside + after; }
};

ptrdiff_t PixelBytes(const Im2col& v, RowFormat format) {
  return v.group_channels * static_cast<ptrdiff_t>(RowElementBytes(format));
}

// Views may have more than an address space does.
int64_t LineBytes(const Im2col& v, RowFormat format) {
  return int64_t{Line(v).columns()} * PixelBytes(v, format);
}

// From the first line of a window to one behind its last.
int64_t WindowLines(const Im2col& v) {
  return int64_t{v.kernel_height - 1} * v.dilation_height + 1;
}

std::byte* Fill(std::byte* to, ptrdiff_t elements, RowFormat format, int32_t value) {
  if (format == RowFormat::kWidened16) {
    return reinterpret_cast<std::byte*>(
        std::fill_n(reinterpret_cast<int16_t*>(to), elements, static_cast<int16_t>(value)));
  }
  return std::fill_n(to, elements, static_cast<std::byte>(value));
}

// Lines of an image, one after the other.
class LineWriter {
 public:
  LineWriter(const Im2col& v, RowFormat format, decltype(&PackRows) pack, std::byte* to)
      : view_(v), line_(v), format_(format), pack_(pack), to_(to) {}

  // Line y of image `batch`, which may lie outside.
  void Write(int batch, int64_t y) {
    const Im2col& v = view_;
    const bool outside = y < 0 || y >= v.height || line_.inside == 0;
    Pad(outside ? line_.columns() : line_.before);
    if (outside) return;
    const auto* image = static_cast<const uint8_t*>(v.data) + v.first_channel;
    const ptrdiff_t pixel = (ptrdiff_t{batch} * v.height + static_cast<ptrdiff_t>(y)) * v.width;
    const ConstMatrix pixels{
        image + pixel * v.channels, v.type,      line_.inside, v.group_channels, v.channels,
        Order::kRowMajor,           v.zero_point};
    pack_(RowSource::From(pixels), format_, 0, line_.inside, v.group_channels, to_);
    to_ += line_.inside * PixelBytes(v, format_);
    Pad(line_.after);
  }
  std::byte* to() const { return to_; }

 private:
  void Pad(int pixels) {
    to_ = Fill(to_, ptrdiff_t{pixels} * view_.group_channels, format_,
               view_.zero_point + RowMove(format_, view_.type));
  }

  const Im2col& view_;
  Line line_;
  RowFormat format_;
  decltype(&PackRows) pack_;
  std::byte* to_;
};

}  // namespace

bool WindowsPay(const Im2col& v) {
  if (!HasWindows(v) || Rows(v) == 0) return false;
  const int rows = std::min(kMaxBlockRows, Rows(v));
  const int64_t bytes = WindowBytes(v, RowFormat::kUnsigned8, rows) - kSlack;
  return bytes <= std::min(int64_t{rows} * Cols(v), kMostBytes);
}

int64_t WindowBytes(const Im2col& v, RowFormat format, int count) {
  // The more images the rows are of, the more or the fewer lines they read.
  const int64_t out_lines = (count - 1) / v.out_width + 2;
  const int64_t images = std::min<int64_t>(v.batch, (out_lines - 1) / v.out_height + 2);
  const int64_t of_one = WindowLines(v) + (out_lines - 1) * v.stride_height;
  const int64_t of_all = of_one + (images - 1) * (WindowLines(v) - v.stride_height);
  // Views may ask for more than an int64 counts.
  constexpr int64_t kBehind = kSlack + 63;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() - kBehind;
  int64_t bytes;
  const bool over = __builtin_mul_overflow(std::max(of_one, of_all), LineBytes(v, format), &bytes);
  return (over ? kMost : std::min(bytes, kMost)) + kBehind;
}

ptrdiff_t WindowLineStep(const Im2col& v, RowFormat format) {
  return static_cast<ptrdiff_t>(v.dilation_height * LineBytes(v, format));
}

std::byte* PackImageLines(const Im2col& v, RowFormat format, decltype(&PackRows) pack, int first,
                          int count, std::byte* lines, int32_t* begin) {
  const auto step_down = static_cast<ptrdiff_t>(v.stride_height * LineBytes(v, format));
  const ptrdiff_t step_right = v.stride_width * PixelBytes(v, format);
  LineWriter writer(v, format, pack, lines);
  int x = first % v.out_width;
  int y = first / v.out_width % v.out_height;
  int batch = first / v.out_width / v.out_height;
  while (count > 0) {
    // The part of one image.
    ptrdiff_t at = writer.to() - lines;
    const int64_t top = int64_t{y} * v.stride_height - v.pad_top;
    const int last = static_cast<int>(
        std::min<int64_t>(v.out_height - 1, y + (int64_t{x} + count - 1) / v.out_width));
    const int64_t bottom = int64_t{last} * v.stride_height - v.pad_top + WindowLines(v);
    for (int64_t line = top; line < bottom; ++line) writer.Write(batch, line);
    for (; y <= last; ++y, at += step_down, x = 0) {
      const int end = std::min(v.out_width, x + count);
      count -= end - x;
      for (; x < end; ++x) *begin++ = static_cast<int32_t>(at + x * step_right);
    }
    y = 0;
    ++batch;
  }
  const ptrdiff_t end = (writer.to() - lines + kSlack + 63) / 64 * 64;
  std::fill(writer.to(), lines + end, std::byte{0});
  return lines + end;
}

}  // namespace intaglio
