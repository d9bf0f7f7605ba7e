#include "intaglio/nn/quantize/learn_rounding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/quantize/constants.h"
#include "intaglio/nn/quantize/linear_layers.h"
#include "intaglio/nn/quantize/plan.h"
#include "intaglio/nn/quantize/product_rows.h"
#include "intaglio/nn/quantize/round_channel.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::quantize {
namespace {

const Tensor& At(const Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

// Numbers that look random (Steele et al., 2014, SplitMix64).
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  // Below `count`, which is at least 1.
  size_t Below(size_t count) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<size_t>((x ^ (x >> 31)) % count);
  }

 private:
  uint64_t state_;
};

// One of each of `most` equal parts of all places, or all.
std::vector<size_t> DrawPlaces(size_t places, size_t most, Draw& draw) {
  const size_t count = std::min(places, most);
  const auto begin_of = [&](size_t part) {
    return static_cast<size_t>(uint64_t{part} * places / count);
  };
  std::vector<size_t> drawn;
  for (size_t i = 0; i < count; ++i) {
    drawn.push_back(begin_of(i) + draw.Below(begin_of(i + 1) - begin_of(i)));
  }
  return drawn;
}

// Sums of the rows x of one group: of x, and of x x^T, of which the upper half is kept until
// Finish.
class RowSums {
 public:
  explicit RowSums(size_t taps) : taps_(taps), sums_(taps), matrix_(taps * taps) {}

  // Adds four rows, one behind the other.
  void AddFour(const double* rows) {
    const double* const a = rows;
    const double* const b = a + taps_;
    const double* const c = b + taps_;
    const double* const d = c + taps_;
    for (size_t i = 0; i < taps_; ++i) {
      sums_[i] += (a[i] + b[i]) + (c[i] + d[i]);
      if (a[i] == 0 && b[i] == 0 && c[i] == 0 && d[i] == 0) continue;
      double* const to = &matrix_[i * taps_];
      for (size_t j = i; j < taps_; ++j) {
        to[j] += (a[i] * a[j] + b[i] * b[j]) + (c[i] * c[j] + d[i] * d[j]);
      }
    }
  }

  // The matrix, around the mean of `count` rows if that is asked for. False if it is not finite.
  bool Finish(bool around_mean, double count) {
    for (size_t i = 0; i < taps_; ++i) {
      for (size_t j = i; j < taps_; ++j) {
        double& sum = matrix_[i * taps_ + j];
        if (around_mean) sum -= sums_[i] * sums_[j] / count;
        if (!std::isfinite(sum)) return false;
        matrix_[j * taps_ + i] = sum;
      }
    }
    return true;
  }

  std::span<const double> matrix() const { return matrix_; }

 private:
  size_t taps_;
  std::vector<double> sums_;
  std::vector<double> matrix_;
};

// One layer while samples pass.
class Subject {
 public:
  Subject(const Graph& graph, const LinearLayer& layer, ProductRows rows)
      : layer_(layer), input_(graph.layers[layer.layer].inputs[0]), rows_(rows) {
    for (size_t g = 0; g < rows.groups(); ++g) sums_.emplace_back(rows.taps());
  }

  void Watch(const Model& exact, const std::vector<size_t>& places) {
    const auto* const input = static_cast<const float*>(exact.TensorData(input_));
    constexpr size_t kRows = 4;
    buffer_.resize(kRows * rows_.taps());
    for (size_t g = 0; g < rows_.groups(); ++g) {
      for (size_t i = 0; i < places.size(); i += kRows) {
        std::fill(buffer_.begin(), buffer_.end(), 0);
        for (size_t k = 0; k < std::min(kRows, places.size() - i); ++k) {
          rows_.Read(input, places[i + k], g, &buffer_[k * rows_.taps()]);
        }
        sums_[g].AddFour(buffer_.data());
      }
    }
    count_ += static_cast<double>(places.size());
  }

  // Gives the weights other integers.
  Result<RoundedLayer> Round(const Graph& graph, Graph& integers, int bits, bool around_mean) {
    for (RowSums& sums : sums_) {
      if (count_ > 0 && sums.Finish(around_mean, count_)) continue;
      return InvalidArgument(layer_.label + ": the squares of its inputs are not finite");
    }
    const std::vector<float> reals = RealsOf(At(graph, graph.layers[layer_.layer].inputs[1]));
    Tensor& weights = integers.tensors[static_cast<size_t>(layer_.weights)];
    std::vector<std::byte> elements(reals.size());
    RoundedLayer result = {.layer = layer_.layer, .label = layer_.label, .weights = reals.size()};
    const double greatest = HighestOf({Type::kInt8, bits, true});
    for (size_t o = 0; o < rows_.outputs(); ++o) {
      RoundOutput(o, reals, weights.quantization, greatest, elements, result);
    }
    const double products = count_ * static_cast<double>(std::max<size_t>(1, rows_.outputs()));
    result.nearest_error /= products;
    result.error /= products;
    weights = WithValues(weights, std::move(elements));
    return result;
  }

  const ProductRows& rows() const { return rows_; }

