// The page of `intaglio tune --html`.
#ifndef INTAGLIO_TOOLS_TUNE_PAGE_H_
#define INTAGLIO_TOOLS_TUNE_PAGE_H_

#include <string>

#include "intaglio/nn/tune/tune.h"

namespace intaglio::tools {

std::string HtmlPage(const nn::tune::Tuning& tuning);

// "cpu:qint8/gemm by avx2, 1 thread"
std::string Describe(const nn::tune::TimedWay& way);

// "2 steps, 0.4 % (48 dB)"
std::string Describe(const nn::tune::Difference& difference);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_TUNE_PAGE_H_
