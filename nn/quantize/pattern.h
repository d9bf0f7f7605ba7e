// Patterns of labels: POSIX extended regular expressions without counts in braces, without back
// references, and without "+" of "+" many times over. These can take memory or time without bounds.
#ifndef INTAGLIO_NN_QUANTIZE_PATTERN_H_
#define INTAGLIO_NN_QUANTIZE_PATTERN_H_

#include <regex.h>

#include <memory>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn::quantize {

class Pattern {
 public:
  // The error says what is wrong with the expression, but does not name it.
  static Result<Pattern> Compile(const std::string& expression);

  // Whether it occurs in the text.
  bool OccursIn(const std::string& text) const;

 private:
  struct Free {
    void operator()(regex_t* expression) const;
  };

  explicit Pattern(std::unique_ptr<regex_t, Free> compiled) : compiled_(std::move(compiled)) {}

  std::unique_ptr<regex_t, Free> compiled_;
};

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_PATTERN_H_
