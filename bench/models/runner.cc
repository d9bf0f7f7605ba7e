// The contender "intaglio" of bench/models: a process that loads a model, runs it, and then times
// it whenever a line on stdin says so. engine.py is the same for the peers.
//
//   model_runner MODEL THREADS cpu|wall FOLDER [float64_as_float32]
//
// THREADS may be INSTANCESxTHREADS: instances that share the model's weights and run at once.
//
// FOLDER holds input0, input1, ... (the tensors' bytes) and receives output0, ... If it holds a
// file `shapes`, each line of that gives an input its shape: "1 3 224 224". The first line on
// stdout is a JSON object: the time from opening the file to the first result, and memory. After
// that, each line on stdin is a number of seconds; it is answered by the fastest run's nanoseconds;
// by several instances, with the nanoseconds of all for each run that one of them completes.
#include <algorithm>
#include <barrier>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::bench {
namespace {

using Bytes = std::vector<char>;

[[noreturn]] void Stop(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

double Nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// A figure of /proc/self/status in bytes, 0 where there is none.
size_t StatusBytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key + ":", 0) != 0) continue;
    return static_cast<size_t>(std::strtoull(line.c_str() + key.size() + 1, nullptr, 10)) * 1024;
  }
  return 0;
}

// Makes the peak of resident memory start from what is resident.
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::vector<nn::Shape> ReadShapes(const std::string& folder) {
  std::vector<nn::Shape> shapes;
  std::ifstream file(folder + "/shapes");
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    nn::Shape& shape = shapes.emplace_back();
    for (int n = 0; numbers >> n;) shape.push_back(n);
  }
  return shapes;
}

struct Runner {
  Runner(nn::Model m, const std::string& folder) : model(std::move(m)) {
    for (size_t i = 0; i < model.input_count(); ++i) {
      // In one go, as the peers read theirs: it counts as time to the first result.
      std::ifstream file(folder + "/input" + std::to_string(i), std::ios::binary | std::ios::ate);
      Bytes& bytes = in.emplace_back(file ? static_cast<size_t>(file.tellg()) : 0);
      file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    for (size_t i = 0; i < model.output_count(); ++i) {
      out.emplace_back(*nn::CountBytes(model.output(i).shape, model.output(i).type));
    }
    for (size_t i = 0; i < in.size(); ++i) {
      inputs.push_back({in[i].data(), in[i].size(), model.input(i).type});
    }
    for (size_t i = 0; i < out.size(); ++i) {
      outputs.push_back({out[i].data(), out[i].size(), model.output(i).type});
    }
  }

  void Run() {
    const Status status = model.Run(inputs, outputs);
    if (!status.ok()) Stop(status.message());
  }

  nn::Model model;
  std::vector<Bytes> in, out;
  std::vector<nn::InputBuffer> inputs;
  std::vector<nn::OutputBuffer> outputs;
};

double Fastest(Runner& runner, double seconds, clockid_t clock) {
  runner.Run();
  double best = std::numeric_limits<double>::infinity();
  for (double start = Nanoseconds(clock), end = start + seconds * 1e9; start < end;) {
    runner.Run();
    const double stop = Nanoseconds(clock);
    best = std::min(best, stop - start);
    start = stop;
  }
  return best;
}

// What all instances together need for a run of one.
double Together(std::vector<Runner>& runners, double seconds, clockid_t clock) {
  std::vector<double> rates(runners.size());
  std::barrier ready(static_cast<ptrdiff_t>(runners.size()));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < runners.size(); ++i) {
    threads.emplace_back([&, i] {
      runners[i].Run();
      ready.arrive_and_wait();
      const double start = Nanoseconds(clock);
      double stop = start;
      double runs = 0;
      for (; stop < start + seconds * 1e9; ++runs) {
        runners[i].Run();
        stop = Nanoseconds(clock);
      }
      rates[i] = runs / (stop - start);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 1 / std::accumulate(rates.begin(), rates.end(), 0.0);
}

// "2", or "3x2": three instances of two threads each.
struct Counts {
  int instances = 1;
  int threads = 1;
};

Counts ParseCounts(std::string_view text) {
  const auto number = [&](std::string_view digits) {
    int n = 0;
    const auto end = std::from_chars(digits.begin(), digits.end(), n).ptr;
    if (end != digits.end() || n < 1 || n > 1024) Stop("threads: 2 or 2x1 is an example");
    return n;
  };
  const size_t x = text.find('x');
  if (x == std::string_view::npos) return {1, number(text)};
  return {number(text.substr(0, x)), number(text.substr(x + 1))};
}

int Main(const char* path, Counts counts, bool cpu, const std::string& folder,
         bool float64_as_float32) {
  const clockid_t clock = cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  ResetPeak();
  const size_t resident = StatusBytes("VmRSS");
  const double opened = Nanoseconds(clock);
  nn::LoadOptions load;
  load.input_shapes = ReadShapes(folder);
  load.float64_as_float32 = float64_as_float32;
  Result<nn::Graph> graph = nn::LoadGraph(path, load);
  if (!graph.ok()) Stop(graph.status().message());
  nn::PrepareOptions options;
  options.threads = counts.threads;
  Result<nn::Model> model = nn::Model::Prepare(std::move(*graph), options);
  if (!model.ok()) Stop(model.status().message());
  std::vector<Runner> runners;
  for (int i = 1; i < counts.instances; ++i) {
    Result<nn::Model> shared = model->Share();
    if (!shared.ok()) Stop(shared.status().message());
    runners.emplace_back(std::move(*shared), folder);
  }
  runners.emplace_back(std::move(*model), folder);
  Runner& runner = runners.back();
  runner.Run();
  const double first = Nanoseconds(clock) - opened;
  const size_t peak = StatusBytes("VmHWM");
  for (size_t i = 0; i < runner.out.size(); ++i) {
    std::ofstream file(folder + "/output" + std::to_string(i), std::ios::binary);
    file.write(runner.out[i].data(), static_cast<std::streamsize>(runner.out[i].size()));
  }
  std::printf(
      "{\"first_ms\": %.3f, \"peak_bytes\": %zu, \"arena_bytes\": %zu, "
      "\"constant_bytes\": %zu}\n",
      first / 1e6, peak - resident, runner.model.arena_bytes(), runner.model.constant_bytes());
  std::fflush(stdout);
  for (double seconds = 0; std::scanf("%lf", &seconds) == 1;) {
    const bool alone = runners.size() == 1;
    std::printf("%.0f\n",
                alone ? Fastest(runner, seconds, clock) : Together(runners, seconds, clock));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) {
  const bool narrows = argc == 6 && std::string(argv[5]) == "float64_as_float32";
  if (argc != 5 && !narrows) {
    std::fprintf(stderr, "model_runner MODEL THREADS cpu|wall FOLDER [float64_as_float32]\n");
    return 2;
  }
  return intaglio::bench::Main(argv[1], intaglio::bench::ParseCounts(argv[2]),
                               std::string(argv[3]) == "cpu", argv[4], narrows);
}
