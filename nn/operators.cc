#include "intaglio/nn/operators.h"

namespace intaglio::nn {

Operator::Operator() = default;
Operator::Operator(const Operator& other) = default;
Operator::Operator(Operator&& other) noexcept = default;
Operator& Operator::operator=(const Operator& other) = default;
Operator& Operator::operator=(Operator&& other) noexcept = default;
Operator::~Operator() = default;

}  // namespace intaglio::nn
