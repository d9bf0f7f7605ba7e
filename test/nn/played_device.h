// A device that the host plays: it has memory of its own, and does nothing before it is waited for.
// So copies and routines run as late as a backend may run them.
#ifndef INTAGLIO_TEST_NN_PLAYED_DEVICE_H_
#define INTAGLIO_TEST_NN_PLAYED_DEVICE_H_

#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/runtime/backend.h"

namespace intaglio::nn {

class PlayedDevice final : public Backend {
 public:
  // Which layers it computes; empty: all that the host computes.
  std::function<bool(const Graph& graph, size_t layer)> accepts = {};
  // Called with the number of each layer that runs, and with the bytes of each copy. May be empty.
  std::function<void(size_t layer)> on_layer = {};
  std::function<void(size_t bytes)> on_copy = {};
  // From so many pieces of work on, each fails. Negative: none.
  mutable int works_until_failure = -1;
  bool refuses_memory = false;
  bool refuses_to_prepare = false;
  std::string its_hardware = "the host, played";

  mutable int to_device = 0, to_host = 0, layers = 0, waits = 0;

  std::string name() const override { return "played"; }
  std::string hardware() const override { return its_hardware; }

  Result<PreparedLayer> Prepare(const Graph& graph, size_t layer,
                                const LayerChoice& choice) const override {
    const LayerView view(graph, layer);
    const std::vector<CandidateInfo> candidates = ListCandidates(graph, layer);
    if (candidates.empty() || !candidates[0].why_not.empty() || refuses_to_prepare ||
        choice.routine != candidates[0].name || !choice.kernel.empty() || choice.threads != 0) {
      return view.Unsupported("the played device refuses '" + choice.routine + "'");
    }
    Result<PreparedLayer> prepared = host_->Prepare(graph, layer, {});
    if (!prepared.ok()) return prepared;
    std::vector<bool> is_constant;
    for (size_t i = 0; i < view.input_count(); ++i) {
      is_constant.push_back(!view.has_input(i) || view.input(i).constant);
    }
    prepared->name = candidates[0].name;
    prepared->kernel.clear();
    prepared->routine =
        std::make_shared<const Later>(*this, layer, prepared->routine, std::move(is_constant));
    return prepared;
  }

  std::vector<CandidateInfo> ListCandidates(const Graph& graph, size_t layer) const override {
    for (const CandidateInfo& candidate : host_->ListCandidates(graph, layer)) {
      if (!candidate.why_not.empty()) continue;
      const bool does = !accepts || accepts(graph, layer);
      return {{.name = "played" + candidate.name.substr(candidate.name.find(':')),
               .why_not = does ? "" : "the device does not have it"}};
    }
    return {};
  }

  bool prepares_at_once() const override { return false; }

  Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const override {
    if (refuses_memory) return OutOfMemory("the played device has no memory left");
    Result<std::shared_ptr<std::byte>> memory = host_->Allocate(bytes);
    if (!memory.ok()) return memory;
    std::byte* const begin = memory->get();
    (*memory_)[begin] = bytes;
    return std::shared_ptr<std::byte>(
        begin, [all = memory_, owner = *memory](std::byte* p) { all->erase(p); });
  }

  Status CopyIn(std::byte* to, const void* from, size_t bytes) const override {
    ++to_device;
    return Enqueue([=, this] { return Copy(to, from, bytes, true); });
  }
  Status CopyOut(void* to, const void* from, size_t bytes) const override {
    ++to_host;
    INTAGLIO_RETURN_IF_ERROR(Enqueue([=, this] { return Copy(to, from, bytes, false); }));
    return DoAll();
  }
  Status Fill(std::byte* to, int byte, size_t bytes) const override {
    return Enqueue([=, this] { return host_->Fill(to, byte, bytes); });
  }
  Status Wait() const override {
    ++waits;
    return DoAll();
  }

  // Whether anything is left to be done.
  bool idle() const { return work_.empty(); }

 private:
  // Does what a routine does, when the device comes to it.
  class Later final : public Routine {
   public:
    Later(const PlayedDevice& device, size_t layer, std::shared_ptr<const Routine> routine,
          std::vector<bool> is_constant)
        : device_(device),
          layer_(layer),
          routine_(std::move(routine)),
          is_constant_(std::move(is_constant)) {}

    Status Run(const RunArguments& a) const override {
      for (size_t i = 0; i < a.inputs.size(); ++i) {
        if (!is_constant_[i]) INTAGLIO_RETURN_IF_ERROR(device_.CheckIsHere(a.inputs[i], true));
      }
      for (const void* const output : a.outputs) {
        INTAGLIO_RETURN_IF_ERROR(device_.CheckIsHere(output, true));
      }
      using Reads = std::vector<const void*>;
      using Writes = std::vector<void*>;
      return device_.Enqueue([this, &context = a.context, scratch = a.scratch,
                              inputs = Reads(a.inputs.begin(), a.inputs.end()),
                              outputs = Writes(a.outputs.begin(), a.outputs.end()),
                              variables = Writes(a.variables.begin(), a.variables.end()),
                              stride = a.output_stride, ready = a.scratch_is_ready] {
        ++device_.layers;
        if (device_.on_layer) device_.on_layer(layer_);
        int64_t rounds = 1000;
        return routine_->Run({context, inputs, outputs, scratch, variables, stride, rounds, ready});
      });
    }

   private:
    const PlayedDevice& device_;
    size_t layer_;
    std::shared_ptr<const Routine> routine_;
    std::vector<bool> is_constant_;
  };

  Status Copy(void* to, const void* from, size_t bytes, bool in) const {
    if (on_copy) on_copy(bytes);
    INTAGLIO_RETURN_IF_ERROR(CheckIsHere(to, in));
    INTAGLIO_RETURN_IF_ERROR(CheckIsHere(from, !in));
    return host_->CopyIn(static_cast<std::byte*>(to), from, bytes);
  }

  Status CheckIsHere(const void* pointer, bool here) const {
    const auto* const at = static_cast<const std::byte*>(pointer);
    const auto next = memory_->upper_bound(at);
    const bool is_here =
        next != memory_->begin() && at < std::prev(next)->first + std::prev(next)->second;
    return is_here == here ? Status() : InvalidArgument("a pointer to the other memory");
  }

  Status Enqueue(std::function<Status()> work) const {
    if (works_until_failure == 0) return Unsupported("the played device fell off the bus");
    if (works_until_failure > 0) --works_until_failure;
    work_.push_back(std::move(work));
    return {};
  }

  Status DoAll() const {
    Status first;
    for (; !work_.empty(); work_.pop_front()) {
      const Status status = work_.front()();
      if (first.ok()) first = status;
    }
    return first;
  }

  using Memory = std::map<const std::byte*, size_t>;  // the bytes of each arena
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  mutable std::deque<std::function<Status()>> work_;
  std::shared_ptr<const Backend> host_ = MakeHostBackend({.kernel = BestKernel()});
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_TEST_NN_PLAYED_DEVICE_H_
