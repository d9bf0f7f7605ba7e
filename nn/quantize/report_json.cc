#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "intaglio/nn/quantize/report.h"

namespace intaglio::nn::quantize {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: null, where nothing differs.
Json Decibels(double sqnr) { return std::isfinite(sqnr) ? Json(sqnr) : Json(nullptr); }

}  // namespace

std::string ToJson(const Report& report, const std::string& model) {
  Json layers = Json::array();
  for (const LayerReport& layer : report.layers) {
    layers.push_back({{"layer", layer.layer},
                      {"label", layer.label},
                      {"operator", layer.operator_name},
                      {"sqnr_alone", Decibels(layer.alone.Sqnr())},
                      {"sqnr_accumulated", Decibels(layer.accumulated.Sqnr())},
                      {"cosine_alone", layer.alone.Cosine()},
                      {"cosine_accumulated", layer.accumulated.Cosine()},
                      {"clipped", layer.clipped},
                      {"dead_channels", layer.dead_channels},
                      {"range_ratio", layer.range_ratio},
                      {"histogram",
                       {{"least", layer.histogram.least},
                        {"greatest", layer.histogram.greatest},
                        {"exact", layer.histogram.exact},
                        {"integers", layer.histogram.integers}}},
                      {"rule", layer.rule}});
  }
  const Json json = {{"format", "intaglio-quantization-1"},
                     {"model", model},
                     {"samples", report.samples},
                     {"layers", std::move(layers)}};
  // Names may be bytes that are no UTF-8, which are replaced.
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace intaglio::nn::quantize
