// Inside the .tflite reader: operators that replace one item of a list.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_TENSOR_LIST_SET_ITEM_H_
#define INTAGLIO_NN_FORMATS_TFLITE_TENSOR_LIST_SET_ITEM_H_

#include <map>
#include <vector>

#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Loops gather their results by TensorListSetItem. Converters write it as a concatenation of the
// items before index i, the new item, and the items behind it:
//
//   CONCATENATION(SLICE(list, [0, 0, ..], [i, -1, ..]), item,
//                 SLICE(list, [i + 1, 0, ..], [-1, -1, ..]))
//
// A CONCATENATION of RESHAPE makes the bounds that hold i. Only a run knows the shapes of both
// slices, which this library does not support. But the result has the shape of the list, so the
// reader recognizes these operators and reads them as one DYNAMIC_UPDATE_SLICE.
class ItemUpdates {
 public:
  struct Update {
    TensorId list = kNoTensor;
    TensorId item = kNoTensor;
    TensorId index = kNoTensor;
  };

  // After ReadTensors.
  ItemUpdates(const TfliteFile& file, const tflite::SubGraph& subgraph, const Graph& graph);

  // What the CONCATENATION at this place among the operators makes; null where it is no update.
  const Update* Find(size_t place) const;

  // Whether an operator only helps to make updates, which need it no longer.
  bool Skips(size_t place) const { return skipped_[place]; }

 private:
  std::map<size_t, Update> updates_;
  std::vector<bool> skipped_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_TENSOR_LIST_SET_ITEM_H_
