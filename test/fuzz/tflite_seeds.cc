// tflite_seeds FOLDER: writes the fuzzer's seeds, small models that between them have every
// operator: those of the repository's corpus, and the models of the golden files, wrong ones
// included.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/test/nn/ops/golden_file.h"

namespace {

bool Write(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(file.flush());
}

}  // namespace

int main(int argc, char** argv) {
  namespace test = intaglio::nn::test;
  if (argc != 2) {
    std::fprintf(stderr, "usage: tflite_seeds FOLDER\n");
    return 2;
  }
  test::ModelSpec old = test::SmallNetwork();
  old.deprecated_codes = true;
  const std::pair<const char*, test::ModelSpec> seeds[] = {
      {"seed_network", test::SmallNetwork()},         {"seed_network_old_codes", old},
      {"seed_elementwise", test::SmallElementwise()}, {"seed_uint8", test::SmallUint8()},
      {"seed_stateful", test::SmallStateful()},
  };
  const std::string folder = argv[1];
  bool written = true;
  for (const auto& [name, spec] : seeds) {
    written = Write(folder + "/" + name + ".tflite", test::Build(spec)) && written;
  }
  for (const std::string& path : test::GoldenFiles()) {
    const std::string family = std::filesystem::path(path).stem().string();
    int number = 0;
    for (const test::GoldenCase& c : test::ReadGoldenFile(path)) {
      const std::string name = "golden_" + family + "_" + std::to_string(number++);
      written = Write(folder + "/" + name + ".tflite", c.model) && written;
    }
  }
  if (written) return 0;
  std::fprintf(stderr, "cannot write into %s\n", argv[1]);
  return 1;
}
