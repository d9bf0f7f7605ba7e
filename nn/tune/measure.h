// Measures the ways to compute each layer of a network, in groups that fit in memory.
#ifndef INTAGLIO_NN_TUNE_MEASURE_H_
#define INTAGLIO_NN_TUNE_MEASURE_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/passes/compute_in_float.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/childnets.h"
#include "intaglio/nn/tune/known_times.h"
#include "intaglio/nn/tune/model_stage.h"
#include "intaglio/nn/tune/schedule.h"
#include "intaglio/nn/tune/tune.h"
#include "intaglio/nn/tune/ways.h"

namespace intaglio::nn::tune {

class Measurer {
 public:
  // `prepare` holds for all models. Everything must outlive the measurer.
  Measurer(const Graph& graph, const TuneOptions& options, const PrepareOptions& prepare,
           const Schedule& schedule)
      : graph_(graph),
        options_(options),
        prepare_(prepare),
        schedule_(schedule),
        known_(options.timings, prepare) {}
  // Measures a childnet inside another network. Constants that models of that network have packed
  // are not packed again.
  Measurer(const Graph& graph, const Measurer& outer)
      : graph_(graph),
        options_(outer.options_),
        prepare_(outer.prepare_),
        schedule_(outer.schedule_),
        known_(outer.options_.timings, outer.prepare_),
        kept_(outer.kept_),
        leaves_unknown_(outer.leaves_unknown_),
        depth_(outer.depth_ + 1) {}

  // Prepares the untuned network. Each layer's report has its untuned way then.
  Status Begin();

  // Adds the exact ways of all layers to the reports, with their times: routines and kernels, and
  // then fewer threads for the fastest of them. What there is no time for is left out.
  Status MeasureOwnForm(std::chrono::nanoseconds end);
  // The same for layers of a network that have been converted to another form, which has a name.
  Status MeasureOtherForm(const FloatRewrite& network, const std::string& name,
                          std::chrono::nanoseconds end);

  // Measures no ways whose times are not known, because an earlier tuning with the same budget had
  // no time for them either.
  void LeaveUnknown() { leaves_unknown_ = true; }
  bool leaves_unknown() const { return leaves_unknown_; }

  // Lets the next tuning know what is noise.
  void KeepNoise();

  // How long it took to prepare and to run the untuned network.
  const Effort& effort() const { return effort_; }
  KnownTimes& known() { return known_; }
  // Whether anything had to be measured.
  bool measured() const { return measured_; }
  Model& control() { return *control_; }  // another instance of the untuned network
  Model& untuned() { return *untuned_; }
  RunBuffers& buffers() { return *buffers_; }
  // Models whose packed constants others may take over.
  std::span<const Model* const> kept() const { return kept_; }
  std::vector<LayerReport>& reports() { return reports_; }

 private:
  // A network whose layers are those of the given one, or come from them.
  struct Form {
    const Graph& graph;
    const Model& by_default;                            // the network, prepared without choices
    const std::vector<LayerOrigin>* origins = nullptr;  // null: the given network
  };
  // Variant v of a form has, for each of its layers, alternative v or, where there is none, the
  // fallback.
  struct Variants {
    std::vector<Ways> alternatives;
    std::vector<LayerChoice> fallback;
  };
  struct Span {
    size_t begin;
    size_t end;
  };

  size_t OriginOf(const Form& form, size_t layer) const {
    return form.origins == nullptr ? layer : (*form.origins)[layer].layer;
  }
  Status RunToPlan();
  // Adds a way for each layer with a childnet that is computed faster than by default: with the
  // selected ways of the childnet's layers (childnets.h).
  Status AddChildnets(const Form& form, Variants& variants, std::chrono::nanoseconds end);
  std::chrono::nanoseconds EstimateRun(const Form& form, size_t layer) const;
  // Such a way. No value: the default of its layers is selected.
  Result<std::optional<TunedChildnet>> TuneChildnet(const LayerView& layer,
                                                    const std::string& routine,
                                                    std::chrono::nanoseconds end) const;
  Result<ChildProfile> ProfileChildnet(Graph graph, const std::string& routine,
                                       std::chrono::nanoseconds end) const;
  // Stands for a childnet of a layer, and of those that are equal.
  std::string ChildnetKey(const Form& form, size_t layer, const std::string& routine) const;
  // What is known of the layers inside a routine of a layer.
  std::vector<ChildWay> ChildrenOf(const Form& form, size_t layer,
                                   const std::string& routine) const;
  // Takes the ways whose times are known out of the alternatives, and adds them to the reports.
  void TakeKnown(const Form& form, Variants& variants);
  // Layers that are equal share what is known of them: the least of their times. So a tuning that
  // keeps times selects by what the next one will know.
  void Settle(const Form& form);
  void ReadNoise();
  bool KnowsUntuned() const;
  // When so much of the time from now to the end is over.
  std::chrono::nanoseconds Part(std::chrono::nanoseconds end, int percent) const;
  Status MeasureConverted(const Form& form, const std::string& name, std::chrono::nanoseconds end);
  // Adds ways on the device for the layers that it takes.
  Status MeasureDevice(const Form& form, bool allow_bounded, std::chrono::nanoseconds end);
  Status MeasureThreads(const Form& form, std::chrono::nanoseconds end);
  Status Measure(const std::string& what, const Form& form, Variants& variants,
                 std::chrono::nanoseconds end);
  Status MeasureUnknown(const std::string& what, const Form& form, Variants& variants,
                        std::chrono::nanoseconds end);
  Status MeasureGroup(const std::string& what, const Form& form, Variants& variants, Span group,
                      std::chrono::nanoseconds end);
  std::chrono::nanoseconds RunOf(const Form& form) const;
  // The variants of a group as models, as many as there is time for.
  Result<std::vector<std::unique_ptr<Model>>> PrepareGroup(const std::string& what,
                                                           const Form& form, Variants& variants,
                                                           Span group,
                                                           std::chrono::nanoseconds end);
  Result<std::unique_ptr<Model>> Prepare(const Form& form, const Variants& variants,
                                         size_t variant) const;
  void RemoveUnprepared(const Form& form, Variants& variants, size_t variant) const;
  void Take(const Form& form, const Variants& variants, Span group,
            const std::vector<struct LayerProfile>& profiles,
            const std::vector<std::unique_ptr<Model>>& models);
  void Show(const std::string& what, double share) const {
    if (options_.progress) options_.progress(what, share);
  }

  const Graph& graph_;
  const TuneOptions& options_;
  const PrepareOptions& prepare_;
  const Schedule& schedule_;
  KnownTimes known_;
  Effort effort_;
  std::unique_ptr<Model> untuned_;
  std::unique_ptr<Model> control_;
  std::vector<const Model*> kept_;
  std::unique_ptr<RunBuffers> buffers_;
  std::vector<LayerReport> reports_;
  double untuned_ns_ = 0;  // all layers, when they were measured first
  bool measured_ = false;
  bool leaves_unknown_ = false;
  int depth_ = 0;
  std::map<std::string, std::vector<ChildWay>> childnets_;  // by the keys of tuned ones
};

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_MEASURE_H_
