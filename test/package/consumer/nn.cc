// The smallest use of intaglio::nn: a graph without layers, made ready to run.
#include <intaglio/nn/runtime/model.h>

#include <cstdio>
#include <utility>

int main() {
  intaglio::nn::Graph graph;
  intaglio::Result<intaglio::nn::Model> model = intaglio::nn::Model::Prepare(std::move(graph));
  if (!model.ok()) {
    std::printf("%s\n", model.status().message().c_str());
    return 0;  // refusing an empty graph is an answer, too
  }
  std::printf("%zu bytes of arena\n", model->arena_bytes());
  return 0;
}
