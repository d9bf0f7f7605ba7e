#include "intaglio/nn/quantize/goal.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <utility>

#include "intaglio/nn/quantize/agreement.h"
#include "intaglio/nn/quantize/demands.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::quantize {
namespace {

// Makes a layer's rule wider. Returns false if it is as wide already.
struct Stage {
  const char* change;
  bool (*widen)(const Graph& graph, size_t layer, LayerRule& rule);
  bool pairs;  // Form::kPairs has it
};

bool To8Bits(const Graph&, size_t, LayerRule& rule) {
  const bool few =
      rule.weight_bits < 8 || (rule.activation_bits < 8 && rule.activations != Type::kInt16);
  rule.weight_bits = 8;
  rule.activation_bits = 8;
  return few;
}

bool To16Bits(const Graph& graph, size_t layer, LayerRule& rule) {
  const Demand* const demand = DemandOf(graph.layers[layer].op);
  const bool has_form = demand != nullptr && (demand->types & SetOf(Type::kInt16)) != 0;
  if (!has_form || rule.activations == Type::kInt16) return false;
  rule.activations = Type::kInt16;
  return true;
}

bool ToFloat(const Graph&, size_t, LayerRule& rule) {
  rule.keep_float = true;
  return true;
}

constexpr Stage kStages[] = {{"has weights and activations of 8 bits", To8Bits, true},
                             {"has activations of int16", To16Bits, false},
                             {"stays float32", ToFloat, true}};

int32_t PlaceOfLargest(std::span<const float> row) {
  return static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

// Measures networks on the samples.
class Judge {
 public:
  static Result<Judge> Make(const Graph& graph, const Goal& goal, const OpenSamples& open,
                            const GoalOptions& options) {
    if (goal.most_drop.has_value() == goal.least_sqnr.has_value()) {
      return InvalidArgument("a goal is a greatest drop or a least SQNR, one of both");
    }
    if (!(goal.most_drop.value_or(0) >= 0)) {
      return InvalidArgument("a greatest drop of " + std::to_string(*goal.most_drop) + " points");
    }
    Judge judge(goal, open, options);
    Result<Model> exact =
        Model::Prepare(graph, {.threads = options.threads, .limits = options.limits});
    if (!exact.ok()) return exact.status();
    judge.exact_ = std::make_unique<Model>(std::move(*exact));
    if (judge.exact_->output_count() == 0)
      return Unsupported("a goal for a network without outputs");
    const Tensor& output = judge.exact_->output(0);
    if (output.type != Type::kFloat32 || output.shape.empty() || output.shape.back() < 1) {
      return Unsupported("a goal for a network whose first output is no list of float32");
    }
    if (goal.least_sqnr.has_value()) return judge;
    Result<std::vector<int32_t>> answers = judge.AnswersOf(*judge.exact_);
    if (!answers.ok()) return answers.status();
    judge.right_ = goal.labels.empty() ? *answers : goal.labels;
    if (judge.right_.size() < answers->size()) {
      return InvalidArgument("there are " + std::to_string(judge.right_.size()) + " labels for " +
                             std::to_string(answers->size()) + " answers");
    }
    INTAGLIO_RETURN_IF_ERROR(judge.CheckLabels(answers->size(), output.shape.back()));
    judge.exact_score_ = judge.AccuracyOf(*answers);
    return judge;
  }

  double exact_score() const { return exact_score_; }
  bool IsGood(double score) const {
    if (goal_->least_sqnr.has_value()) return score >= *goal_->least_sqnr;
    return exact_score_ - score <= *goal_->most_drop + 1e-9;
  }

  // In percent or in decibels.
  Result<double> ScoreOf(const Graph& integers) {
    Result<Model> model =
        Model::Prepare(integers, {.threads = options_->threads, .limits = options_->limits});
    if (!model.ok()) return model.status();
    if (goal_->most_drop.has_value()) {
      const Result<std::vector<int32_t>> answers = AnswersOf(*model);
      return answers.ok() ? Result<double>(AccuracyOf(*answers)) : answers.status();
    }
    const Result<NextSample> samples = (*open_)();
    if (!samples.ok()) return samples.status();
    const Result<Agreement> agreement = Compare(*exact_, *model, *samples, goal_->most_samples);
    if (!agreement.ok()) return agreement.status();
    return agreement->outputs[0].similarity.Sqnr();
  }

 private:
  Judge(const Goal& goal, const OpenSamples& open, const GoalOptions& options)
      : goal_(&goal), open_(&open), options_(&options) {}

  // A label that no answer can be would make every network as bad as the one of float32.
  Status CheckLabels(size_t count, int classes) const {
    for (size_t i = 0; i < count; ++i) {
      if (right_[i] >= 0 && right_[i] < classes) continue;
      return InvalidArgument("label " + std::to_string(i) + " is " + std::to_string(right_[i]) +
                             "; an answer is 0 to " + std::to_string(classes - 1));
    }
    return {};
  }

  Result<std::vector<int32_t>> AnswersOf(Model& model) const {
    const Result<NextSample> samples = (*open_)();
    if (!samples.ok()) return samples.status();
    Result<InputBytes> inputs = BuffersFor(exact_->graph(), exact_->graph().inputs);
    if (!inputs.ok()) return inputs.status();
    const auto length = static_cast<size_t>(exact_->output(0).shape.back());
    std::vector<int32_t> answers;
    InputBytes outputs;
    for (size_t i = 0; i < goal_->most_samples; ++i) {
      const Result<bool> more = (*samples)(*inputs);
      if (!more.ok()) return more.status();
      if (!*more) break;
      INTAGLIO_RETURN_IF_ERROR(
          RunOn(model, InputsFor(exact_->graph(), *inputs, model.graph()), outputs));
      const Tensor& output = model.output(0);
      const std::vector<float> reals =
          RealsIn(output, outputs[0].data(), outputs[0].size() / SizeOf(output.type));
      for (size_t k = 0; k < reals.size(); k += length) {
        answers.push_back(PlaceOfLargest(std::span(reals).subspan(k, length)));
      }
    }
    if (answers.empty()) return InvalidArgument("there is no sample to measure with");
    return answers;
  }

  double AccuracyOf(const std::vector<int32_t>& answers) const {
    size_t right = 0;
    for (size_t i = 0; i < answers.size(); ++i) right += answers[i] == right_[i] ? 1 : 0;
    return 100 * static_cast<double>(right) / static_cast<double>(answers.size());
  }

  const Goal* goal_;
  const OpenSamples* open_;
  const GoalOptions* options_;
  std::unique_ptr<Model> exact_;
  std::vector<int32_t> right_;
  double exact_score_ = 0;
};

// One stage with some of the worst layers.
struct Trial {
  Rules rules;
  Quantized quantized;
  double score = 0;
  std::vector<Change> changes;
};

class Searcher {
 public:
  Searcher(const Graph& graph, const Report& report, const MakeQuantized& make, Judge& judge,
           Search& search)
      : graph_(graph), report_(report), make_(make), judge_(judge), search_(search) {}

  // Bisects the number of layers of a stage. Returns the good trial with the fewest, or the one
  // with all layers, which is not good.
  Result<Trial> Run(const Stage& stage, const Rules& rules) {
    size_t bad = 0;
    Result<Trial> best = Try(stage, rules, report_.layers.size());
    size_t good = report_.layers.size();
    if (!best.ok() || !judge_.IsGood(best->score)) return best;
    while (good - bad > 1) {
      const size_t count = bad + (good - bad) / 2;
      Result<Trial> trial = Try(stage, rules, count);
      if (!trial.ok()) return trial;
      if (judge_.IsGood(trial->score)) {
        good = count;
        best = std::move(trial);
      } else {
        bad = count;
      }
    }
    return best;
  }

 private:
  Result<Trial> Try(const Stage& stage, const Rules& rules, size_t count) {
    Trial trial;
    trial.rules = rules;
    for (size_t i = 0; i < count; ++i) {
      const LayerReport& layer = report_.layers[i];
      if (!stage.widen(graph_, layer.layer, trial.rules.layers[layer.layer])) continue;
      trial.changes.push_back({layer.layer, layer.label, stage.change, layer.alone.Sqnr()});
    }
    Result<Quantized> quantized = make_(trial.rules);
    if (!quantized.ok()) return quantized.status();
    trial.quantized = std::move(*quantized);
    const Result<double> score = judge_.ScoreOf(trial.quantized.graph);
    if (!score.ok()) return score.status();
    trial.score = *score;
    ++search_.trials;
    return trial;
  }

  const Graph& graph_;
  const Report& report_;
  const MakeQuantized& make_;
  Judge& judge_;
  Search& search_;
};

// A later change of a layer stands for an earlier one.
void Join(std::vector<Change>& all, const std::vector<Change>& later) {
  for (const Change& change : later) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Change& c) { return c.layer == change.layer; });
    if (same == all.end()) {
      all.push_back(change);
    } else {
      *same = change;
    }
  }
}

}  // namespace

