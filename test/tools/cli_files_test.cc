// Paths that are not regular files, full disks, two commands at once, and names that are not text.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/test/tools/cli.h"

namespace intaglio::tools {
namespace {

class CliFiles : public Cli {
 protected:
  // Runs a shell's command line, in which I is the program. Returns its status.
  int Shell(const std::string& line) const {
    const std::string command =
        "cd '" + folder_.string() + "' && I() { " INTAGLIO_PROGRAM " \"$@\"; } && " + line;
    const int status = std::system(("bash -c '" + Quoted(command) + "'").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  ptrdiff_t FilesIn(const std::string& folder) const {
    return std::distance(fs::directory_iterator(In(folder)), fs::directory_iterator());
  }

 private:
  static std::string Quoted(const std::string& text) {
    std::string quoted;
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted;
  }
};

TEST_F(CliFiles, PipesAndDevicesAreRefusedAtOnce) {
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  const auto start = std::chrono::steady_clock::now();
  for (const char* const path : {"pipe", "/dev/null", ".", "/dev/zero"}) {
    const std::string why = std::string(path) + ": not a regular file";
    for (const char* const command : {"run", "inspect", "bench", "verify"}) {
      ExpectError(std::string(command) + " " + path, 1, why);
    }
    ExpectError(std::string("partition ") + path + " out", 1, why);
    for (const char* const command : {"run", "bench", "verify"}) {
      ExpectError(std::string(command) + " network.tflite --input " + path, 1, why);
    }
    ExpectError(std::string("run network.tflite --image ") + path, 1, "");
    ExpectError(std::string("run network.tflite --input x.npy --labels ") + path, 1, why);
  }
  EXPECT_EQ(Shell("cat network.tflite | I inspect /dev/stdin > out.txt 2> err.txt"), 1);
  EXPECT_EQ(Text(In("err.txt")), "intaglio: /dev/stdin: not a regular file\n");
  EXPECT_EQ(Shell("I inspect /dev/stdin < network.tflite > out.txt"), 0) << "a file is one";
  const Outcome outcome = Run("bench network.tflite --seconds 0 --trace pipe");
  EXPECT_EQ(outcome.err, "intaglio: pipe: cannot open: No such device or address\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(2));
}

TEST_F(CliFiles, AFullDiskIsStatus1) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  for (const char* const arguments :
       {"cpu", "cpu --json", "operators", "--help", "--version", "inspect network.tflite",
        "inspect network.tflite --json", "bench network.tflite --seconds 0",
        "bench network.tflite --seconds 0 --json", "verify network.tflite --inputs 1",
        "run network.tflite --input x.npy", "partition network.tflite parts"}) {
    EXPECT_EQ(Shell(std::string("I ") + arguments + " > /dev/full 2> err.txt"), 1) << arguments;
    EXPECT_EQ(Text(In("err.txt")), "intaglio: cannot write to standard output\n") << arguments;
    EXPECT_EQ(Shell(std::string("I ") + arguments + " >&- 2> err.txt"), 1) << arguments;
  }
  ExpectError("bench network.tflite --seconds 0 --kernel none --html /dev/full", 1, "none");
  const Outcome outcome = Run("bench network.tflite --seconds 0 --html /dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "intaglio: /dev/full: cannot write: No space left on device\n");
}

// Files of more than half a kilobyte cannot be written here.
TEST_F(CliFiles, AFullDiskCutsNoFile) {
  Write("old.html", {'o', 'l', 'd'});
  fs::create_directories(In("parts"));
  Write("parts/quantized_main.tflite", {'o', 'l', 'd'});
  const std::string full = "trap \"\" XFSZ && ulimit -f 0 && ";
  const std::string quiet = " 2>&1 | cat > /dev/null; exit ${PIPESTATUS[0]}";
  EXPECT_EQ(Shell(full + "I bench network.tflite --seconds 0 --html old.html" + quiet), 1);
  EXPECT_EQ(Text(In("old.html")), "old");
  EXPECT_EQ(Shell(full + "I run network.tflite --input x.npy --output arrays" + quiet), 1);
  EXPECT_EQ(FilesIn("arrays"), 0);
  EXPECT_EQ(Shell(full + "I partition network.tflite parts" + quiet), 1);
  EXPECT_EQ(FilesIn("parts"), 1);
  EXPECT_EQ(Text(In("parts/quantized_main.tflite")), "old");
}

// The next file that the program opens gets the number of standard output.
TEST_F(CliFiles, ClosedStandardOutputIsNoFile) {
  EXPECT_EQ(Shell("I run network.tflite --input x.npy --output a"), 0);
  EXPECT_EQ(Shell("I run network.tflite --input x.npy --output b >&- 2> err.txt"), 1);
  EXPECT_EQ(Text(In("err.txt")), "intaglio: cannot write to standard output\n");
  EXPECT_NE(Text(In("a/0_scores.npy")), "");
  EXPECT_EQ(Text(In("a/0_scores.npy")), Text(In("b/0_scores.npy")));
}

void ExpectInOrder(const std::string& text, const std::vector<std::string>& words) {
  size_t at = 0;
  for (const std::string& word : words) {
    at = text.find(word, at);
    ASSERT_NE(at, std::string::npos) << word << " in " << text.substr(0, 200);
  }
}

// What others write there before and afterwards stays.
TEST_F(CliFiles, StandardOutputKeepsWhatItHas) {
  if (!fs::exists("/dev/stdout")) GTEST_SKIP() << "there is no /dev/stdout here";
  const std::string bench = "I bench network.tflite --seconds 0 --html ";
  for (const std::string& how :
       {bench + "/dev/stdout", bench + "out.txt", bench + "/dev/fd/1", bench + "link"}) {
    EXPECT_EQ(Shell("ln -sf /dev/stdout link; echo before > out.txt; { " + how +
                    "; echo after; } >> out.txt"),
              0);
    ExpectInOrder(Text(In("out.txt")), {"before\n", "SOFTMAX", "<html", "</html>\nafter\n"});
    EXPECT_EQ(Shell("{ echo before; " + how + "; echo after; } > out.txt"), 0);
    ExpectInOrder(Text(In("out.txt")), {"before\n", "SOFTMAX", "<html", "</html>\nafter\n"});
  }
  EXPECT_EQ(
      Shell("{ echo before >&2; " + bench + "/dev/stderr; echo after >&2; } 2> e.txt > /dev/null"),
      0);
  ExpectInOrder(Text(In("e.txt")), {"before\n", "<html", "</html>\nafter\n"});
  EXPECT_EQ(
      Shell("exec 5>> e.txt; (" + bench + "/proc/$$/fd/5 5>&- > /dev/null) && echo shell >&5"), 0);
  ExpectInOrder(Text(In("e.txt")), {"after\n", "<html", "</html>\nshell\n"});
}

TEST_F(CliFiles, PartitionsAtOnceDoNotMeet) {
  ASSERT_EQ(Run("partition network.tflite alone").status, 0);
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(
        Shell("for k in 1 2 3 4; do I partition network.tflite both > /dev/null & p+=($!); done;"
              " for q in ${p[@]}; do wait $q || exit 1; done"),
        0);
    for (const char* const name : {"quantize_inputs", "quantized_main", "dequantize_outputs"}) {
      const std::string file = std::string(name) + ".tflite";
      EXPECT_EQ(Text(In("both/" + file)), Text(In("alone/" + file)));
    }
    EXPECT_EQ(FilesIn("both"), 3);
  }
}

// Whether the text has bytes that must not reach a terminal.
bool HasControls(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 32 && byte != '\n') || byte == 127 || byte == 0x9b) return true;
  }
  return false;
}

TEST_F(CliFiles, ControlCharactersAreEscaped) {
  nn::test::ModelSpec spec = nn::test::SmallNetwork();
  for (nn::test::TensorSpec& tensor : spec.tensors) tensor.name += "\x1b[31m\x7f\xc2\x9b\r<b>\xff";
  const std::string odd = "odd\x1b[2J\n\x07\x7f\xc2\x9b.tflite";
  Write(odd, nn::test::Build(spec));
  spec.operators[2].code = nn::tflite::BuiltinOperator::CUSTOM;
  spec.operators[2].custom_code = "evil\x1b]0;x\x07";
  Write("custom.tflite", nn::test::Build(spec));
  const std::string labels = "a\x1b[1m\n\x7f\n\xc2\x9b\n";
  Write("labels.txt", {labels.begin(), labels.end()});
  const std::string model = "'" + odd + "'";
  for (const std::string& arguments :
       {"inspect " + model, "inspect --json " + model, "bench --seconds 0 " + model,
        "bench --seconds 0 --json " + model, "verify --inputs 1 " + model,
        "run --input x.npy --labels labels.txt --output out " + model,
        "partition " + model + " " + model + ".parts", std::string("inspect custom.tflite"),
        std::string("inspect --json custom.tflite"), std::string("run custom.tflite"),
        "run " + model, std::string("inspect 'no\x1b[2J\nfile'"),
        std::string("cpu 'no\x1b[2J\nword'"), std::string("'no\x1b[2J\ncommand'"),
        "bench " + model + " --kernel 'no\x1b[2J\nkernel'"}) {
    const Outcome outcome = Run(arguments);
    EXPECT_FALSE(HasControls(outcome.out)) << arguments << outcome.out;
    EXPECT_FALSE(HasControls(outcome.err)) << arguments << outcome.err;
    EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_NE(Run("inspect " + model).out.find("'x\\x1b[31m\\x7f\\xc2\\x9b\\x0d<b>\\xff'"),
            std::string::npos);
  ASSERT_EQ(Run("bench --seconds 0 --html p.html --trace t.json " + model).status, 0);
  EXPECT_FALSE(HasControls(Text(In("p.html"))));
  EXPECT_EQ(Text(In("p.html")).find("<b>\\xff"), std::string::npos) << "a tag of the model's";
  EXPECT_FALSE(HasControls(Text(In("t.json"))));
  EXPECT_TRUE(nlohmann::json::accept(Text(In("t.json"))));
}

// There are 20 million lines. A string for each would take 640 MB.
TEST_F(CliFiles, ManyLabelsTakeLittleMemory) {
  Write("few.txt", std::vector<uint8_t>(20, '\n'));
  Write("many.txt", std::vector<uint8_t>(20'000'000, '\n'));
  // A run in kB, with what a sanitizer adds, which is the same for both.
  const auto peak = [&](const std::string& labels) -> long {
    const std::string command = "cd '" + folder_.string() +
                                "' && exec " INTAGLIO_PROGRAM
                                " run network.tflite --input x.npy --labels " +
                                labels + " > stdout.txt 2> stderr.txt";
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    int status = -1;
    rusage usage = {};
    EXPECT_EQ(wait4(child, &status, 0, &usage), child);
    EXPECT_EQ(status, 0) << Text(In("stderr.txt"));
    return usage.ru_maxrss;
  };
  EXPECT_LT(peak("many.txt") - peak("few.txt"), 100'000);
}

}  // namespace
}  // namespace intaglio::tools
