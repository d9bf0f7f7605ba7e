// Constants that lie in files beside a model.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/test/nn/formats/onnx/small_models.h"

namespace intaglio::nn::test {
namespace {

// A folder with a file of constants, which goes with the test.
class ExternalDataTest : public testing::Test {
 protected:
  ExternalDataTest() : folder_(testing::TempDir() + "/onnx_external_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_ + "/inner");
    const float values[] = {9, 1, 2, 3, 4};
    Write(folder_ + "/inner/weights", std::string(reinterpret_cast<const char*>(values), 20));
    Write(folder_ + "/secret", std::string(20, 's'));
  }
  ~ExternalDataTest() override { std::filesystem::remove_all(folder_); }

  static void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  static ModelProto Named(const std::vector<std::pair<std::string, std::string>>& entries) {
    return AddConstant([&](TensorProto& c) {
      c.set_data_location(TensorProto::EXTERNAL);
      for (const auto& [key, value] : entries) {
        onnx::StringStringEntryProto* const entry = c.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      }
    });
  }

  OnnxOptions Options() const {
    OnnxOptions options;
    options.external_data_folder = folder_;
    return options;
  }

  std::string Fails(const std::vector<std::pair<std::string, std::string>>& entries) const {
    return WhyNot(Named(entries), Options());
  }

  const std::string folder_;
};

TEST_F(ExternalDataTest, IsFoundBesideTheModel) {
  const ModelProto model =
      Named({{"location", "inner/weights"}, {"offset", "4"}, {"length", "16"}, {"checksum", "no"}});
  for (const bool copy : {false, true}) {
    OnnxOptions options = Options();
    options.copy_file = copy;
    const Result<Graph> graph = Import(model, options);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(ResultsOf(*graph, {10, 20, 30, 40}), (std::vector<float>{11, 22, 33, 44}));
  }
  Write(folder_ + "/model.onnx", model.SerializeAsString());
  EXPECT_TRUE(LoadOnnx(folder_ + "/model.onnx").ok());
  EXPECT_EQ(WhyNot(model),
            "m: constant 'c' external data 'inner/weights' is not given: a model in memory has no "
            "folder");
}

TEST_F(ExternalDataTest, StaysInItsFolder) {
  std::filesystem::create_symlink("/etc/passwd", folder_ + "/link");
  std::filesystem::create_directory_symlink("/etc", folder_ + "/etc");
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  const std::string start = "m: constant 'c' external data ";
  EXPECT_EQ(Fails({{"location", "/etc/passwd"}}), start + "'/etc/passwd' is an absolute path");
  EXPECT_EQ(Fails({{"location", "inner/../secret"}}),
            start + "'inner/../secret' leaves the model's folder");
  EXPECT_EQ(Fails({{"location", ".."}}), start + "'..' leaves the model's folder");
  for (const char* const path : {"link", "etc/passwd", "pipe", "inner", "nothing", "."}) {
    EXPECT_NE(Fails({{"location", path}}), "") << path;
  }
  EXPECT_EQ(Fails({{"location", std::string("a\0b", 3)}}).find(start), 0u);
  // Files that are there stay readable under other spellings of their path.
  EXPECT_EQ(Fails({{"location", "./inner//weights"}}), "");
}

TEST_F(ExternalDataTest, EndsWhereTheFileEnds) {
  const std::string start = "m: constant 'c' external data ";
  EXPECT_EQ(Fails({{"location", "inner/weights"}, {"offset", "5"}}),
            start + "'inner/weights' ends at byte 20, before the tensor's 16 bytes from 5 on");
  EXPECT_NE(Fails({{"location", "inner/weights"}, {"offset", "18446744073709551615"}}), "");
  EXPECT_EQ(Fails({{"location", "inner/weights"}, {"length", "12"}}),
            start + "has 12 bytes; the type and the shape need 16");
  EXPECT_EQ(Fails({{"location", "inner/weights"}, {"offset", "-4"}}),
            "m: constant 'c' external data: offset '-4' is no count of bytes");
  EXPECT_EQ(Fails({{"location", "inner/weights"}, {"size", "4"}}),
            start + "has the key 'size'; location, offset, length and checksum are known");
  EXPECT_EQ(Fails({{"offset", "4"}}), start + "has no location");
}

}  // namespace
}  // namespace intaglio::nn::test
