// The handle of packed weights.
#ifndef INTAGLIO_BINDINGS_C_WEIGHTS_H_
#define INTAGLIO_BINDINGS_C_WEIGHTS_H_

#include <memory>
#include <string>

#include "intaglio/bindings/c/forms.h"
#include "intaglio/bindings/c/intaglio.h"
#include "intaglio/fixedpoint/status.h"
#include "intaglio/pack/packed_matrix.h"

struct it_weights {
  intaglio::PackedMatrix matrix;
  std::string kernel;
};

namespace intaglio::c {

Result<Side> SideFrom(it_side side);

using NewWeights = Result<std::unique_ptr<it_weights>>;
NewWeights WeightsOf(Result<PackedMatrix> packed);

// What it_weights_pack, it_weights_load_file and it_weights_save_file do. kernel may be null.
NewWeights Pack(const it_matrix& matrix, const void* data, it_side side, const char* kernel);
NewWeights LoadFile(const std::string& path);
Status SaveFile(const it_weights& weights, const std::string& path);

}  // namespace intaglio::c

#endif  // INTAGLIO_BINDINGS_C_WEIGHTS_H_
