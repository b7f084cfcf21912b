#!/usr/bin/env bash
# Runs the tests that `npm test` leaves out: the rest of the built program, coverage of the code, and the
# built program on the other versions of Node. Results: coverage/results-*.json
set -uo pipefail
cd "$(dirname "$0")/.."

mkdir -p coverage
code=0
vitest() {
  local results="coverage/results-$1.json"
  shift
  # A run that is ended from outside leaves no result, which counts as a failure.
  : > "$results"
  npx --no-install vitest run --reporter=dot --reporter=./scripts/summary.mjs --reporter=json --outputFile.json="$results" "$@" || code=1
}

vitest rest --project rest
# The tests of the code have run before, with a part of their random values; this run tries all, and is for
# the share of lines and branches that they reach.
GPUCLOUD_FUZZ=1 npx --no-install vitest run --project code --coverage --reporter=dot || code=1
scripts/nodes.sh || code=1
# Its counts, and what none of these runs could test.
node scripts/counts.mjs coverage/results-*.json
exit "$code"
