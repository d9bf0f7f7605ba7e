// Packed matrices as bytes: to keep them in files, and to share them between processes by mapping
// one file.
#ifndef INTAGLIO_BINDINGS_C_SAVED_WEIGHTS_H_
#define INTAGLIO_BINDINGS_C_SAVED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/pack/packed_matrix.h"

namespace intaglio::c {

// How many bytes SaveWeights writes.
size_t CountSavedBytes(const PackedMatrix& matrix);

// Writes the matrix as it is packed, behind a head with its sizes, its kernel and a checksum.
// `bytes` must be CountSavedBytes long. Filters that were padded for convolutions
// (PackOptions::kernel_height) are refused.
Status SaveWeights(const PackedMatrix& matrix, std::span<uint8_t> bytes);

// Reads what SaveWeights wrote. If `bytes` starts at a multiple of 64, as mapped files do, the
// panels stay where they are, and `owner` keeps them alive; otherwise they are copied. All bytes
// are read once, for the checksum.
//
// Errors: kInvalidArgument for bytes that are cut off, damaged or no saved weights; kUnsupported
// for weights of another version or for a kernel that this machine cannot use. The checksum finds
// damage, not malice. Bytes made on purpose may give wrong results, but reach no other memory.
Result<PackedMatrix> LoadWeights(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner);

// The kernel that this process would take for products of the matrix. Empty if there is none.
std::string KernelOf(const PackedMatrix& matrix);

}  // namespace intaglio::c

#endif  // INTAGLIO_BINDINGS_C_SAVED_WEIGHTS_H_
