#!/usr/bin/env bash
# bench_programs.sh SOURCE BENCH_GEMM BENCH_PEAK BENCH_OPS
# The benchmark programs refuse arguments that they do not know, and fail if they measure nothing.
# bench/report takes the JSON of each.
set -uo pipefail
source=$1 gemm=$2 peak=$3 ops=$4
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect RC TEXT COMMAND...: checks the command's status, and that its output has the text.
expect() {
  local wanted=$1 text=$2 got
  shift 2
  "$@" > "$work/out" 2>&1
  got=$?
  if [ $got != "$wanted" ] || ! grep -qF -e "$text" "$work/out"; then
    echo "$*: status $got instead of $wanted, or no '$text' in:"
    cat "$work/out"
    status=1
  fi
}

small="--shapes=16x16x16 --peers=none --modes=halfeven --seconds=0 --rounds=1"
expect 2 "there is no mkl" "$gemm" --peers=mkl
expect 2 "there is no fast" "$gemm" --pipelines=fast
expect 2 "no number from 1 to 1024" "$gemm" --threads=many
expect 2 "no number" "$gemm" --shapes=16x16x16 --peers=none --seconds=nan
expect 2 "no number" "$gemm" --shapes=16x16x16 --peers=none --seconds=-1
expect 1 "nothing was measured" "$gemm" $small --kernels=none
expect 0 "GOPS" "$gemm" $small --out="$work/gemm.json"
if [ -e /dev/full ]; then
  expect 1 "/dev/full cannot be written" "$gemm" $small --out=/dev/full
fi
expect 0 "takes about" "$peak" --threads=1 --seconds=0 --rounds=1 --out="$work/peak.json"
expect 2 "no layer has this in its name" "$ops" --filter=nosuchlayer

if ! command -v python3 > /dev/null; then
  echo "without bench/report: there is no python3"
  exit $status
fi
cat > "$work/models.json" << 'END'
{"context": {"cpu": "a machine", "versions": {"onnxruntime": "1"}, "command": "bench/models"},
 "summary": [null, {"threads": 1, "kind": "network", "models": 1, "geomean": 1.5, "worst": 1.5,
                    "worst_model": "net"}],
 "rows": [{"model": "net", "kind": "network", "threads": 1, "difference": 1.0, "intaglio": {"ms": 2.0},
           "litert": {"ms": 3.0}, "onnxruntime": {"error": "cannot"}}]}
END
cat > "$work/wrong.json" << 'END'
{"context": {"cpu": "a machine"},
 "benchmarks": [{"name": "wrong/gemm/targets/64x64x64/u8s8/byte/t1/onednn.s8", "label": "it saturates"}]}
END
report() {
  local name=$1
  shift
  python3 "$source/bench/report" --out "$work/$name" "$@" && cat "$work/$name/report.md"
}
expect 0 "| net | network | 1 | 2.000 | 3.000 | cannot | 1.0 |" report models "$work/models.json"
expect 0 "onednn.s8: left out of 1 cases" report wrong "$work/wrong.json"
expect 0 "it saturates" report wrong "$work/wrong.json"
expect 0 "Networks" report all "$work/gemm.json" "$work/peak.json" "$work/models.json"
echo '{"context": {}, "benchmarks": []}' > "$work/empty.json"
expect 1 "holds no measurements" report empty "$work/empty.json"
expect 1 "cannot be read as JSON" report text "$source/README.md"
expect 1 "cannot be read as JSON" report none "$work/none.json"
exit $status
