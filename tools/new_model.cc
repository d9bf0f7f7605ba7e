#include "intaglio/tools/new_model.h"

#include "intaglio/nn/formats/write_model_file.h"

namespace intaglio::tools {

Result<NewModel> NewModel::Make(const nn::Graph& graph, const std::string& path, nn::Format format,
                                const nn::SaveOptions& options) {
  Result<nn::ModelFile> file = nn::ExportFile(graph, path, format, options);
  if (!file.ok()) return Status(file.status().code(), path + ": " + file.status().message());
  return NewModel(path, format, std::move(*file));
}

Result<nn::Graph> NewModel::ReadBack(nn::LoadOptions options) const {
  if (!file_->constants_name.empty()) {
    options.external_files = {{file_->constants_name, file_->constants, file_}};
  }
  return nn::ImportGraph(file_->bytes, file_, path_, format_, options);
}

Status NewModel::Write() const { return nn::WriteModelFile(path_, *file_); }

}  // namespace intaglio::tools
