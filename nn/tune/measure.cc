#include "intaglio/nn/tune/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/device_ways.h"
#include "intaglio/nn/tune/profile.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

size_t CountAlternatives(const std::vector<Ways>& alternatives) {
  size_t most = 0;
  for (const Ways& ways : alternatives) most = std::max(most, ways.size());
  return most;
}

// By so many runs, steps are given their time. What disturbs them will disturb later ones, too.
constexpr int kRunsToPlan = 2;
// Preparing the variants of a group takes at most this share of its time. Those that come too late
// are left out.
constexpr int kPercentForPreparing = 60;
// A variant beyond the first of its group is prepared only if there is time left for so many runs
// of the network with each. One run alone says little: the first one fills caches.
constexpr int kRunsForEach = 6;

}  // namespace

Status Measurer::Begin() {
  const nanoseconds begin = schedule_.Now();
  Result<Model> model = Model::Prepare(graph_, prepare_, kept_);
  if (!model.ok()) return model.status();
  effort_.prepare = schedule_.Now() - begin;
  untuned_ = std::make_unique<Model>(std::move(*model));
  Result<Model> control = untuned_->Share();
  if (!control.ok()) return control.status();
  kept_.push_back(untuned_.get());
  control_ = std::make_unique<Model>(std::move(*control));
  // Childnets of which only known times are taken need not run.
  if (depth_ == 0 || !leaves_unknown_) INTAGLIO_RETURN_IF_ERROR(RunToPlan());
  for (const LayerInfo& info : untuned_->layers()) {
    LayerReport& report = reports_.emplace_back();
    report.label = info.label;
    report.operator_name = info.operator_name;
    report.ways.push_back({info.routine, info.kernel, 0, 0, info.constant_bytes});
  }
  for (size_t i = 0; i < reports_.size(); ++i) {
    if (const Timing* const timing = known_.Find(*untuned_, i, {}))
      reports_[i].ways[0].ns = timing->ns;
  }
  ReadNoise();
  if (!KnowsUntuned()) return {};
  for (const LayerReport& report : reports_) untuned_ns_ += report.ways[0].ns;
  return {};
}

// How long a run takes. The first one starts threads and fills caches.
Status Measurer::RunToPlan() {
  using Bytes = std::vector<std::vector<uint8_t>>;
  buffers_ = std::make_unique<RunBuffers>(*untuned_, depth_ == 0 ? options_.inputs : Bytes());
  INTAGLIO_RETURN_IF_ERROR(buffers_->Run(*untuned_));
  for (int i = 0; i < kRunsToPlan; ++i) {
    const nanoseconds start = schedule_.Now();
    INTAGLIO_RETURN_IF_ERROR(buffers_->Run(*untuned_));
    effort_.run += (schedule_.Now() - start) / kRunsToPlan;
  }
  return {};
}

void Measurer::KeepNoise() {
  if (!measured_ || !known_.any()) return;
  for (size_t i = 0; i < reports_.size(); ++i) {
    const TimedWay& way = reports_[i].ways[0];
    const double control = std::round(way.ns * (1 + reports_[i].noise));
    known_.Add(*untuned_, i, {.routine = kControl}, {control, way.bytes, 1});
  }
  ReadNoise();
}

void Measurer::ReadNoise() {
  for (size_t i = 0; i < reports_.size(); ++i) {
    const Timing* const control = known_.Find(*untuned_, i, {.routine = kControl});
    const double ns = reports_[i].ways[0].ns;
    if (control != nullptr && ns > 0) reports_[i].noise = std::max(0.0, control->ns / ns - 1);
  }
}

void Measurer::Settle(const Form& form) {
  for (size_t i = 0; i < form.graph.layers.size(); ++i) {
    const size_t origin = OriginOf(form, i);
    if (origin == LayerOrigin::kAdapter) continue;
    for (TimedWay& way : reports_[origin].ways) {
      if (way.converted != (form.origins != nullptr)) continue;
      const Timing* const timing = known_.Find(form.by_default, i, ChoiceOf(way));
      if (timing != nullptr) way.ns = timing->ns;
    }
  }
}

bool Measurer::KnowsUntuned() const {
  return std::all_of(reports_.begin(), reports_.end(),
                     [](const LayerReport& report) { return report.ways[0].ns > 0; });
}

