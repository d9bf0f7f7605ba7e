#include "intaglio/tools/quantize_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "intaglio/nn/files/replace_file.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/tools/page.h"

namespace intaglio::tools {
namespace {

using nn::quantize::LayerReport;
using nn::quantize::Report;

bool IsJson(const std::string& path) { return path.ends_with(".json"); }

std::string DecibelText(double sqnr) {
  return std::isfinite(sqnr) ? Number(sqnr, "dB") : "nothing differs";
}

// From red, where a layer loses much, to green.
const char* ColorOf(double sqnr) {
  if (sqnr < 20) return "#c0392b";
  if (sqnr < 30) return kColors[1];
  if (sqnr < 40) return kColors[5];
  return kColors[2];
}

constexpr double kMostDecibels = 60;

// A bar for each layer, in the order in which they run: thin what it loses alone, wide and pale
// what all up to it lose.
void AddBars(std::string& page, std::vector<LayerReport> layers) {
  constexpr double kBottom = 220;
  std::sort(layers.begin(), layers.end(),
            [](const LayerReport& a, const LayerReport& b) { return a.layer < b.layer; });
  const double each = kInner / static_cast<double>(std::max<size_t>(1, layers.size()));
  const auto height = [](double sqnr) {
    return std::clamp(sqnr, 0.0, kMostDecibels) / kMostDecibels * (kBottom - 20);
  };
  BeginSvg(page, kBottom + 16);
  for (double decibels = 0; decibels <= kMostDecibels; decibels += 10) {
    const double y = kBottom - height(decibels);
    AddLine(page, kLeft, y, kLeft + kInner, y, "#dfe5ec");
    AddText(page, kLeft - 8, y + 4, "end", Number(decibels, "dB"));
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const double alone = layers[i].alone.Sqnr();
    const double accumulated = layers[i].accumulated.Sqnr();
    const double left = kLeft + each * static_cast<double>(i);
    const auto bar = [&](double sqnr, double from, double width, double opacity) {
      Append(page,
             "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
             "fill-opacity=\"%.2f\"><title>",
             left + from * each, kBottom - height(sqnr), width * each, height(sqnr), ColorOf(sqnr),
             opacity);
      page += Escaped("#" + std::to_string(layers[i].layer) + " " + layers[i].label + ": " +
                      DecibelText(alone) + " alone, " + DecibelText(accumulated) + " accumulated") +
              "</title></rect>";
    };
    bar(accumulated, 0.05, 0.9, 0.35);
    bar(alone, 0.3, 0.4, 1);
  }
  page += "</svg>";
}

// Bars for the exact numbers, and a line for those of the integers, in parts of the range. The
// height is the root of the share, so that rare numbers are seen, too. Numbers beyond the range are
// the red bars at the ends.
void AddHistogram(std::string& page, const nn::quantize::OutputHistogram& histogram) {
  constexpr double kEach = 3;
  constexpr double kHigh = 30;
  const size_t count = histogram.exact.size();
  uint64_t most = 1;
  for (const uint64_t n : histogram.exact) most = std::max(most, n);
  for (const uint64_t n : histogram.integers) most = std::max(most, n);
  const auto height = [&](uint64_t n) {
    return kHigh * std::sqrt(static_cast<double>(n) / static_cast<double>(most));
  };
  Append(page, "<svg class=\"h\" style=\"width:%.0fpx;height:%.0fpx\"><title>%g to %g</title>",
         kEach * static_cast<double>(count), kHigh, double{histogram.least},
         double{histogram.greatest});
  std::string line;
  for (size_t i = 0; i < count; ++i) {
    const double x = kEach * static_cast<double>(i);
    const bool beyond = i == 0 || i + 1 == count;
    const double high = height(histogram.exact[i]);
    if (high > 0) {
      Append(page, "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" height=\"%.1f\" fill=\"%s\"/>", x,
             kHigh - high, kEach, high, beyond ? "#c0392b" : kGrey);
    }
    Append(line, "%s%.1f,%.1f", i == 0 ? "" : " ", x + kEach / 2,
           kHigh - height(histogram.integers[i]));
  }
  page += "<polyline fill=\"none\" stroke=\"" + std::string(kColors[0]) + "\" points=\"" + line +
          "\"/></svg>";
}

void AddTable(std::string& page, const Report& report) {
  page +=
      "<table><tr><th>#</th><th class=\"l\">layer</th><th>SQNR alone</th><th>accumulated</th>"
      "<th>cosine</th><th>numbers</th><th>clipped</th><th>dead channels</th><th>range ratio</th>"
      "<th class=\"l\">a rule that would help</th></tr>";
  for (const LayerReport& layer : report.layers) {
    page += "<tr><td>" + std::to_string(layer.layer) + "</td><td class=\"l n\">" +
            Escaped(layer.label) + "</td><td>" + DecibelText(layer.alone.Sqnr()) + "</td><td>" +
            DecibelText(layer.accumulated.Sqnr()) + "</td>";
    Append(page, "<td>%.5f</td><td>", layer.accumulated.Cosine());
    AddHistogram(page, layer.histogram);
    Append(page, "</td><td>%.3f%%</td><td>%zu</td><td>%.1f</td><td class=\"l\">",
           100 * layer.clipped, layer.dead_channels, layer.range_ratio);
    page += Escaped(layer.rule) + "</td></tr>";
  }
  page += "</table>";
}

std::string ToHtml(const std::string& model, const Report& report) {
  std::string page = PageHead(model + ", quantized");
  page += "<h1>" + Escaped(model) + ", quantized</h1><div class=\"cards\">";
  AddCard(page, std::to_string(report.samples), "samples");
  AddCard(page, std::to_string(report.layers.size()), "quantized layers");
  if (!report.layers.empty()) {
    AddCard(page, DecibelText(report.layers[0].alone.Sqnr()), "the worst layer alone");
  }
  page += "</div><h2>Signal to quantization noise, layer by layer</h2>";
  AddBars(page, report.layers);
  page += "<h2>Layers, the worst first</h2>";
  AddTable(page, report);
  return page + "</body></html>\n";
}

}  // namespace

Status CheckReportName(const std::string& path) {
  if (IsJson(path) || path.ends_with(".html")) return {};
  return InvalidArgument("--report " + nn::Printable(path) +
                         ": the name ends in neither .html nor .json");
}

Status WriteReport(const std::string& path, const std::string& model, const Report& report) {
  const std::string text = IsJson(path) ? ToJson(report, model) : ToHtml(model, report);
  return nn::ReplaceFile(path,
                         std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

}  // namespace intaglio::tools
