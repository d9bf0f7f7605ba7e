// The commands on a model with an operator of somebody's own, that of examples/custom_operator,
// which they load.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "intaglio/test/tools/cli.h"

namespace intaglio::tools {
namespace {

class CliOperators : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    // The example makes the model.
    const std::string command = INTAGLIO_EXAMPLE " '" + In("shrink.tflite") + "' > /dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  // Runs a command on that model, with the operators.
  Outcome RunOnShrink(const std::string& command, const std::string& more = "") const {
    return Run(command + " shrink.tflite --operators '" INTAGLIO_OPERATORS "' " + more);
  }
};

void ExpectPrints(const Outcome& outcome, const std::string& text) {
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find(text), std::string::npos) << outcome.out;
}

TEST_F(CliOperators, InspectShowsTheirRoutines) {
  const Outcome outcome = RunOnShrink("inspect");
  ExpectPrints(outcome, "CUSTOM 'HardShrink' v1");
  ExpectPrints(outcome, "example:qint8/hard_shrink");
}

TEST_F(CliOperators, RunGivesTheirResults) {
  ASSERT_TRUE(WriteNpy(In("in.npy"), Type::kInt8, std::vector<int64_t>{1, 9},
                       std::vector<uint8_t>{0x80, 0xfa, 0xfb, 2, 3, 4, 11, 12, 127})
                  .ok());
  ExpectPrints(RunOnShrink("run", "--input in.npy --output out"), "wrote    out/0_y.npy");
  const Result<NpyArray> y = ReadNpy(In("out/0_y.npy"));
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_EQ(y->data, (std::vector<uint8_t>{0x80, 0xfa, 3, 3, 3, 3, 3, 12, 127}));
}

TEST_F(CliOperators, BenchAndVerifyTakeThem) {
  ExpectPrints(RunOnShrink("bench", "--seconds 0"), "HARD_SHRINK");
  ExpectPrints(RunOnShrink("verify", "--inputs 1"), "outputs of 1 input: ");
}

TEST_F(CliOperators, PartitionWritesThemAgain) {
  ExpectPrints(RunOnShrink("partition", "parts"), "verified in 3 runs");
  ExpectPrints(Run("inspect parts/quantized_main.tflite --operators '" INTAGLIO_OPERATORS "'"),
               "example:qint8/hard_shrink");
}

TEST_F(CliOperators, ModelsNeedThem) {
  ExpectError("verify shrink.tflite", 1,
              "shrink.tflite: operator #0 CUSTOM 'HardShrink' v1: not supported");
}

TEST_F(CliOperators, LibrariesThatAreNoneAreRefused) {
  const auto refuses = [&](const std::string& library, const std::string& message) {
    ExpectError("verify shrink.tflite --operators '" + library + "'", 1, message);
    ExpectError("inspect shrink.tflite --operators '" + library + "'", 1, message);
    ExpectError("partition shrink.tflite out --operators '" + library + "'", 1, message);
  };
  Write("text.so", {'t', 'e', 'x', 't'});
  refuses("none.so", "none.so: there is no such file");
  refuses("text.so", "text.so: cannot be loaded: ");
  refuses(INTAGLIO_NO_FUNCTION,
          "no_function.so: is no library of operators: it has no function IntaglioOperators");
  refuses(INTAGLIO_NO_LIST, "no_list.so: its list of operators is null");
  refuses(INTAGLIO_ANOTHER_VERSION,
          "another_version.so: has version 12345 of the interface to operators");
  ExpectError("verify shrink.tflite --operators", 2, "--operators");
}

TEST_F(CliOperators, SeveralLibrariesMayBeGiven) {
  ExpectPrints(RunOnShrink("inspect", "--operators '" INTAGLIO_OPERATORS "'"),
               "example:qint8/hard_shrink");
}

}  // namespace
}  // namespace intaglio::tools
