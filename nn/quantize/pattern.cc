#include "intaglio/nn/quantize/pattern.h"

#include <cstddef>
#include <utility>

namespace intaglio::nn::quantize {
namespace {

constexpr size_t kMostCharacters = 1000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

const char* WhyNot(const std::string& expression) {
  if (expression.size() > kMostCharacters) return "it has more than 1000 characters";
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '\0') return "it has a character that is 0";
    if (expression[i] == '{') return "counts in braces are not supported";
    if (expression[i] != '\\') continue;
    ++i;  // what follows is escaped
    if (i < expression.size() && IsDigit(expression[i])) {
      return "back references are not supported";
    }
  }
  return nullptr;
}

}  // namespace

void Pattern::Free::operator()(regex_t* expression) const {
  regfree(expression);
  delete expression;
}

Result<Pattern> Pattern::Compile(const std::string& expression) {
  if (const char* const why_not = WhyNot(expression)) return InvalidArgument(why_not);
  auto compiled = std::make_unique<regex_t>();
  const int error = regcomp(compiled.get(), expression.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error == 0) return Pattern(std::unique_ptr<regex_t, Free>(compiled.release()));
  char text[128];
  regerror(error, compiled.get(), text, sizeof(text));
  return InvalidArgument(text);
}

bool Pattern::OccursIn(const std::string& text) const {
  return regexec(compiled_.get(), text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace intaglio::nn::quantize
