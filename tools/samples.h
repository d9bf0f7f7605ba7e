// The sample inputs that `--data [NAME=]PATH` gives, one after the other.
#ifndef INTAGLIO_TOOLS_SAMPLES_H_
#define INTAGLIO_TOOLS_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/tools/npy.h"

namespace intaglio::tools {

// How samples of 8 bits become float32: (sample - mean) / std, each one number or one for each
// channel.
struct SampleScale {
  std::vector<double> mean = {127.5};
  std::vector<double> std = {127.5};
};

// A path is a .npy file, an image (image.h), or a folder of such files, which are taken in the
// order of their names. The first axis of an array counts samples: an input of the shape [B, ...]
// takes its array [N, ...] in N / B parts, and an array [N, B, ...] in N parts. Where B is 1, an
// array may lack it. An array of uint8, and an image, are scaled where the input is float32. One
// sample, or one image, of each input is in memory at a time.
class Samples {
 public:
  // Finds the files. Each input of the graph needs an argument.
  static Result<Samples> Open(const nn::Graph& graph, const std::vector<std::string>& data,
                              const SampleScale& scale);

  // Writes the elements of the next sample into buffers of the inputs' sizes. Returns false if
  // there is none left. It is an error if another input has one left, or if a file does not fit.
  Result<bool> Next(std::vector<std::vector<std::byte>>& inputs);
  // Starts again with the first sample.
  void Rewind();

 private:
  struct Source {
    nn::Tensor tensor;  // the input, without its elements
    std::vector<std::string> files;
    size_t next = 0;                   // file
    std::optional<NpyFile> file = {};  // nothing: `array` is an image
    NpyArray array = {};               // of a file without its data
    size_t taken = 0;                  // parts of the array
    size_t parts = 0;
    std::vector<uint8_t> part = {};
  };

  Status Load(Source& source);
  Status Take(Source& source, std::vector<std::byte>& bytes) const;

  SampleScale scale_;
  std::vector<Source> sources_;
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_SAMPLES_H_
