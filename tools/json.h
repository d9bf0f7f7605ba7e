// JSON output of the subcommands.
#ifndef INTAGLIO_TOOLS_JSON_H_
#define INTAGLIO_TOOLS_JSON_H_

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace intaglio::tools {

using Json = nlohmann::ordered_json;

// Text in ASCII only. Every other character is escaped, so that a terminal shows it as it is. Bytes
// that are not UTF-8 (a path may be anything) are replaced.
inline std::string ToText(const Json& json, int indent) {
  return json.dump(indent, ' ', true, Json::error_handler_t::replace) + "\n";
}

inline void PrintJson(const Json& json) { std::fputs(ToText(json, 2).c_str(), stdout); }

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_JSON_H_
