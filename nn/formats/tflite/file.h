// Inside the .tflite reader: the verified file, and what all of its parts use.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_FILE_H_
#define INTAGLIO_NN_FORMATS_TFLITE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/formats/tflite/schema_generated.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/passes/fold_constants.h"

namespace intaglio::nn {

// What reading a file may come to.
class Budget {
 public:
  // `metadata_bytes` limits names, lists and what constants are made into.
  Budget(const Limits& limits, size_t file_bytes, size_t metadata_bytes)
      : limits_(limits),
        ledger_(limits, file_bytes),
        metadata_left_(metadata_bytes),
        folding_(FoldBudget::ForModelOf(file_bytes, limits, &ledger_)) {}

  // FlatBuffers may share one vector between any number of tables, so that a small file can name a
  // huge amount of metadata. What the reader copies is charged here.
  Status Charge(size_t count, size_t element_bytes) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) || bytes > metadata_left_) {
      return InvalidArgument("names more metadata than a file of its size can hold");
    }
    INTAGLIO_RETURN_IF_ERROR(ledger_.Charge(bytes));
    metadata_left_ -= bytes;
    return {};
  }

  // A copy of what the caller gives an input.
  Status ChargeConstant(size_t bytes) { return ledger_.Charge(bytes); }

  // A tensor that is not constant takes memory when the model runs, however the memory is planned.
  Status CheckActivation(size_t bytes) const {
    if (bytes <= ledger_.most()) return {};
    return OutOfMemory("needs more than the limit of " + std::to_string(ledger_.most()) +
                       " bytes (Limits::max_bytes)");
  }

  const Limits& limits() const { return limits_; }

  // All subgraphs share this budget.
  FoldBudget& folding() { return folding_; }

  // A subgraph read for a layer of another one. Nothing else keeps subgraphs from running each
  // other in a circle.
  Status Enter() {
    constexpr int kMaxDepth = 8;  // far more than models nest
    if (depth_ == kMaxDepth) {
      return Unsupported("subgraphs run each other more than " + std::to_string(kMaxDepth) +
                         " deep");
    }
    ++depth_;
    return {};
  }
  void Leave() { --depth_; }

 private:
  const Limits limits_;
  Ledger ledger_;
  size_t metadata_left_;
  FoldBudget folding_;
  int depth_ = 0;
};

// A file that has passed the FlatBuffers verifier: every table, vector and string the schema
// declares lies inside `bytes`. Nothing is known of the values.
struct TfliteFile {
  const tflite::Model* model = nullptr;
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
  std::vector<CustomOperator> custom_operators = {};  // the user's own
};

inline Budget BudgetOf(const TfliteFile& file, const Limits& limits) {
  constexpr size_t kMetadataPerByte = 16;  // ten times what real files need
  constexpr size_t kMetadataBase = 1 << 16;
  const size_t bytes = file.bytes.size();
  return {limits, bytes, bytes * kMetadataPerByte + kMetadataBase};
}

// The length of a vector, 0 where the field is absent.
template <class T>
size_t Length(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// A name from the file that is safe to print on one line (nn/graph/printable.h).
std::string Printable(const flatbuffers::String* name);
// Reads such a name and charges it: first as the file has it, then the bytes that printing it
// safely adds.
Status ReadName(const flatbuffers::String* name, Budget& budget, std::string& to);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_FILE_H_
