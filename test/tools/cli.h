// Runs the program as its users do.
#ifndef INTAGLIO_TEST_TOOLS_CLI_H_
#define INTAGLIO_TEST_TOOLS_CLI_H_

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/tools/file.h"
#include "intaglio/tools/npy.h"

namespace intaglio::tools {

namespace fs = std::filesystem;
inline std::string Text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("intaglio_cli_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Write("network.tflite", nn::test::Build(nn::test::SmallNetwork()));
    ASSERT_TRUE(WriteNpy(In("x.npy"), Type::kInt8, std::vector<int64_t>{1, 4, 4, 2},
                         std::vector<uint8_t>(32, 7))
                    .ok());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string In(const std::string& name) const { return (folder_ / name).string(); }

  void Write(const std::string& name, const std::vector<uint8_t>& bytes) const {
    ASSERT_TRUE(WriteFile(In(name), bytes).ok());
  }

  // The arguments are words of a shell in the test's folder.
  Outcome Run(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.string() + "' && " INTAGLIO_PROGRAM " " +
                                arguments + " > stdout.txt 2> stderr.txt";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Text(In("stdout.txt")),
            Text(In("stderr.txt"))};
  }

  // Expects an error: this status, nothing on stdout, and this message on stderr as one line.
  void ExpectError(const std::string& arguments, int status, const std::string& message) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_EQ(outcome.err.find("intaglio: "), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  }

  fs::path folder_;
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TEST_TOOLS_CLI_H_
