// Inside the .onnx reader: constants that lie in files beside the model.
#ifndef INTAGLIO_NN_FORMATS_ONNX_EXTERNAL_DATA_H_
#define INTAGLIO_NN_FORMATS_ONNX_EXTERNAL_DATA_H_

#include <map>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/formats/onnx/onnx.pb.h"

namespace intaglio::nn::onnx {

// The files of one folder. Each is opened once.
class ExternalData {
 public:
  // An empty folder has no files.
  ExternalData(std::string folder, bool copy) : folder_(std::move(folder)), copy_(copy) {}

  // A file that is not looked for in the folder.
  void Give(const std::string& name, MappedFile file) { open_.emplace(name, std::move(file)); }

  // Returns the bytes that a tensor names. The file must be a regular file beneath the folder, and
  // no component of its path may be a symbolic link: a model must not read what its user did not
  // give it.
  Result<MappedFile> Find(const TensorProto& tensor, size_t bytes);

 private:
  Result<const MappedFile*> Open(const std::string& location);

  const std::string folder_;
  const bool copy_;
  std::map<std::string, MappedFile> open_;
};

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_EXTERNAL_DATA_H_
