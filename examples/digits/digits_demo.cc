// Reads 500 handwritten digits with an int8 network, integer arithmetic only.
//
//   digits_demo [FOLDER]
//
// FOLDER holds digits.tflite, the images the network was not trained on, and what it must answer to
// the bit; README.md there says where they come from.
#include <intaglio/nn/formats/tflite/reader.h>
#include <intaglio/nn/runtime/model.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using intaglio::Result;
using intaglio::Status;
using intaglio::nn::Model;

constexpr size_t kPixels = 8 * 8;
constexpr size_t kClasses = 10;
constexpr size_t kShown = 6;

struct Data {
  std::vector<int8_t> images;    // kPixels per digit
  std::vector<int8_t> expected;  // kClasses per digit: what TFLite's reference kernels give
  std::vector<uint8_t> labels;
};

// Reads the elements of a .npy file of bytes. They follow a header, whose length is in bytes 8 and
// 9.
Result<std::vector<uint8_t>> ReadNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string magic = "\x93NUMPY";
  if (bytes.size() < 10 || !std::equal(magic.begin(), magic.end(), bytes.begin())) {
    return intaglio::InvalidArgument(path + ": not a .npy file");
  }
  const size_t first = 10 + static_cast<uint8_t>(bytes[8]) + 256 * static_cast<uint8_t>(bytes[9]);
  if (first > bytes.size()) return intaglio::InvalidArgument(path + ": cut off");
  return std::vector<uint8_t>(bytes.begin() + static_cast<ptrdiff_t>(first), bytes.end());
}

Result<Data> ReadData(const std::string& folder) {
  const auto images = ReadNpy(folder + "/heldout_images.npy");
  if (!images.ok()) return images.status();
  const auto expected = ReadNpy(folder + "/expected_outputs.npy");
  if (!expected.ok()) return expected.status();
  const auto labels = ReadNpy(folder + "/heldout_labels.npy");
  if (!labels.ok()) return labels.status();
  const size_t digits = labels->size();
  if (digits == 0 || images->size() != digits * kPixels || expected->size() != digits * kClasses) {
    return intaglio::InvalidArgument(folder + ": not the digits this program knows");
  }
  return Data{{images->begin(), images->end()}, {expected->begin(), expected->end()}, *labels};
}

// The accuracy of the float model this one was made from, as metadata.json states it.
std::optional<double> FloatAccuracy(const std::string& folder) {
  std::ifstream file(folder + "/metadata.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string key = "\"accuracy\":";
  const size_t section = text.find("\"float_held_out\"");
  const size_t at = section == std::string::npos ? section : text.find(key, section);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(text.c_str() + at + key.size(), nullptr);
}

size_t Highest(const int8_t* scores) {
  return static_cast<size_t>(std::max_element(scores, scores + kClasses) - scores);
}

// Digits side by side, two characters per pixel, darker for more ink. Pixels are -128 .. 127.
void Draw(const Data& data, const std::vector<size_t>& which, const std::vector<int8_t>& scores) {
  static constexpr char kShades[] = " .:-=+*#%@";
  for (size_t row = 0; row < 8; ++row) {
    std::printf("  ");
    for (const size_t digit : which) {
      for (size_t column = 0; column < 8; ++column) {
        const int ink = data.images[digit * kPixels + row * 8 + column] + 128;
        const char shade = kShades[ink * 10 / 256];
        std::printf("%c%c", shade, shade);
      }
      std::printf("  ");
    }
    std::printf("\n");
  }
  std::printf("  ");
  for (const size_t digit : which) {
    const int8_t* const row = &scores[digit * kClasses];
    const size_t best = Highest(row);
    char text[32];
    std::snprintf(text, sizeof(text), "reads %zu, %.0f %%", best, (row[best] + 128) / 2.56);
    std::printf("%-18s", text);
  }
  std::printf("\n\n");
}

void DrawSome(const Data& data, const std::vector<int8_t>& scores) {
  std::vector<size_t> first;
  std::vector<size_t> wrong;
  for (size_t i = 0; i < data.labels.size(); ++i) {
    if (first.size() < kShown) first.push_back(i);
    if (wrong.size() < kShown && Highest(&scores[i * kClasses]) != data.labels[i]) {
      wrong.push_back(i);
    }
  }
  std::printf("\nThe first %zu:\n\n", first.size());
  Draw(data, first, scores);
  if (wrong.empty()) return;
  std::printf("The first it gets wrong (written were:");
  for (const size_t i : wrong) std::printf(" %d", data.labels[i]);
  std::printf("):\n\n");
  Draw(data, wrong, scores);
}

Status ReadDigits(Model& model, const Data& data, std::vector<int8_t>& scores) {
  for (size_t i = 0; i < data.labels.size(); ++i) {
    const std::span<const int8_t> image(&data.images[i * kPixels], kPixels);
    const std::span<int8_t> row(&scores[i * kClasses], kClasses);
    const intaglio::nn::InputBuffer input = intaglio::nn::MakeInput(image);
    const intaglio::nn::OutputBuffer output = intaglio::nn::MakeOutput(row);
    INTAGLIO_RETURN_IF_ERROR(model.Run({&input, 1}, {&output, 1}));
  }
  return {};
}

void Report(const std::string& folder, const Model& model, const Data& data,
            const std::vector<int8_t>& scores, double microseconds) {
  size_t correct = 0;
  for (size_t i = 0; i < data.labels.size(); ++i) {
    correct += Highest(&scores[i * kClasses]) == data.labels[i] ? 1 : 0;
  }
  const size_t count = data.labels.size();
  DrawSome(data, scores);
  std::printf("%zu layers, %zu bytes of activations\n", model.layers().size(), model.arena_bytes());
  std::printf("int8 accuracy     %.1f %% (%zu of %zu held-out digits)\n",
              100.0 * static_cast<double>(correct) / static_cast<double>(count), correct, count);
  if (const std::optional<double> accuracy = FloatAccuracy(folder)) {
    std::printf("float32 accuracy  %.1f %%\n", 100 * *accuracy);
  }
  std::printf("time per digit    %.1f us on one thread\n", microseconds);
}

Status Demo(const std::string& folder) {
  auto graph = intaglio::nn::LoadTflite(folder + "/digits.tflite");
  if (!graph.ok()) return graph.status();
  auto model = Model::Prepare(std::move(*graph));
  if (!model.ok()) return model.status();
  const Result<Data> data = ReadData(folder);
  if (!data.ok()) return data.status();
  std::vector<int8_t> scores(data->labels.size() * kClasses);
  INTAGLIO_RETURN_IF_ERROR(ReadDigits(*model, *data, scores));  // warms caches up
  const auto start = std::chrono::steady_clock::now();
  INTAGLIO_RETURN_IF_ERROR(ReadDigits(*model, *data, scores));
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  Report(folder, *model, *data, scores, time.count() / static_cast<double>(data->labels.size()));
  if (scores != data->expected) {
    return intaglio::InvalidArgument("the outputs are not those of TFLite's reference kernels");
  }
  std::printf("every output      the same bits as TFLite's reference kernels\n");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = Demo(argc > 1 ? argv[1] : INTAGLIO_DIGITS);
  if (status.ok()) return 0;
  std::fprintf(stderr, "digits_demo: %s\n", status.message().c_str());
  return 1;
}
