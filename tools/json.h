// JSON output of the subcommands.
#ifndef INTAGLIO_TOOLS_JSON_H_
#define INTAGLIO_TOOLS_JSON_H_

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace intaglio::tools {

using Json = nlohmann::ordered_json;

// Names from a model need not be UTF-8: what is not is replaced.
inline void PrintJson(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_JSON_H_
