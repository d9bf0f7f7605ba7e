// Inside the .tflite reader: lists of which one item is replaced.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_TENSOR_LIST_SET_ITEM_H_
#define INTAGLIO_NN_FORMATS_TFLITE_TENSOR_LIST_SET_ITEM_H_

#include <map>
#include <vector>

#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Converters write TensorListSetItem, with which loops gather what they make, as the items before
// index i, the new one and the items behind it, put together again:
//
//   CONCATENATION(SLICE(list, [0, 0, ..], [i, -1, ..]), item,
//                 SLICE(list, [i + 1, 0, ..], [-1, -1, ..]))
//
// with the bounds that hold i made by CONCATENATION of RESHAPE. Both slices have shapes that only a
// run knows; the whole has the list's. So it is recognized, and read as DYNAMIC_UPDATE_SLICE.
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
