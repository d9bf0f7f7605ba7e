#include "intaglio/nn/quantize/pattern.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace intaglio::nn::quantize {
namespace {

constexpr size_t kMostCharacters = 1000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Counts the parts that an expression becomes. "+" compiles what it repeats twice, so that
// "(((a+)+)+)+" doubles with each character that is added.
class PartCounter {
 public:
  explicit PartCounter(std::string_view expression) : text_(expression) {}

  // True if there are more than kMostParts.
  bool AreTooMany() {
    for (size_t i = 0; i < text_.size() && total_ <= kMostParts; ++i) i = Take(i);
    return total_ > kMostParts;
  }

 private:
  // As many as an expression without "+" can have: compiling takes their square, or worse.
  static constexpr size_t kMostParts = kMostCharacters;

  // Takes what begins at `i`, and returns its last character.
  size_t Take(size_t i) {
    switch (text_[i]) {
      case '+':
        total_ += last_;
        last_ *= 2;
        return i;
      case '(':
        open_.push_back(total_);
        ++total_;
        last_ = 1;
        return i;
      case ')':
        if (open_.empty()) return AddAtom(i);
        last_ = total_ - open_.back();
        open_.pop_back();
        return i;
      case '*':
      case '?':
        return i;
      case '[':
        return AddAtom(EndOfSet(i));
      case '\\':
        return AddAtom(i + 1);
      default:
        return AddAtom(i);
    }
  }

  // The bracket that ends "[a-z]", "[^]x]" or "[[:alpha:]]".
  size_t EndOfSet(size_t i) const {
    i += i + 1 < text_.size() && text_[i + 1] == '^' ? 2 : 1;
    for (size_t at = i; at < text_.size(); ++at) {
      if (text_[at] == ']' && at > i) return at;
      if (text_[at] != '[' || at + 1 == text_.size()) continue;
      const char kind = text_[at + 1];
      if (kind != ':' && kind != '.' && kind != '=') continue;
      const size_t end = text_.find(std::string{kind, ']'}, at + 2);
      if (end == std::string_view::npos) break;
      at = end + 1;
    }
    return text_.size();
  }

  size_t AddAtom(size_t end) {
    ++total_;
    last_ = 1;
    return end;
  }

  const std::string_view text_;
  std::vector<size_t> open_;  // the parts before each group
  size_t total_ = 0;
  size_t last_ = 0;  // parts that a "+" would double
};

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
  if (PartCounter(expression).AreTooMany()) return "\"+\" repeats what is repeated too often";
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
