// The operator of a layer: its row, and its parameters, which are one small struct.
#ifndef INTAGLIO_NN_GRAPH_OPERATOR_H_
#define INTAGLIO_NN_GRAPH_OPERATOR_H_

#include <concepts>
#include <memory>
#include <utility>

#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

template <class T>
concept OperatorParameters = requires {
  { T::kRow } -> std::same_as<const OperatorRow&>;
};

// Immutable; copies share the parameters.
class Operator {
 public:
  Operator();  // none, which no graph can have
  template <OperatorParameters T>
  Operator(T parameters)
      : row_(&T::kRow), parameters_(std::make_shared<const T>(std::move(parameters))) {}

  const OperatorRow& row() const { return *row_; }
  const void* parameters() const { return parameters_.get(); }

  // The parameters; null where the operator is not T.
  template <OperatorParameters T>
  const T* As() const {
    return Is<T>() ? static_cast<const T*>(parameters_.get()) : nullptr;
  }
  template <OperatorParameters T>
  bool Is() const {
    return row_ == &T::kRow;
  }

 private:
  const OperatorRow* row_;
  std::shared_ptr<const void> parameters_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_OPERATOR_H_
