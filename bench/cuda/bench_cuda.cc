// Products on a GPU beside the engines of others: bench_cuda [words that cases' names contain...]
//
// Contenders take turns; each is a graph of launches over sets of buffers that together are larger
// than twice the L2 cache; times are medians of replays; bytes are those of the operands, each read
// once: of few rows they are the floor. The card's peak is multiprocessors x clock
// x multiply-accumulates per clock as the vendor gives it. "fused" is the whole standard pipeline
// to int8, per channel; "+ requantize" stores int32 and runs the pipeline in a kernel of its own.
// "int8, one scale" and "int8, scales by row and channel" are what epilogues of others do, in
// float32: other numbers than the pipeline's, and compared with the sums times these scales, up to
// 1. Whoever gives int32 is compared exactly. "memset of 4 bytes" is the floor of all launches.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/bench/cuda/cases.h"
#include "intaglio/bench/cuda/peers.h"
#include "intaglio/bench/cuda/product.h"
#include "intaglio/bench/cuda/targets.h"
#include "intaglio/bench/cuda/timing.h"
#include "intaglio/gemm/cuda/gemm.h"

namespace intaglio::bench {
namespace {

// 8-bit multiply-accumulates per clock of a multiprocessor, dense, from the vendor's rates.
double RateOf(int capability) { return capability == 80 ? 2048 : capability >= 90 ? 4096 : 1024; }

const char* NameOf(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::kInt32:
      return ", int32";
    case Epilogue::kOneScale:
      return ", int8, one scale";
    case Epilogue::kScalesByRowAndChannel:
      break;
  }
  return ", int8, scales by row and channel";
}

class Runner {
 public:
  Runner(cuda::Stream& stream, const Case& c, double peak)
      : stream_(stream),
        case_(c),
        peak_(peak),
        product_(stream, c),
        peers_(MakePeers(product_.peer_problem())),
        launches_(std::max(product_.sets(),
                           static_cast<int>(std::clamp<double>(
                               2e12 / (double(c.rows) * c.channels * c.depth), 2, 64)))) {}

  // False where contenders that ought to agree do not.
  bool Run() {
    Add(kLaunch, [this](int) { return product_.Clear(); });
    Add(kFused, [this](int i) { return product_.Fused(i); });
    const std::vector<int8_t> fused = product_.TakeInt8();
    Add(kRaw, [this](int i) { return product_.Raw(i); });
    const std::vector<int32_t> sums = product_.TakeInt32();
    const auto requantized = [this](int i) { return product_.Raw(i) && product_.Requantize(i); };
    if (Add("ours, int32 + requantize", requantized)) Expect(fused == product_.TakeInt8());
    for (const auto& peer : peers_) AddPeer(*peer, sums);
    for (int round = 0; round < 9; ++round) {
      for (auto& contender : contenders_) contender->Measure();
    }
    Print();
    return differing_.empty();
  }

  Figures figures() const {
    Figures f{case_, {}};
    for (const auto& contender : contenders_) {
      if (contender->Median() > 0) f.us[contender->name()] = contender->Median();
    }
    return f;
  }

 private:
  // Whether it works; it has run on every set then.
  bool Add(const std::string& name, const std::function<bool(int)>& run) {
    contenders_.push_back(std::make_unique<Contender>(name, stream_.get(), launches_, run));
    return contenders_.back()->works();
  }
  void AddPeer(const Peer& peer, const std::vector<int32_t>& sums) {
    const std::string name = peer.name() + NameOf(peer.epilogue());
    const auto run = [this, &peer](int i) { return product_.RunPeer(peer, i); };
    const bool works = Add(name, run);
    if (peer.epilogue() != Epilogue::kInt32) {
      if (works) Expect(product_.IsScaled(sums, product_.TakeInt8(), peer.epilogue()));
      return;
    }
    if (works) Expect(product_.TakeInt32() == sums);
    Add(name + " + requantize", [this, run](int i) { return run(i) && product_.Requantize(i); });
  }
  // Of the last contender.
  void Expect(bool same) {
    if (!same) differing_ += (differing_.empty() ? "" : "; ") + contenders_.back()->name();
  }