 private:
  void RoundOutput(size_t output, const std::vector<float>& reals, const Quantization& quantization,
                   double greatest, std::vector<std::byte>& elements, RoundedLayer& result) const {
    const size_t q = quantization.per_axis() ? output : 0;
    const double scale = double{quantization.scales[q]};
    std::vector<double> steps(rows_.taps());
    for (size_t k = 0; k < steps.size(); ++k) {
      steps[k] = double{reals[rows_.WeightOf(output, k)]} / scale;
    }
    const ChannelRounder rounder(sums_[rows_.GroupOf(output)].matrix(), steps.size());
    const std::vector<double> nearest = NearestOf(steps, greatest);
    const std::vector<double> rounded = rounder.Round(steps, greatest);
    result.nearest_error += rounder.ErrorOf(steps, nearest) * scale * scale;
    result.error += rounder.ErrorOf(steps, rounded) * scale * scale;
    for (size_t k = 0; k < steps.size(); ++k) {
      result.moved += rounded[k] != nearest[k] ? 1 : 0;
      const int integer = static_cast<int>(rounded[k]) + quantization.zero_points[q];
      elements[rows_.WeightOf(output, k)] = static_cast<std::byte>(integer);
    }
  }

  LinearLayer layer_;
  TensorId input_;
  ProductRows rows_;
  std::vector<RowSums> sums_;  // of each group
  double count_ = 0;           // of rows
  std::vector<double> buffer_;
};

void AddNote(Outcome& outcome, const std::string& note) {
  if (!outcome.note.empty()) outcome.note += "; ";
  outcome.note += note;
}

class Learner {
 public:
  Learner(const Graph& graph, Quantized& quantized, const Rules& rules,
          const RoundingOptions& options)
      : graph_(graph), quantized_(quantized), rules_(rules), options_(options) {}

  Result<Rounded> Run(const OpenSamples& open) {
    INTAGLIO_RETURN_IF_ERROR(FindWork());
    while (next_ < work_.size()) INTAGLIO_RETURN_IF_ERROR(Pass(open));
    return std::move(rounded_);
  }

 private:
  struct Work {
    LinearLayer layer;
    ProductRows rows;
  };

  static double BytesOf(const ProductRows& rows) {
    const auto taps = static_cast<double>(rows.taps());
    return static_cast<double>(rows.groups()) * taps * (taps + 1) * sizeof(double);
  }

  Status FindWork() {
    const std::vector<LinearLayer> layers = FindLinearLayers(graph_, quantized_);
    std::map<TensorId, size_t> readers;
    for (const LinearLayer& layer : layers) ++readers[layer.weights];
    for (const LinearLayer& layer : layers) {
      const LayerView view(graph_, layer.layer);
      const Result<ProductRows> rows = ProductRows::Make(view);
      std::string why;
      if (!rows.ok()) {
        if (rows.status().code() != StatusCode::kUnsupported) return rows.status();
        why = "its products have different weights at different places";
      } else if (readers[layer.weights] > 1) {
        why = "other layers have the same ones";
      } else if (BytesOf(*rows) > static_cast<double>(options_.most_bytes)) {
        why = "the matrix of its " + std::to_string(rows->taps()) + " inputs is too large";
      }
      if (why.empty()) {
        work_.push_back({layer, *rows});
      } else {
        AddNote(quantized_.layers[layer.layer],
                "its weights are the nearest integers, because " + why);
      }
    }
    return {};
  }

  // As many layers as fit, at least one.
  std::vector<Subject> TakeSubjects() {
    std::vector<Subject> subjects;
    double bytes = 0;
    for (; next_ < work_.size(); ++next_) {
      const Work& work = work_[next_];
      bytes += BytesOf(work.rows);
      if (!subjects.empty() && bytes > static_cast<double>(options_.most_bytes)) break;
      subjects.emplace_back(graph_, work.layer, work.rows);
      layers_.push_back(work.layer.layer);
    }
    return subjects;
  }

  Status Pass(const OpenSamples& open) {
    layers_.clear();
    std::vector<Subject> subjects = TakeSubjects();
    const Result<NextSample> samples = open();
    if (!samples.ok()) return samples.status();
    INTAGLIO_RETURN_IF_ERROR(WatchSamples(*samples, subjects));
    ++rounded_.passes;
    for (size_t i = 0; i < subjects.size(); ++i) {
      Result<RoundedLayer> layer = subjects[i].Round(
          graph_, quantized_.graph, RuleOf(rules_, layers_[i]).weight_bits, options_.biases_follow);
      if (!layer.ok()) return layer.status();
      rounded_.layers.push_back(std::move(*layer));
    }
    return {};
  }

  Status WatchSamples(const NextSample& next, std::vector<Subject>& subjects) {
    const Result<size_t> samples = RunOnSamples(
        graph_, next, {options_.threads, options_.limits, options_.progress},
        [&](const Model& exact, size_t sample) {
          Draw draw(options_.seed + sample);
          for (Subject& subject : subjects) {
            subject.Watch(exact, DrawPlaces(subject.rows().places(), options_.most_places, draw));
          }
          return Status();
        });
    if (!samples.ok()) return samples.status();
    if (*samples == 0) return InvalidArgument("there is no sample to learn rounding from");
    rounded_.samples = *samples;
    return {};
  }

  const Graph& graph_;
  Quantized& quantized_;
  const Rules& rules_;
  const RoundingOptions& options_;
  std::vector<Work> work_;
  size_t next_ = 0;
  std::vector<size_t> layers_;  // of this pass, by their numbers
  Rounded rounded_;
};

}  // namespace

Result<Rounded> LearnRounding(const Graph& graph, Quantized& quantized, const Rules& rules,
                              const OpenSamples& open, const RoundingOptions& options) {
  if (quantized.layers.size() != graph.layers.size()) {
    return InvalidArgument("the network of integers was made of another one");
  }
  if (options.most_places == 0) return InvalidArgument("most_places is 0");
  return Learner(graph, quantized, rules, options).Run(open);
}

}  // namespace intaglio::nn::quantize
