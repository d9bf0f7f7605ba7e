// The logistic function and tanh of every int16, in tables that are made on first use and shared.
#ifndef INTAGLIO_NN_OPS_SUPPORT_TABLE16_H_
#define INTAGLIO_NN_OPS_SUPPORT_TABLE16_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/transcendental16.h"

namespace intaglio::nn {

class Table16 {
 public:
  int16_t operator()(int16_t x) const { return values_[static_cast<uint16_t>(x)]; }
  // Tabulates a function with f(0) = zero and f(-x) = mirror - f(x). For x > 0 it is
  // by_exp(exp(-x)), where x has kIntegers integer bits.
  template <int kIntegers, class Function>
  void Fill(const Function& by_exp, int zero, int mirror) {
    int16_t* const values = values_.data();
    const int16_t* const exps = values + 0x8000;  // until negative numbers take their place
    q15::AllExpsOnNegativeValues<kIntegers>(values + 0x8000);
    const auto lowest = static_cast<int16_t>(mirror - by_exp(exps[0x7fff]));
    values[0] = static_cast<int16_t>(zero);
    for (int x = 1; x < 0x8000; ++x) values[x] = static_cast<int16_t>(by_exp(exps[x - 1]));
    for (int x = 1; x < 0x8000; ++x) values[0x10000 - x] = static_cast<int16_t>(mirror - values[x]);
    values[0x8000] = lowest;
  }

 private:
  std::array<int16_t, 65536> values_;
};

// The logistic function of numbers in units of 2^-12. Results are in units of 2^-15.
const Table16& LogisticTable();

// tanh of numbers in units of 2^(integer_bits - 15), for integer_bits in [0, 6]. Results are in
// units of 2^-15.
const Table16& TanhTable(int integer_bits);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_TABLE16_H_
