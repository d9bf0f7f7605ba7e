#include "intaglio/tools/tune_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/tools/page.h"

namespace intaglio::tools {
namespace {

using nn::tune::LayerReport;
using nn::tune::TimedWay;
using nn::tune::Tuning;

constexpr const char* kChanged = kColors[1];
constexpr const char* kKept = kColors[0];
constexpr const char* kConverted = kColors[4];

std::string Milliseconds(double ns) { return Number(ns * 1e-6, "ms"); }

const char* ColorOf(const LayerReport& layer, size_t way) {
  if (layer.ways[way].converted) return kConverted;
  return way == 0 ? kKept : kChanged;
}

double Total(const Tuning& tuning, bool tuned) {
  double total = 0;
  for (const LayerReport& layer : tuning.layers) total += layer.ways[tuned ? layer.chosen : 0].ns;
  return total;
}

// The layers one after the other, as long as they take.
void AddBar(std::string& page, const Tuning& tuning, bool tuned, double top, double scale) {
  constexpr double kHeight = 44;
  double at = kLeft;
  for (size_t i = 0; i < tuning.layers.size(); ++i) {
    const LayerReport& layer = tuning.layers[i];
    const TimedWay& way = layer.ways[tuned ? layer.chosen : 0];
    Append(page,
           "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\" "
           "stroke=\"#fff\" stroke-width=\"0.6\"><title>",
           at, top, std::max(0.3, way.ns * scale), kHeight,
           tuned || layer.chosen == 0 ? ColorOf(layer, layer.chosen) : kChanged);
    page += Escaped("#" + std::to_string(i) + " " + layer.label + ": " + Milliseconds(way.ns) +
                    ", " + Describe(way)) +
            "</title></rect>";
    at += way.ns * scale;
  }
  AddText(page, kLeft - 8, top + kHeight / 2 + 4, "end", tuned ? "tuned" : "untuned");
}

void AddTimes(std::string& page, const Tuning& tuning) {
  const double most = std::max({1.0, Total(tuning, false), Total(tuning, true)});
  const double scale = kInner / most;
  BeginSvg(page, 140);
  AddBar(page, tuning, false, 8, scale);
  AddBar(page, tuning, true, 60, scale);
  for (double ns = 0, step = StepOf(most, 10); ns <= most; ns += step) {
    AddLine(page, kLeft + ns * scale, 108, kLeft + ns * scale, 113, "#67778a");
    AddText(page, kLeft + ns * scale, 128, "middle", Milliseconds(ns));
  }
  page += "</svg>";
}

// A row of dots: every way, by its time over that of the untuned one.
void AddWays(std::string& page, size_t index, const LayerReport& layer, double y) {
  constexpr double kNames = 190;
  constexpr double kMost = 2;
  const double untuned = std::max(1.0, layer.ways[0].ns);
  const auto x = [&](double share) {
    return kNames + std::clamp(share, 0.0, kMost) / kMost * (kWidth - kRight - kNames);
  };
  AddText(page, kNames - 10, y + 4, "end", "#" + std::to_string(index) + " " + layer.operator_name);
  AddLine(page, x(0), y, x(kMost), y, "#dfe5ec");
  Append(page,
         "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" fill=\"#67778a\" "
         "fill-opacity=\"0.18\"/>",
         x(1 - layer.noise), y - 6, std::max(1.0, x(1 + layer.noise) - x(1 - layer.noise)));
  for (size_t w = 0; w < layer.ways.size(); ++w) {
    const TimedWay& way = layer.ways[w];
    if (way.ns == 0) continue;
    const bool chosen = w == layer.chosen;
    Append(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\" stroke=\"#fff\"><title>",
           x(way.ns / untuned), y, chosen ? 6 : 4, chosen ? ColorOf(layer, w) : kGrey);
    page += Escaped(Describe(way) + ": " + Milliseconds(way.ns)) + "</title></circle>";
  }
}

void AddAllWays(std::string& page, const Tuning& tuning) {
  const auto has_ways = [](const LayerReport& layer) { return layer.ways.size() > 1; };
  const auto rows = std::count_if(tuning.layers.begin(), tuning.layers.end(), has_ways);
  BeginSvg(page, 20 + 18 * static_cast<double>(rows));
  double y = 14;
  for (size_t i = 0; i < tuning.layers.size(); ++i) {
    if (!has_ways(tuning.layers[i])) continue;
    AddWays(page, i, tuning.layers[i], y);
    y += 18;
  }
  page += "</svg>";
}

void AddTable(std::string& page, const Tuning& tuning) {
  page +=
      "<table><tr><th>#</th><th class=\"l\">layer</th><th class=\"l\">untuned</th><th></th>"
      "<th class=\"l\">tuned</th><th></th><th>noise</th><th class=\"l\">outputs, if it alone is "
      "converted</th></tr>";
  for (const nn::tune::LayerPlan& layer : tuning.plan.layers) {
    page += "<tr><td>" + std::to_string(layer.layer) + "</td><td class=\"l n\">" +
            Escaped(layer.label) + "</td><td class=\"l\">" + Escaped(Describe(layer.untuned)) +
            "</td><td>" + Milliseconds(layer.untuned.ns) + "</td><td class=\"l\">" +
            Escaped(Describe(layer.chosen)) + "</td><td>" + Milliseconds(layer.chosen.ns) + "</td>";
    Append(page, "<td>%.1f%%</td><td class=\"l\">", 100 * layer.noise);
    if (layer.difference.measured) page += Escaped(Describe(layer.difference));
    page += "</td></tr>";
  }
  page += "</table>";
}

// The path through the network: a box for each layer in its schema. Where the color changes, there
// are adapters.
void AddPath(std::string& page, const Tuning& tuning) {
  const double width = kInner / static_cast<double>(std::max<size_t>(1, tuning.layers.size()));
  BeginSvg(page, 44);
  for (size_t i = 0; i < tuning.layers.size(); ++i) {
    const LayerReport& layer = tuning.layers[i];
    Append(page,
           "<rect x=\"%.2f\" y=\"8\" width=\"%.2f\" height=\"26\" fill=\"%s\" stroke=\"#fff\" "
           "stroke-width=\"0.6\"><title>",
           kLeft + static_cast<double>(i) * width, width,
           layer.ways[layer.chosen].converted ? kConverted : kKept);
    page += Escaped("#" + std::to_string(i) + " " + layer.label + ": " +
                    Describe(layer.ways[layer.chosen])) +
            "</title></rect>";
  }
  page += "</svg>";
}

void AddNetworks(std::string& page, const nn::tune::Plan& plan) {
  page +=
      "<table><tr><th class=\"l\">network</th><th>in turns</th><th>by the sum</th>"
      "<th>packed constants and arena</th></tr>";
  for (const nn::tune::NetworkTime& network : plan.networks) {
    page += "<tr><td class=\"l\">" + Escaped(network.name) + "</td><td>" +
            Milliseconds(network.ns) + "</td><td>" + Milliseconds(network.predicted_ns) +
            "</td><td>" + Number(static_cast<double>(network.bytes) * 1e-6, "MB") + "</td></tr>";
  }
  page += "</table>";
}

// Time against an amount: what no other selection beats in both.
struct Amount {
  double (*of)(const nn::tune::Tradeoff& point);
  std::string (*text)(double amount);
};
constexpr Amount kMemory = {
    [](const nn::tune::Tradeoff& point) { return static_cast<double>(point.bytes); },
    [](double amount) { return Number(amount * 1e-6, "MB"); }};
constexpr Amount kDifference = {[](const nn::tune::Tradeoff& point) { return point.difference; },
                                [](double amount) { return Number(100 * amount, "%"); }};

void AddTradeoffs(std::string& page, const std::vector<nn::tune::Tradeoff>& points,
                  const Amount& amount) {
  constexpr double kHeight = 220;
  const double least = points.front().ns;
  const double range = std::max(1.0, points.back().ns - least);
  const double most = std::max(1e-12, amount.of(points.front()));
  BeginSvg(page, kHeight + 40);
  for (const nn::tune::Tradeoff& point : points) {
    const double x = kLeft + (point.ns - least) / range * (kInner - 20);
    const double y = 10 + (1 - amount.of(point) / most) * (kHeight - 10);
    Append(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>", x, y, kKept);
    page += Milliseconds(point.ns) + ", " + amount.text(amount.of(point)) + "</title></circle>";
  }
  AddLine(page, kLeft, kHeight, kLeft + kInner, kHeight, "#67778a");
  AddText(page, kLeft, kHeight + 20, "start", Milliseconds(least));
  AddText(page, kLeft + kInner, kHeight + 20, "end", Milliseconds(points.back().ns));
  AddText(page, kLeft - 8, 18, "end", amount.text(most));
  AddText(page, kLeft - 8, kHeight, "end", "0");
  page += "</svg>";
}

void AddSchemas(std::string& page, const Tuning& tuning) {
  const nn::tune::Plan& plan = tuning.plan;
  page += "<section><h2>Networks</h2><p>Those that were compared in turns.</p>";
  AddNetworks(page, plan);
  page += "</section>";
  if (plan.difference.measured) {
    page += "<section><h2>Path</h2><p>The layers in their order; those that are converted to " +
            std::string(plan.ranges.empty() ? "float32" : "int8") + " are violet. " +
            std::to_string(plan.adapters) +
            " adapters. Their results are bounded: outputs differ from those untuned by " +
            Escaped(Describe(plan.difference)) + ".</p>";
    AddPath(page, tuning);
    page += "</section>";
  }
  if (tuning.tradeoffs.size() > 1) {
    page +=
        "<section><h2>Time and memory</h2><p>Selections that no other one beats in both, by the "
        "sum of the layers and the bytes of packed constants.</p>";
    AddTradeoffs(page, tuning.tradeoffs, kMemory);
    page += "</section>";
  }
  if (tuning.accuracy.size() > 1) {
    page +=
        "<section><h2>Time and accuracy</h2><p>Selections that no other one beats in both, by the "
        "sum of the layers and of their differences, each measured alone.</p>";
    AddTradeoffs(page, tuning.accuracy, kDifference);
    page += "</section>";
  }
}

}  // namespace

std::string Describe(const nn::tune::Difference& difference) {
  if (!difference.measured || difference.relative == 0) return "nothing";
  char text[80];
  const double decibels = -20 * std::log10(difference.relative);
  std::snprintf(text, sizeof text, "%.2g %% (%.0f dB)", 100 * difference.relative, decibels);
  if (difference.steps == 0) return text;  // outputs of float32 have no steps
  char steps[40];
  std::snprintf(steps, sizeof steps, "%.0f steps, ", difference.steps);
  return std::string(steps) + text;
}

// The way itself and, if it is a childnet, those of its layers that are not as by default.
template <class Way>
std::string DescribeWay(const Way& way) {
  const std::string& name = way.routine;
  std::string text =
      way.layers.empty() ? name : name.substr(0, name.size() - nn::LayersIn(name).size());
  if (!way.kernel.empty()) text += (text.empty() ? "by " : " by ") + way.kernel;
  if (way.threads > 0) {
    text += ", " + std::to_string(way.threads) + (way.threads == 1 ? " thread" : " threads");
  }
  for (size_t i = 0; i < way.layers.size(); ++i) {
    const nn::tune::ChildWay& child = way.layers[i];
    text += (i == 0 ? " (" : "; ") + std::string("#") + std::to_string(child.layer) + " " +
            child.operator_name + ": " + DescribeWay(child);
  }
  return way.layers.empty() ? text : text + ")";
}

std::string Describe(const TimedWay& way) {
  return way.routine == nn::tune::kVanishes ? "nothing to do in float32" : DescribeWay(way);
}

std::string HtmlPage(const Tuning& tuning) {
  const nn::tune::Plan& plan = tuning.plan;
  std::string page = PageHead("intaglio tune");
  page += "<h1>" + Escaped(plan.model) + "</h1><p>intaglio tune, " + std::to_string(plan.threads) +
          (plan.threads == 1 ? " thread, " : " threads, ") + Escaped(Describe(plan.machine)) +
          "</p><div class=\"cards\">";
  AddCard(page, Milliseconds(plan.untuned_ns), "untuned");
  AddCard(page, Milliseconds(plan.tuned_ns), "tuned, in turns with it");
  AddCard(page, Milliseconds(plan.predicted_ns), "by the sum of the layers");
  AddCard(page, std::to_string(plan.layers.size()), "layers that change");
  page +=
      "</div><section><h2>Time</h2><p>The layers in their order; those that change are "
      "orange.</p>";
  AddTimes(page, tuning);
  page += "</section>";
  AddSchemas(page, tuning);
  page +=
      "<section><h2>Ways</h2><p>Every way to compute each layer, by its time over that "
      "of the untuned one; the right end stands for twice as long and more. The band is noise. The "
      "large dot was chosen.</p>";
  AddAllWays(page, tuning);
  page += "</section><section><h2>Layers that change</h2>";
  AddTable(page, tuning);
  return page + "</section></body></html>\n";
}

}  // namespace intaglio::tools
