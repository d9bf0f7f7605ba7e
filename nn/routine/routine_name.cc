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

std::optional<int> NumberIn(std::string_view text) {
  const char* const end = text.data() + text.size();
  int value = 0;
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && behind == end ? std::optional(value) : std::nullopt;
}

Setting SettingFrom(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, equals), NumberIn(text.substr(equals + 1))};
}

std::vector<Setting> ListSettings(std::string_view name) {
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

// Where the first of these characters stands outside of brackets, or the end of the text.
size_t FindOutside(std::string_view text, std::string_view characters) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (depth == 0 && characters.find(text[i]) != std::string_view::npos) return i;
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && depth > 0) --depth;
  }
  return text.size();
}

// How deep brackets are nested.
int DepthOf(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  for (const char c : text) {
    if (c == '[') deepest = std::max(deepest, ++depth);
    if (c == ']' && depth > 0) --depth;
  }
  return deepest;
}

// Takes what stands behind the first `mark` outside of brackets off the text.
std::string_view TakeBehind(std::string_view& text, char mark) {
  const size_t at = FindOutside(text, {&mark, 1});
  const std::string_view behind = text.substr(std::min(at + 1, text.size()));
  text = text.substr(0, at);
  return behind;
}

// "1=cpu:qint8/gemm@avx2*1"
std::optional<ChildChoice> ChildChoiceFrom(std::string_view text) {
  const size_t equals = FindOutside(text, "=");
  const std::optional<int> layer = NumberIn(text.substr(0, equals));
  if (equals == text.size() || !layer || *layer < 0) return std::nullopt;
  std::string_view rest = text.substr(equals + 1);
  const bool has_threads = FindOutside(rest, "*") < rest.size();
  const std::optional<int> threads = NumberIn(TakeBehind(rest, '*'));
  if (has_threads && (!threads || *threads < 1)) return std::nullopt;
  const std::string_view kernel = TakeBehind(rest, '@');
  return ChildChoice{static_cast<size_t>(*layer),
                     {std::string(rest), std::string(kernel), threads.value_or(0)}};
}

}  // namespace

std::string_view CandidateIn(std::string_view name) {
  return name.substr(0, name.find_first_of("?["));
}

std::string_view SettingsIn(std::string_view name) { return name.substr(CandidateIn(name).size()); }

std::string_view ParametersIn(std::string_view name) {
  const std::string_view settings = SettingsIn(name);
  return settings.substr(0, settings.find('['));
}

std::string_view LayersIn(std::string_view name) {
  return SettingsIn(name).substr(ParametersIn(name).size());
}

std::optional<int> ParameterIn(std::string_view name, std::string_view parameter) {
  for (const Setting& setting : ListSettings(name)) {
    if (setting.name == parameter) return setting.value;
  }
  return std::nullopt;
}

std::string WhyNotParameters(std::string_view name, const Candidate& candidate) {
  for (const Setting& setting : ListSettings(name)) {
    std::string why_not = WhyNot(setting, candidate);
    if (!why_not.empty()) return why_not;
  }
  if (LayersIn(name).empty()) return "";
  if (candidate.childnet == nullptr) return "it has no layers to choose routines for";
  return ChildChoicesIn(name).status().message();
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

Result<std::vector<ChildChoice>> ChildChoicesIn(std::string_view name) {
  std::vector<ChildChoice> choices;
  std::string_view rest = LayersIn(name);
  const std::string text = Printable(std::string(rest.substr(0, 200)));
  if (rest.empty()) return choices;
  if (rest.size() < 2 || rest.back() != ']') {
    return InvalidArgument("the layers '" + text + "' do not end with ']'");
  }
  if (DepthOf(rest) > kDeepestChildnet) {
    return InvalidArgument("the layers '" + text + "' are nested more than " +
                           std::to_string(kDeepestChildnet) + " deep");
  }
  rest = rest.substr(1, rest.size() - 2);
  for (bool more = true; more;) {
    const size_t end = FindOutside(rest, ",");
    more = end < rest.size();
    std::optional<ChildChoice> choice = ChildChoiceFrom(rest.substr(0, end));
    if (!choice) {
      return InvalidArgument("the layers '" + text +
                             "' are no list like [1=ROUTINE@KERNEL*THREADS,2=ROUTINE]");
    }
    choices.push_back(std::move(*choice));
    rest = rest.substr(std::min(end + 1, rest.size()));
  }
  return choices;
}

std::string WithChildChoices(std::string_view name, const std::vector<ChildChoice>& choices) {
  std::string text(name);
  for (size_t i = 0; i < choices.size(); ++i) {
    const LayerChoice& choice = choices[i].choice;
    text.append(i == 0 ? "[" : ",").append(std::to_string(choices[i].layer)).append("=");
    text.append(choice.routine);
    if (!choice.kernel.empty()) text.append("@").append(choice.kernel);
    if (choice.threads > 0) text.append("*").append(std::to_string(choice.threads));
  }
  return choices.empty() ? text : text.append("]");
}

}  // namespace intaglio::nn
