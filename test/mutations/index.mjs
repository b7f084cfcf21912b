import { fileURLToPath } from 'node:url';
import { api } from './api.mjs';
import { commands } from './commands.mjs';
import { config } from './config.mjs';
import { deadlines } from './deadlines.mjs';
import { instances } from './instances.mjs';
import { journal } from './journal.mjs';
import { money } from './money.mjs';
import { output } from './output.mjs';
import { reach } from './reach.mjs';
import { runJob } from './run-job.mjs';
import { watch } from './watch.mjs';

const ROOMS = {
  api,
  journal,
  instances,
  watch,
  money,
  output,
  config,
  commands,
  reach,
  deadlines,
  'run-job': runJob,
};

/** Every mutation of every room, numbered from 1. */
export const MUTATIONS = Object.entries(ROOMS)
  .flatMap(([room, files]) =>
    files.flatMap(({ file, tests, changes }) =>
      changes.map(([name, search, replace, options = {}]) => ({
        room,
        name,
        file,
        search,
        replace,
        tests: (options.tests ?? tests).split(' '),
        ...(options.equivalent === undefined ? {} : { equivalent: options.equivalent }),
      })),
    ),
  )
  .map((mutation, index) => ({ number: index + 1, ...mutation }));

export function at(number) {
  const mutation = MUTATIONS[number - 1];
  if (mutation === undefined) throw new Error(`mutations are numbered 1 to ${MUTATIONS.length}`);
  return mutation;
}

export function sourceOf({ file }) {
  return fileURLToPath(new URL(`../../src/${file}`, import.meta.url));
}

export function mutated(source, { number, file, search, replace }) {
  const found = source.split(search).length - 1;
  if (found !== 1) {
    throw new Error(`mutation ${number}: src/${file} has ${found} times, not once: ${search}`);
  }
  return source.replace(search, () => replace);
}
