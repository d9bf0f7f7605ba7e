#include "intaglio/nn/operators.h"

#include <type_traits>

namespace intaglio::nn {

// Defaulted, construction from another makes of every alternative a function for each that precedes
// it, which takes a minute to compile under sanitizers. Putting a value in place of another is one
// per alternative.
Operator::Operator() = default;
Operator::Operator(const Operator& other) : Operator() {
  const OperatorVariant& from = other;
  std::visit([this](const auto& op) { emplace<std::decay_t<decltype(op)>>(op); }, from);
}
Operator::Operator(Operator&& other) noexcept : Operator() { *this = std::move(other); }
Operator& Operator::operator=(const Operator& other) { return *this = Operator(other); }
Operator& Operator::operator=(Operator&& other) noexcept = default;
Operator::~Operator() = default;

}  // namespace intaglio::nn