void Measurer::TakeKnown(const Form& form, Variants& variants) {
  for (size_t i = 0; i < variants.alternatives.size(); ++i) {
    const size_t origin = OriginOf(form, i);
    if (origin == LayerOrigin::kAdapter) continue;
    const LayerInfo& info = form.by_default.layers()[i];
    Ways unknown;
    for (const LayerChoice& way : variants.alternatives[i]) {
      const Timing* const timing = known_.Find(form.by_default, i, way);
      const bool converted = form.origins != nullptr && reports_[origin].convertible;
      if (timing == nullptr) {
        unknown.push_back(way);
      } else if (form.origins == nullptr || converted) {
        reports_[origin].ways.push_back({way.routine.empty() ? info.routine : way.routine,
                                         way.kernel.empty() ? info.kernel : way.kernel, way.threads,
                                         timing->ns, timing->bytes, converted,
                                         ChildrenOf(form, i, way.routine)});
      }
    }
    variants.alternatives[i] = std::move(unknown);
  }
}

// All layers that can run there at once, so that neighbours do. Uploads of weights are no part of a
// run, and copies between the memories no part of a layer's time.
Status Measurer::MeasureDevice(const Form& form, bool allow_bounded, nanoseconds end) {
  if (prepare_.device == nullptr || depth_ > 0) return {};  // a childnet is a routine of the CPU
  Variants variants;
  variants.alternatives = WaysOnDevice(form.graph, prepare_, allow_bounded);
  variants.fallback.resize(form.graph.layers.size());
  INTAGLIO_RETURN_IF_ERROR(Measure("layers on " + prepare_.device->name(), form, variants, end));
  for (LayerReport& report : reports_) {
    for (TimedWay& way : report.ways) {
      if (RunsOnDevice(way.routine)) way.kernel.clear();  // the device chooses its kernels
    }
  }
  return {};
}

Status Measurer::MeasureOwnForm(nanoseconds end) {
  const Form form{graph_, *untuned_};
  INTAGLIO_RETURN_IF_ERROR(MeasureDevice(form, options_.allow_float32, Part(end, 40)));
  Variants variants;
  variants.alternatives = RoutinesAndKernels(*untuned_, prepare_, options_.allow_float32);
  for (Ways& ways : variants.alternatives) ways.erase(ways.begin());  // the untuned one
  variants.fallback.resize(graph_.layers.size());
  if (depth_ == 0) INTAGLIO_RETURN_IF_ERROR(AddChildnets(form, variants, end));
  const bool threads = prepare_.threads > 1;
  INTAGLIO_RETURN_IF_ERROR(
      Measure("routines and kernels", form, variants, threads ? Part(end, 80) : end));
  return threads ? MeasureThreads(form, end) : Status();
}

nanoseconds Measurer::Part(nanoseconds end, int percent) const {
  const nanoseconds now = schedule_.Now();
  return now + std::max(nanoseconds(0), end - now) * percent / 100;
}

Status Measurer::MeasureOtherForm(const FloatRewrite& network, const std::string& name,
                                  nanoseconds end) {
  const Result<Model> model = Model::Prepare(network.graph, prepare_, kept_);
  if (!model.ok()) return model.status();
  kept_.push_back(&*model);
  const Status status = MeasureConverted({network.graph, *model, &network.origins}, name, end);
  kept_.pop_back();
  return status;
}

Status Measurer::MeasureConverted(const Form& form, const std::string& name, nanoseconds end) {
  Variants variants;
  variants.alternatives = RoutinesAndKernels(form.by_default, prepare_, true);
  variants.fallback.resize(form.graph.layers.size());
  const bool threads = prepare_.threads > 1;
  // The default of each layer first: where that is far behind, no other way is tried.
  Variants defaults;
  defaults.fallback = variants.fallback;
  for (Ways& ways : variants.alternatives) {
    defaults.alternatives.push_back({ways[0]});
    ways.erase(ways.begin());
  }
  INTAGLIO_RETURN_IF_ERROR(Measure(name, form, defaults, Part(end, 35)));
  INTAGLIO_RETURN_IF_ERROR(MeasureDevice(form, true, Part(end, 30)));
  for (size_t i = 0; i < form.graph.layers.size(); ++i) {
    const size_t origin = OriginOf(form, i);
    if (origin == LayerOrigin::kAdapter || !reports_[origin].convertible ||
        IsFarBehind(reports_[origin])) {
      variants.alternatives[i].clear();
    }
  }
  INTAGLIO_RETURN_IF_ERROR(AddChildnets(form, variants, end));
  INTAGLIO_RETURN_IF_ERROR(
      Measure("ways of " + name, form, variants, threads ? Part(end, 70) : end));
  return threads ? MeasureThreads(form, end) : Status();
}

