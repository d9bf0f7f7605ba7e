#include "intaglio/nn/routine/routine_name.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn {
namespace {

// "tiles=24"
struct Setting {
  std::string_view name;
  std::optional<int> value;
};

Setting SettingFrom(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, std::nullopt};
  const char* const begin = text.data() + equals + 1;
  const char* const end = text.data() + text.size();
  int value = 0;
  const auto [behind, error] = std::from_chars(begin, end, value);
  const bool is_number = error == std::errc() && behind == end;
  return {text.substr(0, equals), is_number ? std::optional(value) : std::nullopt};
}

std::vector<Setting> SettingsIn(std::string_view name) {
  std::vector<Setting> settings;
  std::string_view rest = ParametersIn(name);
  while (!rest.empty()) {
    rest.remove_prefix(1);  // "?" or "&"
    const size_t end = std::min(rest.find('&'), rest.size());
    settings.push_back(SettingFrom(rest.substr(0, end)));
    rest.remove_prefix(end);
  }
  return settings;
}

std::string WhyNot(const Setting& setting, const Candidate& candidate) {
  std::string names;
  for (const CandidateParameter& parameter : candidate.parameters) {
    const auto values = parameter.values;
    if (setting.name != parameter.name) {
      names += (names.empty() ? "" : ", ") + std::string(parameter.name);
      continue;
    }
    if (setting.value && std::find(values.begin(), values.end(), *setting.value) != values.end()) {
      return "";
    }
    std::string list;
    for (const int value : values) list += (list.empty() ? "" : ", ") + std::to_string(value);
    return "its parameter '" + std::string(parameter.name) + "' is one of " + list;
  }
  return "it has no parameter '" + Printable(std::string(setting.name)) + "'" +
         (names.empty() ? "" : "; it has " + names);
}

}  // namespace

std::string_view CandidateIn(std::string_view name) { return name.substr(0, name.find('?')); }

std::string_view ParametersIn(std::string_view name) {
  return name.substr(CandidateIn(name).size());
}

std::optional<int> ParameterIn(std::string_view name, std::string_view parameter) {
  for (const Setting& setting : SettingsIn(name)) {
    if (setting.name == parameter) return setting.value;
  }
  return std::nullopt;
}

std::string WhyNotParameters(std::string_view name, const Candidate& candidate) {
  for (const Setting& setting : SettingsIn(name)) {
    std::string why_not = WhyNot(setting, candidate);
    if (!why_not.empty()) return why_not;
  }
  return "";
}

std::vector<std::string> ListParameters(const Candidate& candidate) {
  std::vector<std::string> lists;
  if (!candidate.parameters.empty()) lists.push_back("");
  for (const CandidateParameter& parameter : candidate.parameters) {
    std::vector<std::string> longer;
    for (const std::string& list : lists) {
      for (const int value : parameter.values) {
        std::string text = list + (list.empty() ? "?" : "&") + parameter.name;
        text.append("=").append(std::to_string(value));
        longer.push_back(std::move(text));
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

}  // namespace intaglio::nn
