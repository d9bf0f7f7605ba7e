// onnx_seeds FOLDER: writes the fuzzer's seeds, the recorded models of test/nn/formats/onnx.
#include <cstdio>
#include <fstream>
#include <string>

#include "intaglio/test/nn/ops/golden_file.h"

int main(int argc, char** argv) {
  namespace test = intaglio::nn::test;
  if (argc != 2) {
    std::fprintf(stderr, "usage: onnx_seeds FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  for (const char* file : {"node_tests", "operators", "quantized"}) {
    const std::string path =
        std::string(INTAGLIO_SOURCE_DIR "/test/nn/formats/onnx/") + file + ".golden";
    int number = 0;
    for (const test::GoldenCase& c : test::ReadGoldenFile(path)) {
      const std::string name = folder + "/" + file + "_" + std::to_string(number++) + ".onnx";
      std::ofstream stream(name, std::ios::binary);
      stream.write(reinterpret_cast<const char*>(c.model.data()),
                   static_cast<std::streamsize>(c.model.size()));
      if (stream.flush()) continue;
      std::fprintf(stderr, "cannot write %s\n", name.c_str());
      return 1;
    }
  }
  return 0;
}
