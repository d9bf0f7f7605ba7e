// What `intaglio quantize --report` writes.
#ifndef INTAGLIO_TOOLS_QUANTIZE_REPORT_H_
#define INTAGLIO_TOOLS_QUANTIZE_REPORT_H_

#include <string>

#include "intaglio/nn/quantize/report.h"

namespace intaglio::tools {

// Refuses names that end in neither .html nor .json.
Status CheckReportName(const std::string& path);

// `model` is the name of the network of float32.
Status WriteReport(const std::string& path, const std::string& model,
                   const nn::quantize::Report& report);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_QUANTIZE_REPORT_H_
