#include "intaglio/nn/tune/tune.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/tune/model_stage.h"
#include "intaglio/nn/tune/pairs.h"
#include "intaglio/nn/tune/profile.h"
#include "intaglio/nn/tune/times.h"
#include "intaglio/nn/tune/ways.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

constexpr size_t kFewestPairs = 31;
constexpr size_t kMostPairs = 201;

class Tuner {
 public:
  Tuner(const Graph& graph, const TuneOptions& options)
      : graph_(graph), options_(options), threads_(std::max(1, options.prepare.threads)) {
    prepare_ = options.prepare;
    if (!prepare_.parallel_for) {
      // One pool for all models: the idle threads of another one would be in the way.
      prepare_.parallel_for = [this](int count, const std::function<void(int)>& task) {
        threads_.Run(count, task);
      };
    }
  }

  Result<Tuning> Run() {
    INTAGLIO_RETURN_IF_ERROR(PrepareUntuned());
    std::vector<Ways> ways = RoutinesAndKernels(*untuned_, options_.prepare);
    INTAGLIO_RETURN_IF_ERROR(Measure("routines and kernels", ways, options_.budget * 6 / 10));
    if (options_.prepare.threads > 1) {
      ways = FewerThreads(chosen_, options_.prepare.threads);
      INTAGLIO_RETURN_IF_ERROR(Measure("threads", ways, options_.budget * 2 / 10));
    }
    return Finish();
  }

 private:
  Status PrepareUntuned() {
    Result<Model> model = Model::Prepare(graph_, prepare_);
    if (!model.ok()) return model.status();
    untuned_ = std::make_unique<Model>(std::move(*model));
    buffers_ = std::make_unique<RunBuffers>(*untuned_);
    const size_t layers = untuned_->layers().size();
    chosen_.resize(layers);
    reports_.resize(layers);
    estimates_.resize(layers);
    for (size_t i = 0; i < layers; ++i) {
      const LayerInfo& info = untuned_->layers()[i];
      reports_[i].label = info.label;
      reports_[i].operator_name = info.operator_name;
      reports_[i].ways.push_back({info.routine, info.kernel, 0, 0});
    }
    return {};
  }

  Result<std::unique_ptr<Model>> PrepareVariant(const std::vector<Ways>& ways,
                                                size_t variant) const {
    PrepareOptions options = prepare_;
    for (RoutineChoice& choice : ChoicesOf(ways, variant))
      options.routines.push_back(std::move(choice));
    Result<Model> model = Model::Prepare(graph_, options);
    if (!model.ok()) return model.status();
    return std::make_unique<Model>(std::move(*model));
  }

  // A routine may still refuse a layer when it is prepared. Such ways become what way 0 is.
  void RemoveUnprepared(std::vector<Ways>& ways, size_t variant) const {
    for (size_t i = 0; i < ways.size(); ++i) {
      if (variant >= ways[i].size()) continue;
      LayerOptions options;
      options.kernel = ways[i][variant].kernel.empty() ? BestKernel() : ways[i][variant].kernel;
      options.routine = ways[i][variant].routine;
      if (!Prepare(LayerView(graph_, i), options).ok()) ways[i][variant] = ways[i][0];
    }
  }

  // Times all variants and takes the fastest way of each layer.
  Status Measure(const std::string& what, std::vector<Ways>& ways, nanoseconds budget) {
    const size_t variants = CountVariants(ways);
    if (variants == 1) return {};
    Result<std::unique_ptr<Model>> first = PrepareVariant(ways, 0);
    if (!first.ok()) return first.status();
    Result<Model> control = (*first)->Share();
    if (!control.ok()) return control.status();
    const size_t bytes = std::max<size_t>(1, (*first)->constant_bytes());
    const size_t at_once = std::max<size_t>(1, options_.group_bytes / bytes);
    const size_t groups = (variants - 1 + at_once - 1) / at_once;
    for (size_t begin = 1; begin < variants; begin += at_once) {
      const size_t end = std::min(variants, begin + at_once);
      INTAGLIO_RETURN_IF_ERROR(MeasureGroup(what, ways, {begin, end}, **first, *control,
                                            budget / static_cast<int>(groups)));
    }
    return {};
  }

  struct Span {
    size_t begin;
    size_t end;
  };

  Status MeasureGroup(const std::string& what, std::vector<Ways>& all, Span group, Model& first,
                      Model& control, nanoseconds budget) {
    std::vector<std::unique_ptr<Model>> models;
    std::vector<Model*> variants = {&first};
    for (size_t v = group.begin; v < group.end; ++v) {
      Result<std::unique_ptr<Model>> model = PrepareVariant(all, v);
      if (!model.ok()) {
        RemoveUnprepared(all, v);
        model = PrepareVariant(all, v);
        if (!model.ok()) return model.status();
      }
      variants.push_back(model->get());
      models.push_back(std::move(*model));
      Show("preparing " + what,
           static_cast<double>(v - group.begin + 1) / static_cast<double>(group.end - group.begin));
    }
    ModelStage stage(std::move(variants), control, *buffers_);
    std::vector<size_t> counts;
    for (const Ways& ways : all) {
      counts.push_back(1 + std::min(ways.size(), group.end) - std::min(ways.size(), group.begin));
    }
    ProfileOptions options = {.budget = budget,
                              .progress = [&](double share) { Show(what, share); }};
    const Result<std::vector<LayerProfile>> profiles = Profile(stage, counts, options);
    if (!profiles.ok()) return profiles.status();
    for (size_t i = 0; i < all.size(); ++i) Take(i, all[i], group.begin, (*profiles)[i], models);
    return {};
  }

