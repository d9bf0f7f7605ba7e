// Inside the .tflite reader: the verified file, and what all of its parts use.
#ifndef INTAGLIO_NN_IMPORT_TFLITE_FILE_H_
#define INTAGLIO_NN_IMPORT_TFLITE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/import/tflite_generated.h"
#include "intaglio/nn/passes/fold_constants.h"

namespace intaglio::nn {

// What reading a file may come to.
class Budget {
 public:
  Budget(size_t bytes, size_t activation_bytes)
      : left_(bytes),
        activation_limit_(activation_bytes),
        activations_left_(activation_bytes),
        folding_(FoldBudget::ForModelOf(bytes)) {}

  // FlatBuffers may share one vector between any number of tables, so that a small file can name a
  // huge amount of metadata. What the reader copies is charged here.

  Status Charge(size_t count, size_t element_bytes) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) || bytes > left_) {
      return InvalidArgument("names more metadata than a file of its size can hold");
    }
    left_ -= bytes;
    return {};
  }

  // Tensors that are not constant take memory when the model runs.
  Status ChargeActivation(size_t bytes) {
    if (bytes > activations_left_) {
      return OutOfMemory("its tensors need more than the limit of " +
                         std::to_string(activation_limit_) + " bytes");
    }
    activations_left_ -= bytes;
    return {};
  }

  // Of all subgraphs together.
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
  size_t left_;
  size_t activation_limit_;
  size_t activations_left_;
  FoldBudget folding_;
  int depth_ = 0;
};

// A file that has passed the FlatBuffers verifier: every table, vector and string the schema
// declares lies inside `bytes`. Nothing is known of the values.
struct TfliteFile {
  const tflite::Model* model = nullptr;
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

// The length of a vector, 0 where the field is absent.
template <class T>
size_t Length(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// A name from the file that is safe to print on one line (nn/printable.h).
std::string Printable(const flatbuffers::String* name);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_IMPORT_TFLITE_FILE_H_
