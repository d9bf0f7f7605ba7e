// Writes a model's file, and the one that may lie beside it.
#ifndef INTAGLIO_NN_FORMATS_WRITE_MODEL_FILE_H_
#define INTAGLIO_NN_FORMATS_WRITE_MODEL_FILE_H_

#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/model_file.h"

namespace intaglio::nn {

// The name of the file of constants beside the model's file of this path: its own, and ".data".
std::string ConstantsNameOf(const std::string& path);

// Each file appears whole or not at all (ReplaceFile). That of the constants comes first, so that a
// model never names a file that is not there yet, but not before all bytes of both are on the disk:
// a full disk leaves both as they were. Messages start with the path.
Status WriteModelFile(const std::string& path, const ModelFile& file);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_WRITE_MODEL_FILE_H_
