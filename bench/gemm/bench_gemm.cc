// Products: ours, in every way asked for, and the peers', in turns with each other and with the
// peak loops that they are shares of.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "intaglio/bench/gemm/engine.h"
#include "intaglio/bench/gemm/ours.h"
#include "intaglio/bench/gemm/problem.h"
#include "intaglio/bench/gemm/shapes.h"
#include "intaglio/bench/harness/options.h"
#include "intaglio/bench/harness/report.h"
#include "intaglio/bench/peak/peak.h"
#include "intaglio/bench/peers/peers.h"
#include "intaglio/gemm/word_panels.h"

namespace intaglio::bench {
namespace {

constexpr char kUsage[] =
    R"(bench_gemm: products of 8-bit matrices, as shares of the machine's peak. Flags, each a
comma-separated list unless said otherwise:
  --shapes=targets      groups (targets square resnet50 mobilenet gemv transformer lstm attention
                        tiny growth, or all) and shapes MxNxK: M output channels (the constant
                        side), N rows of activations, K depth
  --types=u8s8          activations and weights: u8s8 s8s8 u8u8 (both zero points), u8s7
                        (weights in [-64, 63])
  --outputs=byte        byte int32 float
  --modes=halfeven,double,double.fitted,single    for bytes; `fitted` to the weights, per channel
  --pipelines=standard  standard custom
  --threads=1
  --kernels=            rows of the kernel table (`best` for the one that dispatch picks); best
  --peers=all           all, none, or their names
  --quiet=0             seconds of each case to wait for quiet moments in, which turns then count
                        in: while plain vector instructions run as fast as they did at best
  --digests             one number that stands for all bits of a result, for comparing machines
)";

constexpr const char* kFlags[] = {"shapes",  "types",   "outputs", "modes",   "pipelines",
                                  "threads", "kernels", "peers",   "digests", "quiet"};

struct Settings {
  std::vector<Shape> shapes;
  std::vector<std::string> types, outputs, modes, pipelines, kernels, peers;
  std::vector<int> threads;
  bool digests;
};

[[noreturn]] void Refuse(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(2);
}

Type TypeNamed(std::string_view name) {
  if (name == "u8") return Type::kUInt8;
  if (name == "s8") return Type::kInt8;
  Refuse("types are u8s8, s8s8, u8u8 and s8u8");
}

OutputKind OutputNamed(std::string_view name) {
  for (OutputKind kind : {OutputKind::kByte, OutputKind::kInt32, OutputKind::kFloat}) {
    if (name == NameOf(kind)) return kind;
  }
  Refuse("outputs are byte, int32 and float");
}

OurWay WayNamed(const std::string& kernel, std::string_view mode) {
  if (mode == "double.fitted") return {kernel, Arithmetic::kDouble, false, true};
  for (Arithmetic arithmetic : {Arithmetic::kHalfEven, Arithmetic::kDouble, Arithmetic::kSingle}) {
    if (mode == NameOf(arithmetic)) return {kernel, arithmetic};
  }
  Refuse("modes are halfeven, double, double.fitted and single");
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::vector<std::string> PeerNames() {
  std::vector<std::string> names;
  for (const Peer* peer : Peers()) names.push_back(peer->name);
  return names;
}

// Refuses a word of a list that is none of the known words.
void CheckWords(const char* flag, const std::vector<std::string>& words,
                const std::vector<std::string>& known, const std::string& more = "") {
  for (const std::string& word : words) {
    if (Contains(known, word)) continue;
    Refuse(std::string(flag) + ": there is no " + word + "; there are: " + Joined(known) + more);
  }
}

void CheckPeers(const std::vector<std::string>& peers) {
  std::vector<std::string> known = PeerNames();
  known.insert(known.end(), {"all", "none"});
  const std::string absent = AbsentPeers();
  CheckWords("--peers", peers, known,
             absent.empty() ? "" : "; not in this build: " + absent + " (docs/benchmarks.md)");
}

Settings Read(const Options& options) {
  Settings s;
  for (const std::string& name : options.List("shapes", "targets")) {
    for (const std::string& group : name == "all" ? GroupNames() : std::vector{name}) {
      const auto shapes = ShapesOf(group);
      if (shapes.empty()) Refuse("--shapes: there is no " + group);
      s.shapes.insert(s.shapes.end(), shapes.begin(), shapes.end());
    }
  }
  s.types = options.List("types", "u8s8");
  s.outputs = options.List("outputs", "byte");
  s.modes = options.List("modes", "halfeven,double,double.fitted,single");
  s.pipelines = options.List("pipelines", "standard");
  s.threads = options.Threads("1");
  s.kernels = options.List("kernels", "best");
  s.peers = options.List("peers", "all");
  s.digests = options.Has("digests");
  CheckWords("--pipelines", s.pipelines, {"standard", "custom"});
  CheckPeers(s.peers);
  return s;
}

std::vector<OurWay> WaysOf(const Settings& s, OutputKind output) {
  std::vector<OurWay> ways;
  for (const std::string& name : s.kernels) {
    const std::string kernel = name == "best" ? "" : name;
    if (output != OutputKind::kByte) {
      OurWay way{kernel, output == OutputKind::kInt32 ? Arithmetic::kInteger : Arithmetic::kReal};
      ways.push_back(way);
      way.words = WhyNoWordPanels(kernel) == nullptr;
      if (way.words) ways.push_back(way);
      continue;
    }
    if (Contains(s.pipelines, "standard")) {
      for (const std::string& mode : s.modes) ways.push_back(WayNamed(kernel, mode));
    }
    if (Contains(s.pipelines, "custom")) ways.push_back({kernel, Arithmetic::kHalfEven, true});
  }
  return ways;
}

// FNV-1a over the elements of a result as 64-bit floating-point numbers, row by row.
uint64_t Digest(const Problem& problem, Engine& engine) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int row = 0; row < problem.n(); ++row) {
    for (int channel = 0; channel < problem.m(); ++channel) {
      const auto bits = std::bit_cast<uint64_t>(engine.Value(row, channel));
      for (int shift = 0; shift < 64; shift += 8) {
        hash = (hash ^ ((bits >> shift) & 0xff)) * 0x100000001b3;
      }
    }
  }
  return hash;
}

