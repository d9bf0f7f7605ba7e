#include "intaglio/test/nn/ops/golden_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

namespace intaglio::nn::test {
namespace {

// Reads values one after the other; a file that ends early fails the test.
class Reader {
 public:
  explicit Reader(GoldenBytes bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T Number() {
    T value = {};
    std::memcpy(&value, Take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  GoldenBytes Blob() { return has_shared_blobs_ ? blobs_.at(Number<uint32_t>()) : BlobInPlace(); }
  std::string Text() {
    const GoldenBytes blob = Blob();
    return {blob.begin(), blob.end()};
  }
  // From here on, every blob is one of these, which come first.
  void ReadSharedBlobs() {
    for (auto i = Number<uint32_t>(); i > 0; --i) blobs_.push_back(BlobInPlace());
    has_shared_blobs_ = true;
  }
  std::span<const uint8_t> Take(size_t count) {
    if (count > bytes_.size() - position_) throw std::out_of_range("the golden file is cut short");
    position_ += count;
    return std::span<const uint8_t>(bytes_).subspan(position_ - count, count);
  }
  bool AtEnd() const { return position_ == bytes_.size(); }

 private:
  GoldenBytes BlobInPlace() {
    const auto blob = Take(Number<uint32_t>());
    return {blob.begin(), blob.end()};
  }

  bool has_shared_blobs_ = false;
  std::vector<GoldenBytes> blobs_;
  GoldenBytes bytes_;
  size_t position_ = 0;
};

GoldenOutput ReadOutput(Reader& reader) {
  GoldenOutput output;
  output.type = reader.Number<uint8_t>();
  const auto rank = reader.Number<uint8_t>();
  for (int i = 0; i < rank; ++i) output.shape.push_back(reader.Number<int32_t>());
  output.bytes = reader.Blob();
  return output;
}

GoldenCase ReadCase(Reader& reader) {
  GoldenCase c;
  c.name = reader.Text();
  c.model = reader.Blob();
  c.error = reader.Text();
  c.bound = reader.Number<float>();
  c.runs.resize(reader.Number<uint32_t>());
  for (GoldenRun& run : c.runs) {
    for (auto i = reader.Number<uint32_t>(); i > 0; --i) run.inputs.push_back(reader.Blob());
    for (auto i = reader.Number<uint32_t>(); i > 0; --i) run.outputs.push_back(ReadOutput(reader));
  }
  return c;
}

}  // namespace

std::vector<std::string> GoldenFiles() {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  const fs::path folder = fs::path(INTAGLIO_SOURCE_DIR) / "test" / "nn" / "ops" / "golden";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".golden") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<GoldenCase> ReadGoldenFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  Reader reader(GoldenBytes(std::istreambuf_iterator<char>(stream), {}));
  const bool magic = std::memcmp(reader.Take(16).data(), "intaglio-golden", 16) == 0;
  const auto version = reader.Number<uint32_t>();
  if (!magic || version < 1 || version > 2) throw std::runtime_error("no golden file: " + path);
  if (version == 2) reader.ReadSharedBlobs();
  std::vector<GoldenCase> cases(reader.Number<uint32_t>());
  for (GoldenCase& c : cases) c = ReadCase(reader);
  if (!reader.AtEnd()) throw std::runtime_error("longer than it says: " + path);
  return cases;
}

}  // namespace intaglio::nn::test
