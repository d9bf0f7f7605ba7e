#include "intaglio/bench/harness/report.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace intaglio::bench {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

// The kinds of Arm cores, by their part numbers, as the OS names no model there; empty elsewhere.
std::string ArmParts() {
  std::ifstream info("/proc/cpuinfo");
  std::string parts;
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("CPU part")) continue;
    const std::string part = " " + line.substr(line.rfind(' ') + 1);
    if (parts.find(part) == parts.npos) parts += part;
  }
  return parts.empty() ? "" : "Arm cores, parts" + parts;
}

}  // namespace

std::string CpuModel() {
  if (const std::string parts = ArmParts(); !parts.empty()) return parts;
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown CPU";
  std::string family;
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    if (line.starts_with("model name")) model = line.substr(colon + 2);
    if (line.starts_with("cpu family")) family = ", family " + line.substr(colon + 2);
    if (line.starts_with("model\t")) family += " model " + line.substr(colon + 2);
  }
  return model + family;
}

struct Report::Impl {
  std::ofstream file;
  benchmark::JSONReporter json;
  bool started = false;
  std::string path;
};

Report::Report(const Options& options) : impl_(std::make_unique<Impl>()) {
  const std::string path = options.Text("out", "");
  if (path.empty()) return;
  impl_->path = path;
  impl_->file.open(path);
  if (!impl_->file) {
    std::fprintf(stderr, "%s cannot be written\n", path.c_str());
    std::exit(2);
  }
  impl_->json.SetOutputStream(&impl_->file);
  impl_->json.SetErrorStream(&impl_->file);
  Note("cpu", CpuModel());
  Note("command", options.command());
  Note("compiler", kCompiler);
  Note("version", INTAGLIO_BENCH_VERSION);
  const char* cap = std::getenv("INTAGLIO_ISA");
  Note("INTAGLIO_ISA", cap == nullptr ? "" : cap);
}

Report::~Report() { Finish(); }

bool Report::Finish() {
  if (!impl_->file.is_open()) return true;
  if (impl_->started) impl_->json.Finalize();
  impl_->file.close();
  if (impl_->file.good()) return true;
  std::fprintf(stderr, "%s cannot be written\n", impl_->path.c_str());
  return false;
}

void Report::Note(const std::string& key, const std::string& value) {
  benchmark::AddCustomContext(key, value);
}

void Report::Add(const Row& row) {
  if (!impl_->file.is_open()) return;
  if (!impl_->started) {
    impl_->json.ReportContext(benchmark::BenchmarkReporter::Context());
    impl_->started = true;
  }
  benchmark::BenchmarkReporter::Run run;
  run.run_name.function_name = row.name;
  run.family_index = 0;
  run.per_family_instance_index = 0;
  run.repetitions = 1;
  run.repetition_index = 0;
  run.threads = row.threads;
  run.time_unit = benchmark::kNanosecond;
  run.iterations = row.timing.calls;
  run.real_accumulated_time = row.timing.median * 1e-9 * static_cast<double>(row.timing.calls);
  run.cpu_accumulated_time = run.real_accumulated_time;
  run.report_label = row.label;
  run.counters["min_ns"] = row.timing.min;
  run.counters["quiet"] = row.timing.quiet;
  for (const auto& [name, value] : row.counters) run.counters[name] = value;
  impl_->json.ReportRuns({run});
  impl_->file.flush();
}

}  // namespace intaglio::bench
