// tflite_seeds FOLDER: writes the fuzzer's seeds, small models that between them have every
// operator.
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/test/nn/import/crafted_models.h"

int main(int argc, char** argv) {
  namespace test = intaglio::nn::test;
  if (argc != 2) {
    std::fprintf(stderr, "usage: tflite_seeds FOLDER\n");
    return 2;
  }
  test::ModelSpec old = test::SmallNetwork();
  old.deprecated_codes = true;
  const std::pair<const char*, test::ModelSpec> seeds[] = {
      {"seed_network", test::SmallNetwork()},
      {"seed_network_old_codes", old},
      {"seed_elementwise", test::SmallElementwise()},
      {"seed_uint8", test::SmallUint8()},
  };
  for (const auto& [name, spec] : seeds) {
    const std::vector<uint8_t> bytes = test::Build(spec);
    std::ofstream file(std::string(argv[1]) + "/" + name + ".tflite", std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) {
      std::fprintf(stderr, "cannot write into %s\n", argv[1]);
      return 1;
    }
  }
}
