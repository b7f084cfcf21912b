#!/usr/bin/env bash
# Runs the tests that `npm test` leaves out: the rest of the built program, more random values, and the
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
  node_modules/.bin/vitest "$@" --reporter=dot --reporter=./scripts/summary.mjs --reporter=json --outputFile.json="$results" || code=1
}

npm run --silent build || exit 1
export GPUCLOUD_BUILT=1
vitest rest run --project rest --project alone
# Other versions of Node and another user run their tests beside the rest of this script.
{
  code=0
  scripts/nodes.sh || code=1
  scripts/ordinary-user.sh || code=1
  exit "$code"
} > coverage/others.log 2>&1 &
others=$!
scripts/test-executable.sh --quick || code=1
# `npm test` ran these tests with some random values; this run tries all or half of them.
# In another time zone than UTC, half an hour off. There it compares no transcripts, which Vitest would
# call obsolete, and fail on, in CI: hence --update=new.
export GPUCLOUD_FUZZ=1
TZ=Asia/Kolkata vitest random related --run test/support/random.ts --project code --project quick \
  --update=new
unset GPUCLOUD_FUZZ
wait "$others" || code=1
cat coverage/others.log
# Prints the counts, and what none of these runs could test.
node scripts/counts.mjs coverage/results-*.json
exit "$code"
