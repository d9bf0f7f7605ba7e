#include "intaglio/nn/tune/differences.h"

#include <algorithm>
#include <utility>

#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/compose.h"
#include "intaglio/nn/tune/difference.h"

namespace intaglio::nn::tune {

Result<Difference> Differences::Of(Model& model) {
  RunBuffers& buffers = job_.measurer.buffers();
  if (expected_.empty()) {
    INTAGLIO_RETURN_IF_ERROR(buffers.Run(job_.measurer.untuned()));
    expected_.assign(buffers.outputs().begin(), buffers.outputs().end());
  }
  INTAGLIO_RETURN_IF_ERROR(buffers.Run(model));
  return DifferenceOf(job_.graph(), expected_, buffers.outputs());
}

// What a layer changes if it alone computes in the other form. The whole network is prepared for
// it.
Status Differences::MeasureLayer(size_t layer) {
  std::vector<LayerWay> ways(job_.graph().layers.size());
  ways[layer].converted = true;
  const Result<Composed> composed = Compose(job_.form, ways);
  if (!composed.ok()) return composed.status();
  if (!composed->refused.empty()) return {};  // it needs converted neighbours
  Result<Model> model = Model::Prepare(composed->network.graph, job_.prepare, job_.measurer.kept());
  if (!model.ok()) return model.status();
  const Result<Difference> difference = Of(*model);
  if (!difference.ok()) return difference.status();
  job_.reports()[layer].difference = *difference;
  return {};
}

Status Differences::MeasureLayers() {
  if (!job_.measurer.measured() && !job_.limits_difference()) return {};
  std::vector<std::pair<double, size_t>> gains;
  for (size_t i = 0; i < job_.reports().size(); ++i) {
    const LayerReport& report = job_.reports()[i];
    const size_t converted = FastestOf(report, true);
    if (converted == report.ways.size() || IsFarBehind(report)) continue;
    gains.push_back({report.ways[converted].ns - report.ways[FastestOf(report, false)].ns, i});
  }
  std::sort(gains.begin(), gains.end());
  for (size_t k = 0; k < gains.size(); ++k) {
    if (job_.schedule.Now() >= job_.schedule.EndOfDifferences()) break;
    job_.Show("differences of single layers",
              static_cast<double>(k) / static_cast<double>(gains.size()));
    INTAGLIO_RETURN_IF_ERROR(MeasureLayer(gains[k].second));
  }
  return {};
}

}  // namespace intaglio::nn::tune