// The fastest ways so far, on fewer threads.
Status Measurer::MeasureThreads(const Form& form, nanoseconds end) {
  Variants variants;
  for (size_t i = 0; i < form.graph.layers.size(); ++i) {
    const size_t origin = OriginOf(form, i);
    LayerChoice& choice = variants.fallback.emplace_back();
    if (origin == LayerOrigin::kAdapter) continue;
    const LayerReport& report = reports_[origin];
    const size_t way = FastestOf(report, form.origins != nullptr);
    if (way < report.ways.size()) choice = ChoiceOf(report.ways[way]);
  }
  variants.alternatives = FewerThreads(variants.fallback, prepare_.threads);
  for (Ways& ways : variants.alternatives) ways.erase(ways.begin());
  // If nothing had to be measured, threads had been tried before, too: for what was the fastest way
  // then, and may be the second now.
  if (measured_ || !known_.any()) return Measure("threads", form, variants, end);
  TakeKnown(form, variants);
  return {};
}

Status Measurer::Measure(const std::string& what, const Form& form, Variants& variants,
                         nanoseconds end) {
  if (CountAlternatives(variants.alternatives) == 0) return {};
  INTAGLIO_RETURN_IF_ERROR(MeasureUnknown(what, form, variants, end));
  Settle({graph_, *untuned_});
  if (form.origins != nullptr) Settle(form);
  return {};
}

Status Measurer::MeasureUnknown(const std::string& what, const Form& form, Variants& variants,
                                nanoseconds end) {
  TakeKnown(form, variants);
  // Without alternatives that are unknown, a group of none times the untuned network.
  const size_t count =
      leaves_unknown_ && KnowsUntuned() ? 0 : CountAlternatives(variants.alternatives);
  if (count == 0)
    return KnowsUntuned() ? Status() : MeasureGroup(what, form, variants, {0, 0}, end);
  const size_t bytes = std::max<size_t>(1, untuned_->constant_bytes());
  const size_t at_once = std::max<size_t>(1, options_.group_bytes / bytes);
  for (size_t begin = 0; begin < count; begin += at_once) {
    const size_t behind = std::min(count, begin + at_once);
    const int percent = static_cast<int>(100 * (behind - begin) / (count - begin));
    INTAGLIO_RETURN_IF_ERROR(
        MeasureGroup(what, form, variants, {begin, behind}, Part(end, percent)));
    // An untuned network whose time is known need not run once more.
    if (schedule_.Now() >= end && KnowsUntuned()) break;
  }
  return {};
}

Result<std::unique_ptr<Model>> Measurer::Prepare(const Form& form, const Variants& variants,
                                                 size_t variant) const {
  PrepareOptions options = prepare_;
  for (size_t i = 0; i < form.graph.layers.size(); ++i) {
    const Ways& ways = variants.alternatives[i];
    const LayerChoice& way = variant < ways.size() ? ways[variant] : variants.fallback[i];
    options.routines.push_back({std::to_string(i), way.routine, way.kernel, way.threads});
  }
  Result<Model> model = Model::Prepare(form.graph, options, kept_);
  if (!model.ok()) return model.status();
  return std::make_unique<Model>(std::move(*model));
}

// A routine may still refuse a layer when it is prepared. Such ways become the fallback.
void Measurer::RemoveUnprepared(const Form& form, Variants& variants, size_t variant) const {
  for (size_t i = 0; i < form.graph.layers.size(); ++i) {
    Ways& ways = variants.alternatives[i];
    if (variant >= ways.size()) continue;
    if (RunsOnDevice(ways[variant].routine)) {
      const bool fits = prepare_.device->Prepare(form.graph, i, ways[variant]).ok();
      if (!fits) ways[variant] = variants.fallback[i];
      continue;
    }
    LayerOptions options;
    options.kernel = ways[variant].kernel.empty() ? BestKernel() : ways[variant].kernel;
    options.routine = ways[variant].routine;
    if (!nn::Prepare(LayerView(form.graph, i), options).ok()) ways[variant] = variants.fallback[i];
  }
}

// How long a run of a form takes, as far as that is known.
nanoseconds Measurer::RunOf(const Form& form) const {
  double ns = 0;
  for (const LayerReport& report : reports_) {
    const size_t way = FastestOf(report, form.origins != nullptr && report.convertible);
    if (way < report.ways.size()) ns += report.ways[way].ns;
  }
  return std::max(effort_.run, nanoseconds(std::llround(ns)));
}

