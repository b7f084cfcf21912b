#!/usr/bin/env bash
# Runs the tests of the built program on the executable: npm run test:exe. What is built for Node alone
# is left out: its start, the npm package, mutants. --quick: half a minute of them, for test:all.
set -euo pipefail
cd "$(dirname "$0")/.."

export GPUCLOUD_PROGRAM=dist/exe/gpucloud
# The tests of the packages have just built it from the same source.
if [ "${1:-}" != --quick ] || [ ! $GPUCLOUD_PROGRAM -nt dist/gpucloud.cjs ]; then
  npm run --silent build:exe
fi
if [ "${1:-}" = --quick ]; then
  tests=(test/e2e/rental test/e2e/follow test/faults/network test/faults/order)
else
  tests=(test/e2e test/faults test/contract/streams test/docs)
fi
results=coverage/results-executable.json
mkdir -p coverage && : > "$results"
exec timeout 1500 node_modules/.bin/vitest run --project quick --project rest "${tests[@]}" \
  --reporter=dot --reporter=./scripts/summary.mjs --reporter=json --outputFile.json="$results"
