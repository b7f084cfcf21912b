#!/usr/bin/env bash
# Runs the tests that `npm test` leaves out: the rest of the built program, all random values, and the
# built program on other versions of Node. Results: coverage/results-*.json
set -uo pipefail
cd "$(dirname "$0")/.."

mkdir -p coverage
code=0
vitest() {
  local results="coverage/results-$1.json"
  shift
  # A run that is killed leaves no result, which counts as a failure.
  : > "$results"
  npx --no-install vitest "$@" --reporter=dot --reporter=./scripts/summary.mjs --reporter=json --outputFile.json="$results" || code=1
}

vitest rest run --project rest --project alone
# Other versions of Node run tests that mostly wait, beside the rest of this script.
scripts/nodes.sh > coverage/nodes.log 2>&1 &
nodes=$!
scripts/test-executable.sh --quick || code=1
# `npm test` ran these tests with some random values; this run tries all of them.
# In another time zone than UTC, half an hour off. There it compares no transcripts, which Vitest would
# call obsolete, and fail on, in CI: hence --update=new.
export GPUCLOUD_FUZZ=1
TZ=Asia/Kolkata vitest random related --run test/support/random.ts --project code --update=new
vitest disk run --project quick test/faults/network test/config/disk
unset GPUCLOUD_FUZZ
scripts/ordinary-user.sh || code=1
wait "$nodes" || code=1
cat coverage/nodes.log
# Prints the counts, and what none of these runs could test.
node scripts/counts.mjs coverage/results-*.json
exit "$code"
