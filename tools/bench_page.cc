// The page of `intaglio bench --html`: SVG written by hand, no script.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "intaglio/tools/bench_report.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/page.h"

namespace intaglio::tools {
namespace {

// One color per operator, in the order of their share of time.
using Colors = std::map<std::string, const char*>;

Colors ColorsOf(const BenchReport& report) {
  std::map<std::string, double> times;
  for (const LayerReport& layer : report.layers) times[layer.operator_name] += layer.times.min_ms;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, ms] : times) order.emplace_back(-ms, name);
  std::sort(order.begin(), order.end());
  Colors colors;
  for (size_t i = 0; i < order.size(); ++i) {
    colors[order[i].second] = i < std::size(kColors) ? kColors[i] : kGrey;
  }
  return colors;
}

void AddLegend(std::string& page, const Colors& colors) {
  page += "<div class=\"legend\">";
  for (const auto& [name, color] : colors) {
    Append(page, "<span><i style=\"background:%s\"></i>%s</span>", color, Escaped(name).c_str());
  }
  page += "</div>";
}

std::string TitleOf(size_t index, const LayerReport& layer) {
  return "#" + std::to_string(index) + " " + layer.label + ": " +
         Number(1e3 * layer.times.min_ms, "us") + ", " +
         Number(Gops(layer.macs, layer.times.min_ms), "GOPS") + ", " + layer.routine;
}

void AddTimeline(std::string& page, const BenchReport& report, const Colors& colors) {
  constexpr double kTop = 8;
  constexpr double kBar = 64;
  double total = 0;
  for (const LayerReport& layer : report.layers) total += layer.fastest_run_ms;
  const double scale = kInner / std::max(total, 1e-9);
  BeginSvg(page, kTop + kBar + 28);
  double at = 0;
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerReport& layer = report.layers[i];
    const double width = layer.fastest_run_ms * scale;
    Append(page,
           "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\" "
           "stroke=\"#fff\" stroke-width=\"%.2f\"><title>",
           kLeft + at, kTop, std::max(width, 0.3), kBar, colors.at(layer.operator_name),
           std::min(1.0, width / 6));
    page += Escaped(TitleOf(i, layer)) + "</title></rect>";
    at += width;
  }
  for (double ms = 0, step = StepOf(total, 10); ms <= total; ms += step) {
    AddLine(page, kLeft + ms * scale, kTop + kBar, kLeft + ms * scale, kTop + kBar + 5, "#67778a");
    AddText(page, kLeft + ms * scale, kTop + kBar + 20, "middle", Number(ms, "ms"));
  }
  page += "</svg>";
  AddLegend(page, colors);
}

// A logarithmic axis over whole decades.
struct LogAxis {
  double low;
  double high;
  double from;
  double to;

  double At(double value) const {
    const double part = (std::log10(std::max(value, 1e-12)) - std::log10(low)) /
                        (std::log10(high) - std::log10(low));
    return from + std::clamp(part, 0.0, 1.0) * (to - from);
  }
};

LogAxis MakeAxis(double least, double most, double from, double to) {
  return {std::pow(10.0, std::floor(std::log10(std::max(least, 1e-3)))),
          std::pow(10.0, std::ceil(std::log10(std::max(most, 1e-2) * 1.05))), from, to};
}

double Intensity(const LayerReport& layer) {
  return 2.0 * static_cast<double>(layer.macs) /
         static_cast<double>(std::max<size_t>(1, layer.bytes));
}

void AddRoofline(std::string& page, const BenchReport& report, const Colors& colors) {
  constexpr double kHeight = 380;
  constexpr double kTop = 12;
  constexpr double kBottom = kHeight - 40;
  double least = 1e30, most = 1, slowest = 1e30;
  for (const LayerReport& layer : report.layers) {
    if (layer.macs == 0) continue;
    least = std::min(least, Intensity(layer));
    most = std::max(most, Intensity(layer));
    slowest = std::min(slowest, Gops(layer.macs, layer.times.min_ms));
  }
  BeginSvg(page, kHeight);
  const LogAxis x = MakeAxis(std::min(least, 1.0), most, kLeft, kLeft + kInner);
  const LogAxis y = MakeAxis(std::min(slowest, 10.0), report.ceilings.gops, kBottom, kTop);
  for (double v = x.low; v <= x.high * 1.01; v *= 10) {
    AddLine(page, x.At(v), kTop, x.At(v), kBottom, "#dfe5ec");
    AddText(page, x.At(v), kBottom + 16, "middle", Number(v, ""));
  }
  for (double v = y.low; v <= y.high * 1.01; v *= 10) {
    AddLine(page, kLeft, y.At(v), kLeft + kInner, y.At(v), "#dfe5ec");
    AddText(page, kLeft - 8, y.At(v) + 4, "end", Number(v, ""));
  }
  const double ridge = report.ceilings.gops / std::max(report.ceilings.gbytes_per_second, 1e-9);
  Append(page,
         "<polyline points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" fill=\"none\" stroke=\"#1d2733\" "
         "stroke-width=\"2\"/>",
         x.At(x.low), y.At(x.low * report.ceilings.gbytes_per_second), x.At(ridge),
         y.At(report.ceilings.gops), x.At(x.high), y.At(report.ceilings.gops));
  double longest = 1e-9;
  for (const LayerReport& layer : report.layers) longest = std::max(longest, layer.times.min_ms);
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerReport& layer = report.layers[i];
    if (layer.macs == 0) continue;
    Append(page,
           "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" fill-opacity=\"0.65\" "
           "stroke=\"#fff\"><title>",
           x.At(Intensity(layer)), y.At(Gops(layer.macs, layer.times.min_ms)),
           4 + 8 * std::sqrt(layer.times.min_ms / longest), colors.at(layer.operator_name));
    page += Escaped(TitleOf(i, layer)) + "</title></circle>";
  }
  AddText(page, kLeft + kInner, kHeight - 6, "end", "operations per byte");
  AddText(page, kLeft + 6, kTop + 12, "start", "GOPS");
  page += "</svg>";
}

