#!/usr/bin/env bash
# same_bits.sh SHARED INTAGLIO BENCH_GEMM [EMULATOR...]
# `intaglio run`, `intaglio verify` and `bench_gemm` on MobileNets and on their products, against digests
# that are the same in every build: what x86-64 computes is what 64-bit and 32-bit Arm compute.
# SHARED, or $INTAGLIO_SHARED, is a folder with models/ and inputs/; without it nothing is tested, and
# status 77 says so.
# BENCH_GEMM is "none" in builds without benchmarks.
set -uo pipefail
shared=${INTAGLIO_SHARED:-$1} intaglio=$2 bench=$3
shift 3
emulator=("$@")
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -d "$shared/models" ]; then
  printf '%s: Skipped\n' same_bits
  echo "NO MODELS: $shared/models does not exist; set INTAGLIO_SHARED to a folder with models/ and" \
    "inputs/ to run this test"
  exit 77
fi

# expect NAME WANTED GOT
expect() {
  if [ "$2" = "$3" ]; then
    echo "$1: $3"
  else
    echo "$1: expected $2, got $3"
    status=1
  fi
}

run() {  # MODEL INPUT: the digest of the output's file
  "${emulator[@]}" "$intaglio" run "$shared/models/coral_test_data/$1.tflite" \
    --input "$shared/inputs/$1/$2.npy" --output "$work/$1" --threads 2 > /dev/null &&
    sha256sum < "$(ls "$work/$1"/0_*.npy)" | cut -c1-16
}

verify() {  # MODEL INPUTS: what the command prints of the outputs
  "${emulator[@]}" "$intaglio" verify "$shared/models/coral_test_data/$1.tflite" --inputs "$2" \
    > "$work/verify" || cat "$work/verify" >&2
  sed -n 's/^outputs of.*: //p' "$work/verify"
}

products() {  # the digest of the digests of all results
  "${emulator[@]}" "$bench" --shapes=64x784x32,512x49x512,1001x1x1024 --types=u8s8,u8u8 --peers=none \
    --outputs=byte,int32,float --modes=halfeven,double,single --digests --seconds=0 --rounds=1 > "$work/bench" || cat "$work/bench" >&2
  # Names of kernels differ; "intaglio.<kernel>.<arithmetic> digest <number>".
  sed -nE 's/^ *intaglio\..*\.([a-z]+) +digest ([0-9a-f]+)$/\1 \2/p' "$work/bench" > "$work/digests"
  expect "results" 30 "$(wc -l < "$work/digests")"
  expect "products" 8993d98bff48cecf "$(sha256sum < "$work/digests" | cut -c1-16)"
}

expect "run, MobileNet v1" e73985657bef6048 "$(run mobilenet_v1_0.25_128_quant cat)"
expect "run, MobileNet v2" 466d07f563805121 "$(run mobilenet_v2_1.0_224_quant cat)"
expect "verify, MobileNet v1" e85b73f5fdec6fdf "$(verify mobilenet_v1_0.25_128_quant 1)"
if [ "$bench" != none ]; then
  products
fi
exit $status
