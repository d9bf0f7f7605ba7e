#include "intaglio/nn/ops/table16.h"

#include <mutex>

#include "intaglio/fixedpoint/transcendental16.h"

namespace intaglio::nn {
namespace {

// Static, of zeros in the file: only the tables that are used take memory.
struct Made {
  std::once_flag once;
  Table16 table;
};

template <class Function>
const Table16& Once(Made& made, const Function& f, int mirror) {
  std::call_once(made.once, [&] { made.table.Fill(f, mirror); });
  return made.table;
}

template <int kIntegers>
const Table16& Tanh() {
  static Made made;
  return Once(
      made, [](int16_t x) { return Tanh16<kIntegers>(x); }, 0);
}

}  // namespace

const Table16& LogisticTable() {
  static Made made;
  return Once(
      made, [](int16_t x) { return Logistic16<3>(x); }, q15::kOne);
}

const Table16& TanhTable(int integer_bits) {
  constexpr const Table16& (*kTables[])() = {Tanh<0>, Tanh<1>, Tanh<2>, Tanh<3>,
                                             Tanh<4>, Tanh<5>, Tanh<6>};
  return kTables[integer_bits]();
}

}  // namespace intaglio::nn
