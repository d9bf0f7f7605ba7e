#include "intaglio/tools/tune_page.h"

#include <algorithm>

#include "intaglio/tools/page.h"

namespace intaglio::tools {
namespace {

using nn::tune::LayerReport;
using nn::tune::TimedWay;
using nn::tune::Tuning;

constexpr const char* kChanged = kColors[1];
constexpr const char* kKept = kColors[0];

std::string Milliseconds(double ns) { return Number(ns * 1e-6, "ms"); }

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
           at, top, std::max(0.3, way.ns * scale), kHeight, layer.chosen > 0 ? kChanged : kKept);
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
           x(way.ns / untuned), y, chosen ? 6 : 4,
           !chosen  ? kGrey
           : w == 0 ? kKept
                    : kChanged);
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
      "<th class=\"l\">tuned</th><th></th><th>noise</th></tr>";
  for (const nn::tune::LayerPlan& layer : tuning.plan.layers) {
    page += "<tr><td>" + std::to_string(layer.layer) + "</td><td class=\"l n\">" +
            Escaped(layer.label) + "</td><td class=\"l\">" + Escaped(Describe(layer.untuned)) +
            "</td><td>" + Milliseconds(layer.untuned.ns) + "</td><td class=\"l\">" +
            Escaped(Describe(layer.chosen)) + "</td><td>" + Milliseconds(layer.chosen.ns) + "</td>";
    Append(page, "<td>%.1f%%</td></tr>", 100 * layer.noise);
  }
  page += "</table>";
}

}  // namespace

std::string Describe(const TimedWay& way) {
  std::string text = way.routine;
  if (!way.kernel.empty()) text += " by " + way.kernel;
  if (way.threads > 0) {
    text += ", " + std::to_string(way.threads) + (way.threads == 1 ? " thread" : " threads");
  }
  return text;
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
  page +=
      "</section><section><h2>Ways</h2><p>Every way to compute each layer, by its time over that "
      "of the untuned one; the right end stands for twice as long and more. The band is noise. The "
      "large dot was chosen.</p>";
  AddAllWays(page, tuning);
  page += "</section><section><h2>Layers that change</h2>";
  AddTable(page, tuning);
  return page + "</section></body></html>\n";
}

}  // namespace intaglio::tools
