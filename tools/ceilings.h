// What the machine reaches with some threads.
#ifndef INTAGLIO_TOOLS_CEILINGS_H_
#define INTAGLIO_TOOLS_CEILINGS_H_

#include <memory>
#include <string>
#include <vector>

#include "intaglio/gemm/context.h"

namespace intaglio::tools {

// The chosen kernel on products that stay in cache, the fastest seen so far.
class PeakMeter {
 public:
  PeakMeter(const std::string& kernel, int threads);
  ~PeakMeter();
  PeakMeter(const PeakMeter&) = delete;
  PeakMeter& operator=(const PeakMeter&) = delete;

  void Measure();  // for .15 s; other load at one time does not count if there is none at another
  double gops() const { return gops_; }

  double MeasureReads();  // GB/s of memory that no cache holds

 private:
  class Product;
  Context context_;
  std::vector<std::unique_ptr<Product>> products_;
  double gops_ = 0;
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_CEILINGS_H_
