// The least sizes of the products for which int8_fast_products_avx2.cc is faster.
#ifndef INTAGLIO_KERNELS_X86_FAST_PRODUCTS_H_
#define INTAGLIO_KERNELS_X86_FAST_PRODUCTS_H_

namespace intaglio {

inline constexpr int kLeastFastDepth = 128;
inline constexpr int kLeastFastChannels = 64;

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_FAST_PRODUCTS_H_