// The outcome of all cases.
struct Outcome {
  size_t measured = 0;  // number of contenders
  bool all_right = true;
};

std::string RowName(const Problem& p, const std::string& contender) {
  return "gemm/" + p.shape.group + "/" + p.shape.name() + "/" + p.types() + "/" + NameOf(p.output) +
         "/t" + std::to_string(p.threads) + "/" + contender;
}

void TellWrong(const Problem& problem, const Engine& engine, const std::string& wrong,
               const char* why, Report& report) {
  const std::string text = wrong + (why == nullptr ? "" : std::string("; ") + why);
  std::printf("  WRONG RESULT: %s\n", text.c_str());
  report.Add({"wrong/" + RowName(problem, engine.name), {}, problem.threads, {}, text});
}

// The engines of one problem whose results were found right.
std::vector<std::unique_ptr<Engine>> MakeEngines(const Problem& problem, const Settings& s,
                                                 Context& context, Report& report,
                                                 Outcome& outcome) {
  std::vector<std::unique_ptr<Engine>> engines;
  const auto add = [&](MadeEngine made, const std::string& name, const char* why_wrong) {
    if (made.engine == nullptr) {
      std::printf("  %-36s left out: %s\n", name.c_str(), made.why_not.c_str());
      return;
    }
    const auto same = std::find_if(engines.begin(), engines.end(), [&](const auto& engine) {
      return engine->arithmetic == made.engine->arithmetic;
    });
    const std::string wrong =
        Check(problem, *made.engine, same == engines.end() ? nullptr : same->get());
    if (wrong.empty()) {
      if (s.digests) {
        std::printf("  %-36s digest %016llx\n", made.engine->name.c_str(),
                    static_cast<unsigned long long>(Digest(problem, *made.engine)));
      }
      engines.push_back(std::move(made.engine));
      return;
    }
    outcome.all_right = false;
    TellWrong(problem, *made.engine, wrong, why_wrong, report);
  };
  for (const OurWay& way : WaysOf(s, problem.output)) {
    add(MakeOurs(problem, way, context), "intaglio." + way.kernel, nullptr);
  }
  for (const Peer* peer : Peers()) {
    if (Contains(s.peers, "all") || Contains(s.peers, peer->name)) {
      add(peer->make(problem), peer->name, peer->why_wrong);
    }
  }
  return engines;
}

const PeakLoop* PeakOf(const Engine& engine) {
  return engine.is_float ? BestPeak(PeakOf::kFloats) : PeakOfKernel(engine.kernel);
}

// What bounds the engines of a case, timed in turns with them: each peak loop once and, for a
// single row of activations, a plain read of as many bytes as there are weights.
class Bounds {
 public:
  Bounds(const Problem& p, const std::vector<std::unique_ptr<Engine>>& engines, Context& context) {
    for (const auto& engine : engines) {
      const PeakLoop* loop = PeakOf(*engine);
      if (loop != nullptr && !peaks_.contains(loop)) {
        peaks_.emplace(loop, MakePeakContender(*loop, context));
      }
    }
    for (const auto& [loop, peak] : peaks_) contenders_.push_back(peak.contender);
    if (p.n() == 1 && BestRead() != nullptr) {
      contenders_.push_back(MakeReadContender(p.weights.size(), context));
    }
  }

