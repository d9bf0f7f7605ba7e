// The logistic function and tanh of every int16, in tables that are made on first use and shared.
#ifndef INTAGLIO_NN_OPS_TABLE16_H_
#define INTAGLIO_NN_OPS_TABLE16_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace intaglio::nn {

class Table16 {
 public:
  int16_t operator()(int16_t x) const { return values_[static_cast<uint16_t>(x)]; }
  // By f, for which f(-x) = mirror - f(x).
  template <class Function>
  void Fill(const Function& f, int mirror) {
    int16_t* const values = values_.data();
    for (int x = 0; x < 0x8000; ++x) values[x] = f(static_cast<int16_t>(x));
    values[0x8000] = f(-0x8000);
    for (int x = 1; x < 0x8000; ++x) values[0x10000 - x] = static_cast<int16_t>(mirror - values[x]);
  }

 private:
  std::array<int16_t, 65536> values_;
};

// Of numbers in units of 2^-12; results in units of 2^-15.
const Table16& LogisticTable();

// Of numbers in units of 2^(integer_bits - 15), integer_bits in [0, 6].
const Table16& TanhTable(int integer_bits);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_TABLE16_H_
