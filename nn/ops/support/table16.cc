#include "intaglio/nn/ops/support/table16.h"

#include <atomic>

#include "intaglio/fixedpoint/make_once.h"

namespace intaglio::nn {
namespace {

// tanh(x) has the exponential of 2 x.
template <int kIntegers>
const Table16& TanhWith() {
  static constinit std::atomic<const Table16*> made = nullptr;
  return MakeOnce(made, [] {
    auto table = std::make_unique<Table16>();
    table->Fill<kIntegers + 1>([](int32_t e) { return q15::TanhByExp(e); }, 0, 0);
    return table;
  });
}

}  // namespace

const Table16& LogisticTable() {
  static constinit std::atomic<const Table16*> made = nullptr;
  return MakeOnce(made, [] {
    auto table = std::make_unique<Table16>();
    table->Fill<3>([](int32_t e) { return q15::LogisticByExp(e); }, 1 << 14, q15::kOne);
    return table;
  });
}

const Table16& TanhTable(int integer_bits) {
  constexpr const Table16& (*kTables[])() = {TanhWith<0>, TanhWith<1>, TanhWith<2>, TanhWith<3>,
                                             TanhWith<4>, TanhWith<5>, TanhWith<6>};
  return kTables[integer_bits]();
}

}  // namespace intaglio::nn