void AddArena(std::string& page, const BenchReport& report) {
  constexpr double kHeight = 300;
  constexpr double kTop = 8;
  constexpr double kBottom = kHeight - 32;
  const auto layers = static_cast<double>(report.layers.size());
  const double per_layer = kInner / std::max(1.0, layers + 2);
  const double per_byte =
      (kBottom - kTop) / static_cast<double>(std::max<size_t>(1, report.arena_bytes));
  BeginSvg(page, kHeight);
  for (size_t i = 0; i < report.placements.size(); ++i) {
    const nn::Placement& p = report.placements[i];
    const double height = std::max(0.5, static_cast<double>(p.bytes) * per_byte);
    Append(page,
           "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" "
           "fill-opacity=\"0.55\" stroke=\"#fff\" stroke-width=\"0.7\"><title>",
           kLeft + (p.first + 1) * per_layer,
           kBottom - static_cast<double>(p.offset) * per_byte - height,
           (p.last - p.first + 1) * per_layer, height, kColors[i % std::size(kColors)]);
    page += Escaped(report.tensor_names[i]) + ": " + FormatBytes(p.bytes) + " at " +
            std::to_string(p.offset) +
            (p.stride > 0 ? ", in lines that are " + std::to_string(p.stride) + " apart" : "") +
            "</title></rect>";
  }
  AddLine(page, kLeft, kBottom, kLeft + kInner, kBottom, "#67778a");
  AddText(page, kLeft - 8, kBottom, "end", "0");
  AddText(page, kLeft - 8, kTop + 10, "end", FormatBytes(report.arena_bytes));
  for (double i = 0, step = StepOf(layers, 12); i < layers; i += std::max(1.0, step)) {
    AddText(page, kLeft + (i + 1.5) * per_layer, kBottom + 16, "middle", Number(i, ""));
  }
  AddText(page, kLeft + kInner, kHeight - 2, "end", "layer");
  page += "</svg>";
}

void AddTable(std::string& page, const BenchReport& report) {
  page +=
      "<table><tr><th>#</th><th class=\"l\">layer</th><th class=\"l\">routine</th><th>min</th>"
      "<th>median</th><th>share</th><th>GOPS</th><th>of ceiling</th></tr>";
  double sum = 0;
  for (const LayerReport& layer : report.layers) sum += layer.times.min_ms;
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerReport& layer = report.layers[i];
    const double gops = Gops(layer.macs, layer.times.min_ms);
    Append(page, "<tr><td>%zu</td><td class=\"l n\">", i);
    page += Escaped(layer.label) + "</td><td class=\"l\">" +
            Escaped(layer.routine + " " + layer.kernel);
    Append(page, "</td><td>%.1f us</td><td>%.1f us</td><td>%.1f%%</td>", 1e3 * layer.times.min_ms,
           1e3 * layer.times.median_ms, sum > 0 ? 100 * layer.times.min_ms / sum : 0);
    page += layer.macs > 0 ? "<td>" + Number(gops, "") + "</td><td>" : "<td></td><td>";
    if (layer.share_of_peak > 0) Append(page, "%.0f%%", 100 * layer.share_of_peak);
    page += "</td></tr>";
  }
  page += "</table>";
}

}  // namespace

std::string HtmlPage(const BenchReport& report) {
  std::string page = PageHead("intaglio bench");
  const Colors colors = ColorsOf(report);
  page += "<h1>" + Escaped(report.model) + "</h1><p>intaglio bench, " +
          std::to_string(report.threads) + (report.threads == 1 ? " thread, " : " threads, ") +
          std::to_string(report.runs) + " runs</p><div class=\"cards\">";
  AddCard(page, Number(report.whole.min_ms, "ms"), "fastest run");
  AddCard(page, Number(report.whole.median_ms, "ms"), "median");
  AddCard(page, Number(Gops(report.macs, report.whole.min_ms), "GOPS"), "of the whole");
  AddCard(page, Number(report.ceilings.gops, "GOPS"), "ceiling: a product in cache");
  AddCard(page, FormatBytes(report.arena_bytes), "arena");
  AddCard(page, FormatBytes(report.constant_bytes), "packed constants");
  page += "</div><section><h2>Time</h2><p>The layers of the fastest run, in their order.</p>";
  AddTimeline(page, report, colors);
  page +=
      "</section><section><h2>Roofline</h2><p>Layers that multiply, by operations per byte of "
      "inputs, outputs and constants; the area grows with the time. Above the slope: data came "
      "from caches.</p>";
  AddRoofline(page, report, colors);
  page +=
      "</section><section><h2>Arena</h2><p>Where each tensor lies, and during which layers.</p>";
  AddArena(page, report);
  page += "</section><section><h2>Layers</h2>";
  AddTable(page, report);
  return page + "</section></body></html>\n";
}

}  // namespace intaglio::tools