Result<Search> ReachGoal(const Graph& graph, const Goal& goal, const Report& report,
                         const OpenSamples& open, const MakeQuantized& make, Rules& rules,
                         Quantized& quantized, const GoalOptions& options) {
  if (rules.form == Form::kDynamic) return Unsupported("a goal for a hybrid network");
  Result<Judge> judge = Judge::Make(graph, goal, open, options);
  if (!judge.ok()) return judge.status();
  Search search;
  search.exact = judge->exact_score();
  const Result<double> first = judge->ScoreOf(quantized.graph);
  if (!first.ok()) return first.status();
  search.first = search.last = *first;
  Searcher searcher(graph, report, make, *judge, search);
  for (const Stage& stage : kStages) {
    if (judge->IsGood(search.last)) return search;
    if (rules.form == Form::kPairs && !stage.pairs) continue;
    Result<Trial> trial = searcher.Run(stage, rules);
    if (!trial.ok()) return trial.status();
    Join(search.changes, trial->changes);
    search.last = trial->score;
    rules = std::move(trial->rules);
    quantized = std::move(trial->quantized);
  }
  const bool any = std::any_of(quantized.layers.begin(), quantized.layers.end(),
                               [](const Outcome& layer) { return layer.quantized; });
  if (any && judge->IsGood(search.last)) return search;
  char text[160];
  std::snprintf(text, sizeof(text),
                "the goal is not reached with any layer quantized: %.2f %s with the rules as given",
                search.first, goal.most_drop.has_value() ? "% accuracy" : "dB");
  return InvalidArgument(text);
}

}  // namespace intaglio::nn::quantize
