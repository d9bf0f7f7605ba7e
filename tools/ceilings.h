// What the machine reaches with some threads.
#ifndef INTAGLIO_TOOLS_CEILINGS_H_
#define INTAGLIO_TOOLS_CEILINGS_H_

#include <memory>
#include <string>
#include <vector>

#include "intaglio/gemm/context.h"

namespace intaglio::tools {

// The peak of the chosen kernel: its fastest product so far, of those that stay in cache.
class PeakMeter {
 public:
  PeakMeter(const std::string& kernel, int threads);
  ~PeakMeter();
  PeakMeter(const PeakMeter&) = delete;
  PeakMeter& operator=(const PeakMeter&) = delete;

  void Measure();  // for .15 s; only the least disturbed measurement counts
  double gops() const { return gops_; }

  double MeasureReads();  // GB/s from memory that no cache holds

 private:
  class Product;
  Context context_;
  std::vector<std::unique_ptr<Product>> products_;
  double gops_ = 0;
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_CEILINGS_H_
