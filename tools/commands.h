// The subcommands of `intaglio`, one file each: what the command line says, and the function that
// does it.
#ifndef INTAGLIO_TOOLS_COMMANDS_H_
#define INTAGLIO_TOOLS_COMMANDS_H_

#include <optional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/tools/model_source.h"

namespace intaglio::tools {

// Threads where --threads is absent: all of the machine's, at most 8.
int DefaultThreads();

struct RunOptions {
  ModelSource model;
  std::vector<std::string> inputs;
  std::string image;
  // float32 inputs take (sample - mean) / std of an image's samples. Each is one number, or one per
  // channel.
  std::vector<double> mean = {127.5};
  std::vector<double> std = {127.5};
  bool scales_image = false;  // whether mean or std was given
  std::string labels;
  std::string output;
  std::string backend = "cpu";
  bool resize = false;
  int threads = DefaultThreads();
  int top = 5;
};
Status Run(const RunOptions& options);

struct InspectOptions {
  ModelSource model;
  bool routines = false;
  bool passes = false;
  bool json = false;
};
Status Inspect(const InspectOptions& options);

struct BenchOptions {
  ModelSource model;
  std::vector<std::string> inputs;  // [NAME=]FILE.npy; the other inputs are made
  std::string kernel;
  int threads = DefaultThreads();
  double seconds = 1;
  bool json = false;
  std::string html;
  std::string trace;
};
Status Bench(const BenchOptions& options);

struct VerifyOptions {
  ModelSource model;
  std::vector<std::string> given;  // [NAME=]FILE.npy; the other inputs are made
  std::string backend = "cpu";
  int inputs = 4;
};
Status Verify(const VerifyOptions& options);

struct ConvertOptions {
  ModelSource model;
  std::string output;
  std::vector<std::string> inputs;  // [NAME=]FILE.npy to compare with; the other inputs are made
  bool verify = true;
  bool finite = false;           // no layer computes infinities
  bool constants_apart = false;  // of .onnx files
};
Status Convert(const ConvertOptions& options);

struct PartitionOptions {
  ModelSource model;
  std::string output;
  std::string format;  // "tflite", "onnx", or empty: the model's
  std::vector<std::string> sensors;
  std::vector<std::string> inputs;  // [NAME=]FILE.npy to verify with; the other inputs are made
  bool verify = true;
  bool constants_apart = false;  // of .onnx files
};
Status Partition(const PartitionOptions& options);

struct TuneOptions {
  ModelSource model;
  std::string output;
  int threads = DefaultThreads();
  double budget = -1;  // seconds; negative: as much as the network is worth
  std::string html;
  std::vector<std::string> allow;   // "float32", "int8"; empty: only what gives the same bits
  std::string ranges;               // a file, for "int8"
  double max_error = -1;            // relative differences; negative: any
  std::vector<std::string> inputs;  // [NAME=]FILE.npy; the other inputs are random
  size_t memory = 0;                // bytes of the tuned network; 0: any
  std::string timings;              // a file, or empty
};
Status Tune(const TuneOptions& options);

struct QuantizeOptions {
  ModelSource model;
  std::string output;
  std::vector<std::string> data;  // [NAME=]PATH, for each input
  std::vector<double> mean = {127.5};
  std::vector<double> std = {127.5};
  size_t samples = 1'000'000'000;
  std::string recipe;
  std::vector<std::string> keep_float;
  std::string method = "minmax";
  std::string bits = "w8a8";
  std::string io = "float";
  std::string report;                   // a file to write; empty: none
  std::string ranges;                   // a file to write; empty: none
  std::optional<double> max_drop = {};  // points of accuracy
  std::string labels;                   // a .npy file; empty: none
  std::optional<double> min_sqnr = {};  // decibels
  bool per_tensor = false;
  bool equalize = false;
  bool smooth = false;
  bool learn_rounding = false;
  bool correct_bias = false;
  bool constants_apart = false;  // of .onnx files
  int threads = DefaultThreads();
};
Status Quantize(const QuantizeOptions& options);

Status Operators();

struct CpuOptions {
  bool json = false;
};
Status Cpu(const CpuOptions& options);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_COMMANDS_H_
