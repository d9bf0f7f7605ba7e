#include "intaglio/tools/operator_library.h"

#include <unistd.h>

#ifndef INTAGLIO_STATIC_PROGRAM
#include <dlfcn.h>
#endif

#include "intaglio/nn/formats/tflite/operator_library.h"

namespace intaglio::tools {
namespace {

#ifdef INTAGLIO_STATIC_PROGRAM
Result<nn::OperatorLibraryFunction*> FindFunction(const std::string& path) {
  return Unsupported(path + ": this program is linked statically and loads no libraries");
}
#else
// What the loader says, without the path where that stands in front.
std::string WhyNot(const std::string& path) {
  const char* const error = dlerror();
  const std::string why = error == nullptr ? "unknown error" : error;
  return why.rfind(path + ": ", 0) == 0 ? why.substr(path.size() + 2) : why;
}

Result<nn::OperatorLibraryFunction*> FindFunction(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return IoError(path + ": there is no such file");
  // The loader looks for a name without a slash in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return IoError(path + ": cannot be loaded: " + WhyNot(file));
  void* const function = dlsym(library, nn::kOperatorLibraryFunction);
  if (function != nullptr) return reinterpret_cast<nn::OperatorLibraryFunction*>(function);
  return InvalidArgument(path + ": is no library of operators: it has no function " +
                         nn::kOperatorLibraryFunction);
}
#endif

Status Append(const std::string& path, std::vector<nn::CustomOperator>& operators) {
  const Result<nn::OperatorLibraryFunction*> function = FindFunction(path);
  if (!function.ok()) return function.status();
  const nn::OperatorLibrary* const library = (*function)();
  if (library == nullptr) return InvalidArgument(path + ": its list of operators is null");
  if (library->interface != nn::kOperatorInterface) {
    return InvalidArgument(path + ": has version " + std::to_string(library->interface) +
                           " of the interface to operators, and this program has version " +
                           std::to_string(nn::kOperatorInterface) +
                           "; compile it with the headers of this program");
  }
  operators.insert(operators.end(), library->operators.begin(), library->operators.end());
  return {};
}

}  // namespace

Result<std::vector<nn::CustomOperator>> LoadOperators(const std::vector<std::string>& paths) {
  std::vector<nn::CustomOperator> operators;
  for (const std::string& path : paths) {
    const Status status = Append(path, operators);
    if (!status.ok()) return status;
  }
  return operators;
}

}  // namespace intaglio::tools
