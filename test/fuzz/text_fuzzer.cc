// Fuzzes the readers of other files than models: plans, ranges, recipes and their patterns, .npy
// files, pictures, saved weights. The first byte chooses the reader. What is read and can be
// written again must be read as the same. To build and run:
//
//   cmake --preset fuzz && cmake --build --preset fuzz --target text_fuzzer
//   mkdir -p build/texts && build/fuzz/test/fuzz/text_fuzzer -max_len=4096 -timeout=10
//     -malloc_limit_mb=512 -max_total_time=300 build/texts test/fuzz/texts
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "intaglio/bindings/c/saved_weights.h"
#include "intaglio/nn/quantize/named_ranges.h"
#include "intaglio/nn/quantize/pattern.h"
#include "intaglio/nn/quantize/recipe.h"
#include "intaglio/nn/tune/plan.h"
#include "intaglio/tools/image.h"
#include "intaglio/tools/npy.h"

namespace intaglio::fuzz {
namespace {

using Bytes = std::span<const uint8_t>;

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Messages are short, whatever stands in the file. Whoever prints them makes them one line.
void CheckMessage(const Status& status) {
  Require(status.ok() || !status.message().empty(), "an error without a message");
  Require(status.message().size() < 1000, "a long message");
}

std::string_view TextOf(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void ReadPlan(Bytes bytes) {
  const auto plan = nn::tune::ParsePlan(TextOf(bytes));
  CheckMessage(plan.status());
  if (!plan.ok()) return;
  const std::string text = nn::tune::ToJson(*plan);
  const auto again = nn::tune::ParsePlan(text);
  Require(again.ok() && nn::tune::ToJson(*again) == text, "a plan is another one when written");
}

void ReadRanges(Bytes bytes) {
  const auto ranges = nn::quantize::ParseRanges(TextOf(bytes));
  CheckMessage(ranges.status());
  if (!ranges.ok()) return;
  const std::string text = nn::quantize::RangesToJson(*ranges);
  const auto again = nn::quantize::ParseRanges(text);
  Require(again.ok() && nn::quantize::RangesToJson(*again) == text, "ranges are others");
}

void ReadPattern(const std::string& expression) {
  const auto pattern = nn::quantize::Pattern::Compile(expression);
  CheckMessage(pattern.status());
  if (pattern.ok()) (void)pattern->OccursIn("CONV_2D #12 'block3/conv/aaaaaaaaaaaaaaaa'");
}

void ReadRecipe(Bytes bytes) {
  const auto recipe = nn::quantize::ParseRecipe(TextOf(bytes));
  CheckMessage(recipe.status());
  if (!recipe.ok()) return;
  for (const nn::quantize::RecipeRule& rule : recipe->rules) ReadPattern(rule.layers);
}

void ReadNpy(Bytes bytes) {
  const auto array = tools::ParseNpy(bytes, "x.npy");
  CheckMessage(array.status());
  if (array.ok()) Require(array->data.size() <= bytes.size(), "more data than the file has");
}

void ReadPicture(Bytes bytes) {
  const auto image = tools::ParseImage(bytes, "x.bmp");
  CheckMessage(image.status());
  if (!image.ok()) return;
  const auto extent = [&](int v) { return static_cast<size_t>(v); };
  Require(image->samples.size() ==
              extent(image->width) * extent(image->height) * extent(image->channels),
          "a picture of another size");
  (void)tools::Resize(tools::WithChannels(*image, 3), 5, 7);
}

void ReadWeights(Bytes bytes) { CheckMessage(c::LoadWeights(bytes, nullptr).status()); }

void Check(Bytes bytes) {
  constexpr void (*kReaders[])(Bytes) = {
      ReadPlan, ReadRanges,  ReadRecipe, [](Bytes b) { ReadPattern(std::string(TextOf(b))); },
      ReadNpy,  ReadPicture, ReadWeights};
  if (bytes.empty()) return;
  kReaders[bytes[0] % std::size(kReaders)](bytes.subspan(1));
}

}  // namespace
}  // namespace intaglio::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  intaglio::fuzz::Check({data, size});
  return 0;
}
