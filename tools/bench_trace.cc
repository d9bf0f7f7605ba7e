#include "intaglio/tools/bench_report.h"
#include "intaglio/tools/json.h"

namespace intaglio::tools {

std::string ChromeTrace(const BenchReport& report) {
  Json events = Json::array();
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", 1},
                    {"args", {{"name", "intaglio " + report.model}}}});
  double at = 0;  // in microseconds, as the format has it
  for (const LayerReport& layer : report.layers) {
    const double duration = 1e3 * layer.fastest_run_ms;
    events.push_back({{"name", layer.operator_name},
                      {"cat", "layer"},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", at},
                      {"dur", duration},
                      {"args",
                       {{"label", layer.label},
                        {"routine", layer.routine},
                        {"kernel", layer.kernel},
                        {"macs", layer.macs},
                        {"gops", Gops(layer.macs, layer.fastest_run_ms)}}}});
    at += duration;
  }
  const Json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", events}};
  return ToText(trace, 1);
}

}  // namespace intaglio::tools