  // Way w of the profile is way group_begin + w - 1 of the layer; way 0 is way 0.
  void Take(size_t layer, const Ways& ways, size_t group_begin, const LayerProfile& profile,
            const std::vector<std::unique_ptr<Model>>& models) {
    LayerReport& report = reports_[layer];
    report.noise = std::max(report.noise, profile.noise);
    const size_t fastest = FastestWay(profile);
    if (report.ways[0].ns == 0) report.ways[0].ns = profile.ways[0].ns;
    double& estimate = estimates_[layer];
    if (estimate == 0) estimate = profile.ways[0].ns;
    for (size_t w = 1; w < profile.ways.size(); ++w) {
      const LayerInfo& info = models[w - 1]->layers()[layer];
      const LayerChoice& way = ways[group_begin + w - 1];
      report.ways.push_back({info.routine, info.kernel, way.threads, profile.ways[w].ns});
      if (w != fastest || profile.ways[w].ns >= estimate) continue;
      chosen_[layer] = way;
      report.chosen = report.ways.size() - 1;
      estimate = profile.ways[w].ns;
    }
  }

  Result<Tuning> Finish() {
    Tuning tuning;
    Plan& plan = tuning.plan;
    plan.model = options_.name;
    plan.digest = DigestOf(graph_);
    plan.machine = ThisMachine();
    plan.threads = options_.prepare.threads;
    for (size_t i = 0; i < reports_.size(); ++i) {
      const LayerReport& report = reports_[i];
      if (report.chosen == 0) continue;
      plan.layers.push_back({i, report.label, report.operator_name, report.ways[report.chosen],
                             report.ways[0], report.noise});
    }
    INTAGLIO_RETURN_IF_ERROR(CompareWhole(plan));
    for (const LayerReport& report : reports_) {
      plan.predicted_ns += report.ways[report.chosen].ns;
    }
    tuning.layers = std::move(reports_);
    return tuning;
  }

  // Keeps the plan only if the tuned network is faster beyond doubt.
  Status CompareWhole(Plan& plan) {
    std::vector<Ways> ways;
    for (const LayerChoice& choice : chosen_) ways.push_back({choice});
    Result<std::unique_ptr<Model>> tuned = PrepareVariant(ways, 0);
    if (!tuned.ok()) return tuned.status();
    std::vector<double> ratios;
    Times untuned_times;
    Times tuned_times;
    const nanoseconds end = Now() + options_.budget * 2 / 10;
    while (ratios.size() < kFewestPairs || (ratios.size() < kMostPairs && Now() < end)) {
      double ns[2] = {};
      const bool tuned_first = ratios.size() % 2 == 0;
      for (const bool second : {false, true}) {
        const bool is_tuned = tuned_first != second;
        INTAGLIO_RETURN_IF_ERROR(TimeRun(is_tuned ? **tuned : *untuned_, ns[is_tuned ? 1 : 0]));
      }
      ratios.push_back(ns[1] / ns[0]);
      untuned_times.Add(ns[0]);
      tuned_times.Add(ns[1]);
      Show("comparing with the untuned network", static_cast<double>(ratios.size()) / kMostPairs);
    }
    plan.untuned_ns = untuned_times.estimate();
    plan.tuned_ns = tuned_times.estimate();
    if (MedianOf(ratios).high < 1) return {};
    plan.layers.clear();
    plan.tuned_ns = plan.untuned_ns;
    for (LayerReport& report : reports_) report.chosen = 0;
    return {};
  }

  Status TimeRun(Model& model, double& ns) {
    const nanoseconds begin = Now();
    INTAGLIO_RETURN_IF_ERROR(buffers_->Run(model));
    ns = std::max(1.0, static_cast<double>((Now() - begin).count()));
    return {};
  }

  static nanoseconds Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

  void Show(const std::string& what, double share) const {
    if (options_.progress) options_.progress(what, share);
  }

  const Graph& graph_;
  const TuneOptions& options_;
  Context threads_;
  PrepareOptions prepare_;
  std::unique_ptr<Model> untuned_;
  std::unique_ptr<RunBuffers> buffers_;
  std::vector<LayerChoice> chosen_;  // of each layer
  std::vector<double> estimates_;    // ns of the chosen way
  std::vector<LayerReport> reports_;
};

}  // namespace

Result<Tuning> Tune(const Graph& graph, const TuneOptions& options) try {
  return Tuner(graph, options).Run();
} catch (const std::bad_alloc&) {
  return OutOfMemory("memory ran out while the network was tuned");
}

}  // namespace intaglio::nn::tune
