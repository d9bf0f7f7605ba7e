// The logistic function and tanh of every int16, in tables that are made on first use and shared.
#ifndef INTAGLIO_NN_OPS_TABLE16_H_
#define INTAGLIO_NN_OPS_TABLE16_H_

#include <array>
#include <cstdint>

namespace intaglio::nn {

class Table16 {
 public:
  int16_t operator()(int16_t x) const { return values_[static_cast<uint16_t>(x)]; }
  template <class Function>
  void Fill(const Function& f) {
    for (int32_t x = -32768; x <= 32767; ++x) {
      const auto operand = static_cast<int16_t>(x);
      values_[static_cast<uint16_t>(operand)] = f(operand);
    }
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