Result<std::vector<std::unique_ptr<Model>>> Measurer::PrepareGroup(const std::string& what,
                                                                   const Form& form,
                                                                   Variants& variants, Span group,
                                                                   nanoseconds end) {
  std::vector<std::unique_ptr<Model>> models;
  const nanoseconds last = Part(end, kPercentForPreparing);
  const nanoseconds for_each = kRunsForEach * RunOf(form);
  for (size_t v = group.begin; v < group.end && schedule_.Now() < last; ++v) {
    const auto running = static_cast<int64_t>(models.size() + 3);  // with the untuned and control
    if (!models.empty() && schedule_.Now() + running * for_each > end) break;
    Result<std::unique_ptr<Model>> model = Prepare(form, variants, v);
    if (!model.ok()) {
      RemoveUnprepared(form, variants, v);
      model = Prepare(form, variants, v);
      if (!model.ok()) return model.status();
    }
    kept_.push_back(model->get());
    models.push_back(std::move(*model));
    Show("preparing " + what,
         static_cast<double>(v - group.begin + 1) / static_cast<double>(group.end - group.begin));
  }
  return models;
}

Status Measurer::MeasureGroup(const std::string& what, const Form& form, Variants& variants,
                              Span group, nanoseconds end) {
  Result<std::vector<std::unique_ptr<Model>>> models =
      PrepareGroup(what, form, variants, group, end);
  if (!models.ok()) return models.status();
  group.end = group.begin + models->size();
  std::vector<ModelStage::Variant> staged = {{untuned_.get(), nullptr}};
  for (const auto& model : *models) staged.push_back({model.get(), form.origins});
  std::vector<size_t> counts(graph_.layers.size(), 1);
  for (size_t i = 0; i < form.graph.layers.size(); ++i) {
    const size_t origin = OriginOf(form, i);
    if (origin == LayerOrigin::kAdapter) continue;
    const size_t ways = variants.alternatives[i].size();
    counts[origin] = 1 + std::min(ways, group.end) - std::min(ways, group.begin);
  }
  measured_ = true;
  ModelStage stage(std::move(staged), *control_, *buffers_, schedule_);
  const ProfileOptions options = {.budget = end - schedule_.Now(),
                                  .progress = [&](double share) { Show(what, share); }};
  const Result<std::vector<LayerProfile>> profiles = Profile(stage, counts, options);
  kept_.resize(kept_.size() - models->size());
  if (!profiles.ok()) return profiles.status();
  Take(form, variants, group, *profiles, *models);
  return {};
}

// Machines change their pace from group to group. So times are scaled by how long the untuned
// network took in this group and in the first one.
void Measurer::Take(const Form& form, const Variants& variants, Span group,
                    const std::vector<LayerProfile>& profiles,
                    const std::vector<std::unique_ptr<Model>>& models) {
  double untuned = 0;
  for (const LayerProfile& profile : profiles) untuned += profile.ways[0].ns;
  if (untuned_ns_ == 0) untuned_ns_ = untuned;
  const double pace = untuned > 0 ? untuned_ns_ / untuned : 1;
  for (size_t i = 0; i < profiles.size(); ++i) {
    reports_[i].noise = std::max(reports_[i].noise, profiles[i].noise);
    double& ns = reports_[i].ways[0].ns;
    if (ns > 0) continue;
    const WayTimes& times = profiles[i].ways[0];
    ns = std::max(1.0, std::round(times.ns));  // as in a file of timings
    known_.Add(*untuned_, i, {}, {ns, reports_[i].ways[0].bytes, times.runs});
  }
  for (size_t i = 0; i < form.graph.layers.size(); ++i) {
    const size_t origin = OriginOf(form, i);
    if (origin == LayerOrigin::kAdapter) continue;
    const bool converted = form.origins != nullptr && reports_[origin].convertible;
    if (form.origins != nullptr && !converted) continue;
    const LayerProfile& profile = profiles[origin];
    for (size_t w = 1; w < profile.ways.size(); ++w) {
      if (profile.ways[w].runs == 0) continue;
      const LayerInfo& info = models[w - 1]->layers()[i];
      const LayerChoice& way = variants.alternatives[i][group.begin + w - 1];
      const double ns = std::max(1.0, std::round(profile.ways[w].ns * pace));
      reports_[origin].ways.push_back({info.routine, info.kernel, way.threads, ns,
                                       info.constant_bytes, converted,
                                       ChildrenOf(form, i, info.routine)});
      known_.Add(form.by_default, i, way, {ns, info.constant_bytes, profile.ways[w].runs});
    }
  }
}

}  // namespace intaglio::nn::tune
