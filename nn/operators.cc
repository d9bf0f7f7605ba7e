#include "intaglio/nn/operators.h"

#include <type_traits>
#include <utility>

namespace intaglio::nn {
namespace {

template <size_t place>
void Take(OperatorVariant& to, void* op) {
  to.emplace<place>(
      std::move(*static_cast<std::variant_alternative_t<place, OperatorVariant>*>(op)));
}

using Places = std::make_index_sequence<std::variant_size_v<OperatorVariant>>;

template <size_t... places>
void TakeAt(size_t place, OperatorVariant& to, void* op, std::index_sequence<places...>) {
  constexpr void (*kTake[])(OperatorVariant&, void*) = {Take<places>...};
  kTake[place](to, op);
}

}  // namespace

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
Operator::Operator(size_t place, void* op) : Operator() { TakeAt(place, *this, op, Places{}); }

}  // namespace intaglio::nn
