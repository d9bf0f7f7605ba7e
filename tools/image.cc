#include "intaglio/tools/image.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

#include "intaglio/tools/file.h"

namespace intaglio::tools {
namespace {

constexpr int kMaxSide = 16384;

uint32_t Little(std::span<const uint8_t> bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= uint32_t{bytes[at + i]} << (8 * i);
  return value;
}

// A BMP file: a 14-byte file header, an information header of 40 bytes or more, a palette for 8-bit
// pixels, and rows padded to 4 bytes, the bottom row first unless the height is negative.
struct Bmp {
  uint32_t data_offset = 0;
  uint32_t header_size = 0;
  int width = 0;
  int height = 0;
  bool top_down = false;
  uint32_t bits = 0;
  uint32_t colors = 0;
};

std::optional<Bmp> ParseBmpHeader(std::span<const uint8_t> bytes) {
  if (bytes.size() < 54) return std::nullopt;
  Bmp bmp;
  bmp.data_offset = Little(bytes, 10, 4);
  bmp.header_size = Little(bytes, 14, 4);
  const auto width = static_cast<int32_t>(Little(bytes, 18, 4));
  const auto height = static_cast<int32_t>(Little(bytes, 22, 4));
  bmp.bits = Little(bytes, 28, 2);
  const uint32_t compression = Little(bytes, 30, 4);
  bmp.colors = Little(bytes, 46, 4);
  if (bmp.colors == 0) bmp.colors = 256;
  bmp.top_down = height < 0;
  if (bmp.header_size < 40 || width < 1 || width > kMaxSide || height == 0 || height > kMaxSide ||
      height < -kMaxSide || compression != 0 || bmp.colors > 256) {
    return std::nullopt;
  }
  bmp.width = width;
  bmp.height = std::abs(height);
  return bmp.bits == 8 || bmp.bits == 24 ? std::optional(bmp) : std::nullopt;
}

// The palette as RGB, or as one grey value per entry.
struct Palette {
  std::array<std::array<uint8_t, 3>, 256> rgb = {};
  bool grey = true;
};

std::optional<Palette> ParsePalette(const Bmp& bmp, std::span<const uint8_t> bytes) {
  Palette palette;
  const uint64_t begin = uint64_t{14} + bmp.header_size;
  if (begin + uint64_t{4} * bmp.colors > bytes.size()) return std::nullopt;
  for (size_t i = 0; i < bmp.colors; ++i) {
    const uint8_t* const bgr = bytes.data() + begin + 4 * i;
    palette.rgb[i] = {bgr[2], bgr[1], bgr[0]};
    palette.grey = palette.grey && bgr[0] == bgr[1] && bgr[1] == bgr[2];
  }
  return palette;
}

std::optional<Image> ParseBmp(std::span<const uint8_t> bytes) {
  const std::optional<Bmp> bmp = ParseBmpHeader(bytes);
  if (!bmp) return std::nullopt;
  Palette palette;
  if (bmp->bits == 8) {
    const std::optional<Palette> parsed = ParsePalette(*bmp, bytes);
    if (!parsed) return std::nullopt;
    palette = *parsed;
  }
  const auto width = static_cast<size_t>(bmp->width);
  const auto height = static_cast<size_t>(bmp->height);
  const size_t stride = (width * bmp->bits / 8 + 3) / 4 * 4;
  if (bmp->data_offset > bytes.size() || stride * height > bytes.size() - bmp->data_offset) {
    return std::nullopt;
  }
  Image image{bmp->width, bmp->height, bmp->bits == 8 && palette.grey ? 1 : 3, {}};
  image.samples.reserve(width * height * static_cast<size_t>(image.channels));
  for (size_t y = 0; y < height; ++y) {
    const size_t row = bmp->top_down ? y : height - 1 - y;
    const uint8_t* const pixels = bytes.data() + bmp->data_offset + row * stride;
    for (size_t x = 0; x < width; ++x) {
      if (bmp->bits == 24) {
        image.samples.insert(image.samples.end(),
                             {pixels[3 * x + 2], pixels[3 * x + 1], pixels[3 * x]});
        continue;
      }
      const std::array<uint8_t, 3>& rgb = palette.rgb[pixels[x]];
      image.samples.insert(image.samples.end(), rgb.begin(), rgb.begin() + image.channels);
    }
  }
  return image;
}

// One number of a PNM header, after white space and comments.
std::optional<int> PnmNumber(std::span<const uint8_t> bytes, size_t& at) {
  while (at < bytes.size() && (std::isspace(bytes[at]) || bytes[at] == '#')) {
    if (bytes[at] == '#') {
      while (at < bytes.size() && bytes[at] != '\n') ++at;
    } else {
      ++at;
    }
  }
  int value = 0;
  const size_t begin = at;
  for (; at < bytes.size() && std::isdigit(bytes[at]); ++at) {
    value = value * 10 + (bytes[at] - '0');
    if (value > 65535) return std::nullopt;
  }
  return at > begin ? std::optional(value) : std::nullopt;
}

std::optional<Image> ParsePnm(std::span<const uint8_t> bytes) {
  Image image;
  image.channels = bytes[1] == '5' ? 1 : 3;
  size_t at = 2;
  const std::optional<int> width = PnmNumber(bytes, at);
  const std::optional<int> height = PnmNumber(bytes, at);
  const std::optional<int> maximum = PnmNumber(bytes, at);
  if (!width || !height || !maximum || *width < 1 || *width > kMaxSide || *height < 1 ||
      *height > kMaxSide || *maximum != 255 || at == bytes.size()) {
    return std::nullopt;
  }
  ++at;  // the one white space before the samples
  image.width = *width;
  image.height = *height;
  const size_t size = static_cast<size_t>(image.width) * static_cast<size_t>(image.height) *
                      static_cast<size_t>(image.channels);
  if (size > bytes.size() - at) return std::nullopt;
  const std::span<const uint8_t> samples = bytes.subspan(at, size);
  image.samples.assign(samples.begin(), samples.end());
  return image;
}

// Where a target row or column reads from: two source positions, and the weight of the second.
struct Tap {
  int low = 0;
  int high = 0;
  float weight = 0;
};

Tap TapAt(int target, int target_size, int source_size) {
  const float scale = static_cast<float>(source_size) / static_cast<float>(target_size);
  const float position = (static_cast<float>(target) + 0.5f) * scale - 0.5f;
  Tap tap;
  tap.low = std::max(static_cast<int>(std::floor(position)), 0);
  tap.high = std::min(static_cast<int>(std::ceil(position)), source_size - 1);
  tap.weight = position - static_cast<float>(tap.low);
  return tap;
}

}  // namespace

Result<Image> ParseImage(std::span<const uint8_t> bytes, const std::string& name) {
  std::optional<Image> image;
  if (bytes.size() > 2 && bytes[0] == 'B' && bytes[1] == 'M') {
    image = ParseBmp(bytes);
  } else if (bytes.size() > 2 && bytes[0] == 'P' && (bytes[1] == '5' || bytes[1] == '6')) {
    image = ParsePnm(bytes);
  }
  if (!image) {
    return InvalidArgument(name +
                           ": not an image that can be read (8- or 24-bit uncompressed BMP, or "
                           "binary 8-bit PGM or PPM, of at most 16384 pixels a side)");
  }
  return std::move(*image);
}

Result<Image> ReadImage(const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  return ParseImage(*bytes, path);
}

Image Resize(const Image& image, int width, int height) {
  if (image.width == width && image.height == height) return image;
  Image out{width, height, image.channels, {}};
  out.samples.reserve(static_cast<size_t>(width) * static_cast<size_t>(height) *
                      static_cast<size_t>(image.channels));
  const auto sample = [&image](int y, int x, int c) {
    const auto at =
        (static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x)) *
            static_cast<size_t>(image.channels) +
        static_cast<size_t>(c);
    return static_cast<float>(image.samples[at]);
  };
  for (int y = 0; y < height; ++y) {
    const Tap v = TapAt(y, height, image.height);
    for (int x = 0; x < width; ++x) {
      const Tap h = TapAt(x, width, image.width);
      for (int c = 0; c < image.channels; ++c) {
        const float value = sample(v.low, h.low, c) * (1 - v.weight) * (1 - h.weight) +
                            sample(v.high, h.low, c) * v.weight * (1 - h.weight) +
                            sample(v.low, h.high, c) * (1 - v.weight) * h.weight +
                            sample(v.high, h.high, c) * v.weight * h.weight;
        out.samples.push_back(static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f)));
      }
    }
  }
  return out;
}

Image WithChannels(const Image& image, int channels) {
  if (image.channels == channels) return image;
  Image out{image.width, image.height, channels, {}};
  const size_t pixels = image.samples.size() / static_cast<size_t>(image.channels);
  for (size_t i = 0; i < pixels; ++i) {
    if (channels == 3) {
      out.samples.insert(out.samples.end(), 3, image.samples[i]);
    } else {
      const uint8_t* const rgb = &image.samples[3 * i];
      out.samples.push_back(
          static_cast<uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000));
    }
  }
  return out;
}

}  // namespace intaglio::tools
