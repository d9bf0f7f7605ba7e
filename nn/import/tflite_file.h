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

namespace intaglio::nn {

// FlatBuffers may share one vector between any number of tables, so that a small file can name a
// huge amount of metadata. What the reader copies is charged here.
class Budget {
 public:
  explicit Budget(size_t bytes) : left_(bytes) {}

  Status Charge(size_t count, size_t element_bytes) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) || bytes > left_) {
      return InvalidArgument("names more metadata than a file of its size can hold");
    }
    left_ -= bytes;
    return {};
  }

 private:
  size_t left_;
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

// A name from the file that is safe to print on one line: control characters become '?'.
std::string Printable(const flatbuffers::String* name);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_IMPORT_TFLITE_FILE_H_
