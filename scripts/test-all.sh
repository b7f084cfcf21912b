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
  npx --no-install vitest run --reporter=dot --reporter=./scripts/summary.mjs --reporter=json --outputFile.json="$results" "$@" || code=1
}

vitest rest --project rest --project alone
scripts/test-executable.sh --quick || code=1
# `npm test` ran these tests with some random values; this run tries all of them.
# Meanwhile, other versions of Node and another user run tests that mostly wait.
(scripts/nodes.sh || code=1; scripts/ordinary-user.sh || code=1; exit "$code") > coverage/nodes.log 2>&1 &
nodes=$!
# In another time zone than UTC, half an hour off.
GPUCLOUD_FUZZ=1 TZ=Asia/Kolkata npx --no-install vitest related --run test/support/random.ts \
  --project code --reporter=dot || code=1
GPUCLOUD_FUZZ=1 npx --no-install vitest run --project quick --reporter=dot \
  test/faults/network test/config/disk || code=1
wait "$nodes" || code=1
cat coverage/nodes.log
# Prints the counts, and what none of these runs could test.
node scripts/counts.mjs coverage/results-*.json
exit "$code"
