// A model's file that is made, read back and, if all is well, written.
#ifndef INTAGLIO_TOOLS_NEW_MODEL_H_
#define INTAGLIO_TOOLS_NEW_MODEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/model_file.h"
#include "intaglio/nn/formats/save.h"

namespace intaglio::tools {

class NewModel {
 public:
  // Messages start with the path.
  static Result<NewModel> Make(const nn::Graph& graph, const std::string& path, nn::Format format,
                               const nn::SaveOptions& options);

  Result<nn::Graph> ReadBack(nn::LoadOptions options) const;
  Status Write() const;

  const std::string& path() const { return path_; }
  size_t bytes() const { return file_->bytes.size() + file_->constants.size(); }

 private:
  NewModel(std::string path, nn::Format format, nn::ModelFile file)
      : path_(std::move(path)),
        format_(format),
        file_(std::make_shared<const nn::ModelFile>(std::move(file))) {}

  std::string path_;
  nn::Format format_;
  std::shared_ptr<const nn::ModelFile> file_;
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_NEW_MODEL_H_
