// A tile of int32 accumulators on its way to the result, and a pipeline to take it there whose type
// is known only to the caller.
#ifndef INTAGLIO_PIPELINE_TILE_H_
#define INTAGLIO_PIPELINE_TILE_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/type.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

// `lines` lines of `length` accumulators; a line runs along a row of the result, or along a column.
struct AccumulatorTile {
  const int32_t* acc;
  ptrdiff_t acc_stride;  // elements from line to line
  int lines;
  int length;
  // Where the tile lies in the result: element i of line l is at
  //   along kCols: row first_line + l, column first_element + i; along kRows: the reverse.
  Axis along;
  int first_line;
  int first_element;
  // Its place in memory: element i of line l goes to dst[l * line_stride + i * element_stride].
  void* dst;
  ptrdiff_t line_stride;
  ptrdiff_t element_stride;
};

// Any pipeline, by pointer. `run` is safe to call from several threads at once, and throws nothing.
struct TilePipeline {
  const void* pipeline;
  void (*run)(const void* pipeline, const AccumulatorTile& tile);
  Type output;
  const char* registers = "";  // those it runs in, for descriptions; empty if unknown
};

// The standard pipeline as one of these: for the cases that kernels do not run in registers.
TilePipeline AsTilePipeline(const StandardPipeline& pipeline);

}  // namespace intaglio

#endif  // INTAGLIO_PIPELINE_TILE_H_
