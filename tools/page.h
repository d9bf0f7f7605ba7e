// Parts of the pages that commands write: HTML and SVG by hand, no script.
#ifndef INTAGLIO_TOOLS_PAGE_H_
#define INTAGLIO_TOOLS_PAGE_H_

#include <string>

namespace intaglio::tools {

// A picture is kWidth wide; kInner of that, from kLeft on, is for what it shows.
inline constexpr double kWidth = 1120;
inline constexpr double kLeft = 64;
inline constexpr double kRight = 16;
inline constexpr double kInner = kWidth - kLeft - kRight;

// For kinds of things, the most important first; what comes after is grey.
inline constexpr const char* kColors[] = {"#3b6fb6", "#e2803a", "#4a9c6d", "#b8507c",
                                          "#7d6bb3", "#c9a227", "#3ba3a8", "#9a6b4f"};
inline constexpr const char* kGrey = "#a5b0bc";

// Everything up to and including <body>.
std::string PageHead(const std::string& title);

// As printf, at most 511 characters. Text of a user has to be escaped and added by itself.
[[gnu::format(printf, 2, 3)]] void Append(std::string& to, const char* format, ...);

std::string Escaped(const std::string& text);

// "1.23 ms"
std::string Number(double value, const char* unit);

// 1, 2 or 5 times a power of ten that gives about `steps` steps.
double StepOf(double range, int steps);

void BeginSvg(std::string& page, double height);
void AddText(std::string& page, double x, double y, const char* anchor, const std::string& text);
void AddLine(std::string& page, double x1, double y1, double x2, double y2, const char* color);
void AddCard(std::string& page, const std::string& value, const char* what);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_PAGE_H_