  void Print() const {
    const double operations = 2.0 * case_.rows * case_.channels * case_.depth;
    const double operand_bytes = (double{1} * case_.rows + case_.channels) * case_.depth;
    std::printf("%s: %d x %d x %d, %s, results %s%s\n", case_.name, case_.rows, case_.channels,
                case_.depth, product_.Description().c_str(),
                differing_.empty() ? "equal" : "DIFFER: ", differing_.c_str());
    for (const auto& contender : contenders_) {
      const double us = contender->Median();
      if (us < 0) {
        std::printf("  %-48s      n/a\n", contender->name().c_str());
        continue;
      }
      if (contender->name() == kLaunch) {
        std::printf("  %-48s %10.2f us\n", kLaunch, us);
        continue;
      }
      const double tops = operations / us / 1e6;
      std::printf("  %-48s %10.2f us %9.1f TOPS %5.1f%% %7.0f GB/s\n", contender->name().c_str(),
                  us, tops, 100 * tops / peak_, operand_bytes / us / 1e3);
    }
    std::fflush(stdout);
  }

  cuda::Stream& stream_;
  Case case_;
  double peak_;  // TOPS
  Product product_;
  PeerList peers_;
  int launches_;
  std::vector<std::unique_ptr<Contender>> contenders_;
  std::string differing_;
};

// Of the card's memory, in bytes per microsecond.
double MemoryBandwidth(int device) {
  int khz = 0;
  int bits = 0;
  bench::Require(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, device), "attribute");
  bench::Require(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device),
                 "attribute");
  return 2.0 * khz * 1e3 * bits / 8 / 1e6;  // both edges of the clock
}

bool Wanted(const char* name, int words, char** word) {
  if (words == 0) return true;
  for (int i = 0; i < words; ++i) {
    if (std::strstr(name, word[i]) != nullptr) return true;
  }
  return false;
}

int Main(int words, char** word) {
  auto probe = cuda::Stream::Wrap(nullptr);
  if (!probe.ok()) {
    std::printf("bench_cuda: SKIPPED: %s\n", probe.status().message().c_str());
    return 77;
  }
  cudaStream_t raw = nullptr;  // the default stream cannot be captured
  bench::Require(cudaStreamCreate(&raw), "cudaStreamCreate");
  auto stream = cuda::Stream::Wrap(raw);
  Require(stream.status(), "Wrap");
  Require(stream->Reserve(size_t{1} << 30), "Reserve");
  cudaDeviceProp device{};
  int clock = 0;
  int driver = 0;
  int runtime = 0;
  bench::Require(cudaGetDeviceProperties(&device, stream->device().device), "properties");
  bench::Require(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, stream->device().device),
                 "clock");
  bench::Require(cudaDriverGetVersion(&driver), "driver");
  bench::Require(cudaRuntimeGetVersion(&runtime), "runtime");
  const double memory = MemoryBandwidth(stream->device().device);
  const double peak =
      2.0 * RateOf(stream->device().capability) * device.multiProcessorCount * clock * 1e3 / 1e12;
  std::printf(
      "%s, compute capability %d.%d, %d multiprocessors at up to %d MHz: peak %.0f TOPS; "
      "driver %d, runtime %d\n",
      device.name, device.major, device.minor, device.multiProcessorCount, clock / 1000, peak,
      driver, runtime);
  bool same = true;
  std::vector<Figures> all;
  for (const Case& c : Cases()) {
    if (!Wanted(c.name, words, word)) continue;
    Runner runner(*stream, c, peak);
    same = runner.Run() && same;
    all.push_back(runner.figures());
  }
  std::printf("targets:\n%s", TargetLines(all, memory).c_str());
  return same ? 0 : 1;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) { return intaglio::bench::Main(argc - 1, argv + 1); }
