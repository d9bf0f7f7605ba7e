// Pictures for image classifiers: 8-bit samples, rows from the top, grey or RGB.
#ifndef INTAGLIO_TOOLS_IMAGE_H_
#define INTAGLIO_TOOLS_IMAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::tools {

struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;              // 1 or 3
  std::vector<uint8_t> samples;  // height x width x channels
};

// BMP (8-bit palette or 24-bit, uncompressed), PGM and PPM (binary, 8-bit). Read as untrusted
// bytes; at most 16384 pixels a side. A BMP whose palette is grey gives one channel. `name` stands
// in messages.
Result<Image> ParseImage(std::span<const uint8_t> bytes, const std::string& name);
Result<Image> ReadImage(const std::string& path);

// The image in the size and number of channels that a model takes, as TFLite's float bilinear
// resizing with half-pixel centres gives it, truncated to integers. Grey repeats into RGB; RGB
// becomes grey as (299 R + 587 G + 114 B + 500) / 1000.
Image Resize(const Image& image, int width, int height);
Image WithChannels(const Image& image, int channels);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_IMAGE_H_
