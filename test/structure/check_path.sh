#!/usr/bin/env bash
# check_path.sh SOURCE FILES LINES: what one product reads like, from `Gemm` to the last instruction of the
# AVX2 kernel. The product is of rows by a matrix that was packed before, scaled by double rounding to bytes.
#
# Names every file that a reader has to open, in the order of the call. Fails if they are more than FILES files or
# LINES lines, if one is missing, if a header is on the path without the source file that defines its functions, or
# if a file of the path includes a header that neither this list nor the next one names.
set -euo pipefail
cd "$1"
most_files=$2 most_lines=$3
status=0

path="
gemm/gemm.h                                the entry
gemm/gemm.cc                               checks, canonical form
gemm/plan/product.h                        the canonical form
gemm/run/tasks.h                           the cut into tasks
gemm/run/tasks.cc                          the cut; runs the tasks
gemm/plan/panel_params.cc                  the pipeline, per lane
kernels/tile/tile_args.h                   the contract of kernels
kernels/tile/epilogue.h                    its parameters
kernels/x86/int8_avx2.cc                   the kernel
kernels/x86/panel_avx2.h                   its loads and stores
kernels/tile/tile.h                        rows to tiles
kernels/tile/accumulate.h                  the loop over depth
kernels/tile/finish_pairs.h                the epilogue of whole tiles
kernels/tile/double_rounding.h             its scalings
fixedpoint/requantize_bounded.h            their arithmetic
"

# What the path includes, and a reader need not open: what is known by its name or declaration, and what other
# products take.
beside="
fixedpoint/fit_double_rounding.h           bound pipelines
fixedpoint/float_environment.h             sets rounding to nearest
fixedpoint/multiply.h                      high halves of products
fixedpoint/registers.h                     the register vocabulary
fixedpoint/requantize.h                    scalings without bounds
fixedpoint/status.h                        errors
fixedpoint/type.h                          int8, uint8, ..
pipeline/pipeline.h                        compositions of stages
pipeline/standard.h                        the pipeline's parameters
pipeline/tile.h                            other pipelines
pack/aligned_buffer.h                      memory
pack/first_byte.h                          null data
pack/im2col.h                              convolutions
pack/image_lines.h                         convolutions
pack/matrix.h                              views
pack/packed_matrix.h                       the packed side
pack/panels.h                              its format
pack/rows.h                                the other side's format
pack/validate.h                            bounds of types
gemm/bound_pipeline.h                      bound pipelines
gemm/plan/bound_storage.h                  bound pipelines
gemm/plan/check.h                          checks
gemm/context.h                             threads and scratch
gemm/machine/cores.h                       cores of two kinds
gemm/machine/cpu.h                         cache sizes
gemm/plan/cut_for_threads.h                several threads
gemm/describe.h                            INTAGLIO_VERBOSE
gemm/plan/dispatch.h                       the choice of the kernel
gemm/run/pack_for_call.h                   products without a packed side
gemm/plan/panel_params.h                   declares panel_params.cc
gemm/prepack.h                             packing
gemm/stage_registers.h                     pipelines of a user's stages
gemm/run/task_parts.h                      tasks shared out
gemm/run/window_rows.h                     convolutions
gemm/run/write_tile.h                      edges, and pipelines that kernels do not know
kernels/tile/any_tile.h                    edges, and other scalings
kernels/elementwise/byte_elementwise.h     element-wise routines
kernels/kernel.h                           a kernel's row in the table
kernels/kernel_table.h                     the table
kernels/make_kernel.h                      makes the row of Tile<KernelAvx2>
kernels/params_list.h                      parameters of panels in memory
kernels/tile/with_form.h                   the list of all scalings, each of which says its form
kernels/x86/bytes.h                        element-wise routines
kernels/x86/finish_avx2.h                  stores of other tiles
kernels/x86/packing_x86.h                  packing
kernels/x86/shuffles_avx2.h                packing
kernels/x86/taps.h                         depthwise convolutions
kernels/x86/words_avx2.h                   Winograd convolutions
"

complain() {
  echo "$1"
  status=1
}

names() { sed -n 's/^\([^ ]*\) .*/\1/p'; }
included() { sed -n 's|^#include "intaglio/\(.*\)"$|\1|p' $(names <<< "$path") | sort -u; }

while read -r file what; do
  [ -n "$file" ] || continue
  [ -f "$file" ] || { complain "there is no $file"; continue; }
  printf '%5d  %-32s %s\n' "$(wc -l < "$file")" "$file" "$what"
  source=${file%.h}.cc
  if [ "$source" != "$file" ] && [ -f "$source" ] && ! grep -q "^$source " <<< "$path"; then
    complain "$file is on the path, $source is not"
  fi
done <<< "$path"
while read -r header; do
  complain "the path leads to $header, which this script does not name"
done < <(included | grep -vxFf <(names <<< "$path$beside"))
while read -r header; do
  complain "the path does not include $header"
done < <(names <<< "$beside" | sort | comm -23 - <(included))

files=$(names <<< "$path" | wc -l)
lines=$(names <<< "$path" | xargs cat | wc -l)
echo "$files files, $lines lines; includes $(names <<< "$beside" | wc -l) headers that need not be opened"
[ "$files" -le "$most_files" ] || complain "more than $most_files files"
[ "$lines" -le "$most_lines" ] || complain "more than $most_lines lines"
exit $status
