#include "intaglio/tools/page.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::tools {
namespace {

constexpr const char* kHead = R"(<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<title>)";

constexpr const char* kStyle = R"(</title><style>
:root{--ink:#1d2733;--soft:#67778a;--line:#dfe5ec;--paper:#f6f8fa}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:32px 28px 64px;background:var(--paper);color:var(--ink);
font:15px/1.45 system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
h1{font-size:22px;margin:0 0 2px}h2{font-size:15px;margin:0 0 2px}
p{margin:0 0 12px;color:var(--soft)}
.cards{display:flex;flex-wrap:wrap;gap:12px;margin:18px 0}
.card,section{background:#fff;border:1px solid var(--line);border-radius:10px}
.card{padding:10px 18px;min-width:128px}.card b{display:block;font-size:20px}
.card span{color:var(--soft);font-size:13px}
section{padding:18px 20px;margin:0 0 18px}
svg{display:block;width:100%;height:auto}
svg text{font:12px system-ui,Roboto,Arial,sans-serif;fill:var(--soft)}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:13px;color:var(--soft);margin-top:8px}
.legend i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px}
table{border-collapse:collapse;width:100%;font-size:13px}
th,td{text-align:right;padding:4px 8px;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--soft);font-weight:600}
td.l,th.l{text-align:left}td.n{max-width:340px;overflow:hidden;text-overflow:ellipsis}
</style></head><body>
)";

}  // namespace

std::string PageHead(const std::string& title) { return kHead + Escaped(title) + kStyle; }

void Append(std::string& to, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  to += text;
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : nn::Printable(text)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void BeginSvg(std::string& page, double height) {
  Append(page, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">", kWidth, height);
}

void AddText(std::string& page, double x, double y, const char* anchor, const std::string& text) {
  Append(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  page += Escaped(text) + "</text>";
}

void AddLine(std::string& page, double x1, double y1, double x2, double y2, const char* color) {
  Append(page, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>", x1, y1, x2,
         y2, color);
}

std::string Number(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f %s" : "%.3g %s", value, unit);
  return text;
}

// 1, 2 or 5 times a power of ten that gives about `steps` steps.
double StepOf(double range, int steps) {
  const double rough = std::max(range, 1e-9) / steps;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

void AddCard(std::string& page, const std::string& value, const char* what) {
  page += "<div class=\"card\"><b>" + Escaped(value) + "</b><span>" + what + "</span></div>";
}

}  // namespace intaglio::tools
