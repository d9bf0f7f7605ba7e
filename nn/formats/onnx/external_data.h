// Inside the .onnx reader: constants that lie in files beside the model, or stay in its own.
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

  // The elements of a constant that Parse did not copy out of the model's own file.
  void Keep(const TensorProto& tensor, MappedFile elements) {
    kept_.emplace(&tensor, std::move(elements));
  }
  // Null where the message has all elements of the tensor itself.
  const MappedFile* KeptOf(const TensorProto& tensor) const {
    const auto found = kept_.find(&tensor);
    return found == kept_.end() ? nullptr : &found->second;
  }

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
  std::map<const TensorProto*, MappedFile> kept_;
};

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_EXTERNAL_DATA_H_
