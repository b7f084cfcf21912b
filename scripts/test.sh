#!/usr/bin/env bash
# Checks types and style, then runs the code tests and a minute of the built program.
# Arguments go to vitest: `npm test -- test/money`.
set -eo pipefail
cd "$(dirname "$0")/.."

if (($# > 0)); then
  # Only whole runs are counted.
  words=("$@")
else
  echo 'Checks types and style, then runs the tests: usually 3 minutes on two quiet cores.'
  words=(--reporter=default --reporter=json --outputFile.json=coverage/results.json
    --reporter=./scripts/summary.mjs)
fi
npm run --silent typecheck
npm run --silent lint
node_modules/.bin/vitest run --project code --project quick "${words[@]}"
