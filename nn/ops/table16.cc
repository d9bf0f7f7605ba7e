#include "intaglio/nn/ops/table16.h"

#include <mutex>

namespace intaglio::nn {
namespace {

// Static, of zeros in the file: only the tables that are used take memory.
struct Made {
  std::once_flag once;
  Table16 table;
};

// tanh(x) has the exponential of 2 x.
template <int kIntegers>
const Table16& TanhWith() {
  static Made made;
  std::call_once(made.once, [] {
    made.table.Fill<kIntegers + 1>([](int32_t e) { return q15::TanhByExp(e); }, 0, 0);
  });
  return made.table;
}

}  // namespace

const Table16& LogisticTable() {
  static Made made;
  std::call_once(made.once, [] {
    made.table.Fill<3>([](int32_t e) { return q15::LogisticByExp(e); }, 1 << 14, q15::kOne);
  });
  return made.table;
}

const Table16& TanhTable(int integer_bits) {
  constexpr const Table16& (*kTables[])() = {TanhWith<0>, TanhWith<1>, TanhWith<2>, TanhWith<3>,
                                             TanhWith<4>, TanhWith<5>, TanhWith<6>};
  return kTables[integer_bits]();
}

}  // namespace intaglio::nn
