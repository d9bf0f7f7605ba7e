// Routines made of lambdas, and code chosen by an element type that is known at run time only.
#ifndef INTAGLIO_NN_ROUTINE_ROUTINE_OF_H_
#define INTAGLIO_NN_ROUTINE_ROUTINE_OF_H_

#include <memory>
#include <type_traits>
#include <utility>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

template <class Body>
class BodyRoutine final : public Routine {
 public:
  explicit BodyRoutine(Body body) : body_(std::move(body)) {}
  Status Run(const RunArguments& arguments) const override {
    if constexpr (std::is_void_v<std::invoke_result_t<const Body&, const RunArguments&>>) {
      body_(arguments);
      return {};
    } else {
      return body_(arguments);
    }
  }

 private:
  Body body_;
};

// A routine whose Run is body(arguments), which returns a Status or nothing.
template <class Body>
std::shared_ptr<const Routine> RoutineOf(Body body) {
  return std::make_shared<const BodyRoutine<Body>>(std::move(body));
}

// Returns f(T()) for the T of Ts that is the element type, or a default result if none of them is.
// The elements of bool tensors are bytes of any value.
template <class... Ts, class Function>
auto VisitType(Type type, const Function& f) {
  std::common_type_t<decltype(f(Ts()))...> result{};
  (void)((type == TypeOf<Ts> && (result = f(Ts()), true)) || ...);
  return result;
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_ROUTINE_OF_H_
