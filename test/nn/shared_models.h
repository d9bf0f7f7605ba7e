// The models that are not part of the repository: those in models/ of the folder ../shared beside
// the source tree, or of $INTAGLIO_SHARED.
#ifndef INTAGLIO_TEST_NN_SHARED_MODELS_H_
#define INTAGLIO_TEST_NN_SHARED_MODELS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace intaglio::nn::test {

// All .tflite files; none where the folder does not exist.
std::vector<std::filesystem::path> SharedModelFiles();

// What a test says without them.
std::string NoSharedModels();

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_SHARED_MODELS_H_
