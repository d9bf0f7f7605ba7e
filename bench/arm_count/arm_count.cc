// Whole products between two marks each, for the emulator to count their instructions:
// bench/arm_count/run does. arm_count lists the kernels that this CPU runs; arm_count KERNEL runs
// the cases with one of them, and prints "MACs case" for each.
#include <cstdio>
#include <cstdlib>

#include "intaglio/bench/gemm/engine.h"
#include "intaglio/bench/gemm/ours.h"
#include "intaglio/bench/gemm/problem.h"
#include "intaglio/gemm/describe.h"

// The plugin looks for this name. Counted is what happens between two calls.
extern "C" __attribute__((noinline)) void IntaglioCountMark() { asm volatile("" ::: "memory"); }

namespace intaglio::bench {
namespace {

struct Case {
  Shape shape;
  Type activations;
  Type weights;
  OutputKind output;
  Arithmetic arithmetic;
};

// M output channels x N rows of activations x K depth. Where both sides change, the call packs
// both.
const Case kCases[] = {
    // One tile, in which the epilogue weighs most, and the same depth with many tiles.
    {{"tile", 8, 8, 64}, Type::kInt8, Type::kInt8, OutputKind::kByte, Arithmetic::kDouble},
    {{"square", 64, 64, 64}, Type::kInt8, Type::kInt8, OutputKind::kByte, Arithmetic::kDouble},
    {{"square", 64, 64, 64}, Type::kInt8, Type::kInt8, OutputKind::kByte, Arithmetic::kSingle},
    {{"square", 64, 64, 64}, Type::kInt8, Type::kInt8, OutputKind::kByte, Arithmetic::kHalfEven},
    {{"square", 64, 64, 64}, Type::kInt8, Type::kInt8, OutputKind::kInt32, Arithmetic::kInteger},
    {{"square", 256, 256, 256}, Type::kInt8, Type::kInt8, OutputKind::kByte, Arithmetic::kDouble},
    // Nothing divides by anything.
    {{"edges", 61, 63, 67}, Type::kInt8, Type::kInt8, OutputKind::kByte, Arithmetic::kDouble},
    // uint8 on both sides, zero points on both sides.
    {{"zeros", 64, 64, 64}, Type::kUInt8, Type::kUInt8, OutputKind::kByte, Arithmetic::kDouble},
    // 1x1 convolutions of MobileNet v1.
    {{"mobilenet", 64, 784, 32}, Type::kInt8, Type::kInt8, OutputKind::kByte, Arithmetic::kDouble},
    {{"mobilenet", 512, 196, 512},
     Type::kInt8,
     Type::kInt8,
     OutputKind::kByte,
     Arithmetic::kDouble},
    {{"gemv", 1000, 1, 1024}, Type::kInt8, Type::kInt8, OutputKind::kByte, Arithmetic::kDouble},
    // Both sides change.
    {{"attention", 128, 128, 64, true},
     Type::kInt8,
     Type::kInt8,
     OutputKind::kByte,
     Arithmetic::kDouble},
};

void List() {
  for (const KernelInfo& kernel : ListKernels()) {
    if (kernel.usable) std::printf("%s\n", kernel.name.c_str());
  }
}

bool Run(const Case& c, const std::string& kernel, Context& context) {
  const Problem problem = MakeProblem(c.shape, c.activations, c.weights, c.output, 1);
  const MadeEngine made = MakeOurs(problem, {"", c.arithmetic, false}, context);
  if (made.engine == nullptr || made.engine->kernel != kernel) {
    std::fprintf(stderr, "%s: not run by %s: %s\n", c.shape.name().c_str(), kernel.c_str(),
                 made.engine == nullptr ? made.why_not.c_str() : made.engine->kernel.c_str());
    return false;
  }
  const std::string wrong = Check(problem, *made.engine, nullptr);  // and warms up
  if (!wrong.empty()) {
    std::fprintf(stderr, "WRONG RESULT: %s\n", wrong.c_str());
    return false;
  }
  // Once more, so that the counted call finds the heap as every later one does, and not as it was
  // left by what came before.
  made.engine->Run();
  IntaglioCountMark();
  made.engine->Run();
  IntaglioCountMark();
  std::printf("%.0f %s/%s/%s/%s\n", c.shape.ops() / 2, c.shape.group.c_str(),
              c.shape.name().c_str(), problem.types().c_str(), NameOf(c.arithmetic));
  return true;
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    List();
    return 0;
  }
  setenv("INTAGLIO_ISA", argv[1], 1);  // before the engine asks for it
  Context context(1);
  for (const Case& c : kCases) {
    if (!Run(c, argv[1], context)) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace intaglio::bench

int main(int argc, char** argv) { return intaglio::bench::Main(argc, argv); }