  const std::vector<Contender>& contenders() const { return contenders_; }

  void Take(std::span<const Timing> timings) {
    size_t next = 0;
    for (const auto& [loop, peak] : peaks_) {
      gops_[loop] = peak.ops_per_call / timings[next].min;
      std::printf("  %-36s %10.1f GOPS\n", contenders_[next].name.c_str(), gops_[loop]);
      ++next;
    }
    if (next < timings.size()) read_ns_ = timings[next].min;
  }

  double GopsFor(const Engine& engine) const {
    const auto found = gops_.find(PeakOf(engine));
    return found == gops_.end() ? 0 : found->second;
  }
  double read_ns() const { return read_ns_; }  // 0: not measured

 private:
  std::map<const PeakLoop*, PeakContender> peaks_;
  std::map<const PeakLoop*, double> gops_;
  std::vector<Contender> contenders_;
  double read_ns_ = 0;
};

void Tell(Report& report, const Problem& p, Engine& engine, const Timing& timing,
          const Bounds& bounds) {
  const double gops = p.shape.ops() / timing.min;
  const double peak = bounds.GopsFor(engine);
  const double share = peak > 0 ? gops / peak : 0;
  std::printf("  %-36s %10.1f GOPS %6.1f%% of peak %12.0f ns (median %.0f)", engine.name.c_str(),
              gops, 100 * share, timing.min, timing.median);
  if (timing.quiet < 1) std::printf(", %.0f%% of turns quiet", 100 * timing.quiet);
  std::printf("\n");
  Row row{RowName(p, engine.name), timing, p.threads, std::move(engine.counters),
          std::move(engine.label)};
  row.counters.insert(
      row.counters.end(),
      {{"gops", gops}, {"peak_gops", peak}, {"share", share}, {"is_float", engine.is_float}});
  if (bounds.read_ns() > 0) {
    const double of_reads = bounds.read_ns() / timing.min;
    std::printf("  %36s %6.1f%% of a plain read of the weights\n", "", 100 * of_reads);
    row.counters.emplace_back("share_of_read", of_reads);
  }
  report.Add(row);
}

void RunCase(const Problem& problem, const Settings& settings, const Options& options,
             Context& context, QuietWatch* watch, Report& report, Outcome& outcome) {
  std::printf("%s %s %s -> %s, %d thread%s\n", problem.shape.group.c_str(),
              problem.shape.name().c_str(), problem.types().c_str(), NameOf(problem.output),
              problem.threads, problem.threads == 1 ? "" : "s");
  const auto engines = MakeEngines(problem, settings, context, report, outcome);
  outcome.measured += engines.size();
  Bounds bounds(problem, engines, context);
  std::vector<Contender> contenders;
  for (const auto& engine : engines) {
    contenders.push_back({engine->name, [&engine] { engine->Run(); }});
  }
  contenders.insert(contenders.end(), bounds.contenders().begin(), bounds.contenders().end());
  Budget budget = options.MakeBudget(problem.threads);
  budget.watch = watch;
  const auto timings = Interleave(contenders, budget);
  bounds.Take(std::span(timings).subspan(engines.size()));
  for (size_t i = 0; i < engines.size(); ++i) {
    Tell(report, problem, *engines[i], timings[i], bounds);
  }
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  const Options options(argc, argv, {std::begin(kFlags), std::end(kFlags)}, kUsage);
  const Settings settings = Read(options);
  Report report(options);
  for (const Peer* peer : Peers()) {
    report.Note(std::string("peer ") + peer->name, peer->version());
    std::printf("peer %s %s\n", peer->name, peer->version().c_str());
  }
  report.Note("absent peers", AbsentPeers());
  std::printf("absent peers: %s\n%s\n", AbsentPeers().c_str(), CpuModel().c_str());

  Outcome outcome;
  for (const int threads : settings.threads) {
    Context context(threads);
    const auto watch = MakeQuietWatch(options.Number("quiet", 0), context);
    for (const Shape& shape : settings.shapes) {
      for (const std::string& types : settings.types) {
        for (const std::string& output : settings.outputs) {
          const bool seven_bits = types.ends_with("s7");
          const std::string weights = seven_bits ? "s8" : types.size() > 2 ? types.substr(2) : "";
          Problem problem = MakeProblem(shape, TypeNamed(types.substr(0, 2)), TypeNamed(weights),
                                        OutputNamed(output), context.threads());
          if (seven_bits) UseSevenBits(problem);
          RunCase(problem, settings, options, context, watch.get(), report, outcome);
        }
      }
    }
  }
  if (outcome.measured == 0) {
    std::fprintf(stderr, "bench_gemm: nothing was measured; the lines above say why\n");
    return 1;
  }
  return outcome.all_right && report.Finish() ? 0 : 1;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) { return intaglio::bench::Main(argc, argv); }
