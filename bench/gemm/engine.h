// What every contender of bench_gemm is, ours and the peers' alike.
#ifndef INTAGLIO_BENCH_GEMM_ENGINE_H_
#define INTAGLIO_BENCH_GEMM_ENGINE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/bench/gemm/problem.h"
#include "intaglio/bench/harness/aligned.h"

namespace intaglio::bench {

// One problem, made ready: constant weights are packed, memory is allocated, code is generated.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void Run() = 0;
  // An element of the result of the last Run, in the problem's output numbers.
  virtual double Value(int row, int channel) const = 0;

  std::string name;
  Arithmetic arithmetic = Arithmetic::kHalfEven;
  // How far results may be from the definition in `arithmetic`. 0: the arithmetic is the same.
  double tolerance = 0;
  bool is_float = false;  // a product of float32 operands; its ops count against the float32 peak
  std::string kernel;     // ours: the row of the kernel table
  std::string label;      // for the JSON
  std::vector<std::pair<std::string, double>> counters;
};

// An engine, or why there is none for this problem.
struct MadeEngine {
  std::unique_ptr<Engine> engine;
  std::string why_not;
};

// A result that lies in memory as n rows of m elements.
template <class T>
class DenseResult {
 public:
  explicit DenseResult(const Problem& p)
      : elements_(static_cast<size_t>(p.n()) * static_cast<size_t>(p.m())), m_(p.m()) {}
  T* data() { return elements_.data(); }
  double At(int row, int channel) const {
    return static_cast<double>(elements_[static_cast<size_t>(row) * static_cast<size_t>(m_) +
                                         static_cast<size_t>(channel)]);
  }

 private:
  AlignedVector<T> elements_;
  int m_;
};

// Empty where the engine's results are right: a sample of elements against the definition and,
// where there is an `other` of the same arithmetic, every element against it. Else one line.
std::string Check(const Problem& problem, Engine& engine, Engine* other);

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_GEMM_ENGINE_H_
