import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import type { CliError } from '../../src/errors.ts';
import { type FileFlags, type Half, withFile } from '../../src/instances/rent/given.ts';
import { manifestJsonSchema } from '../../src/instances/rent/manifest-json.ts';
import { manifestText } from '../../src/instances/rent/manifest-text.ts';
import { removeFolder } from '../support/afterwards.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-given-'));
});
afterAll(() => removeFolder(folder));

/** Reads a file, with these flags and defaults of the profile, and adds what is noted. */
async function givenBy(
  text: string,
  half: Half,
  typed: FileFlags,
  defaults: object,
  notes: string[] = [],
) {
  const file = join(folder, 'box.yaml');
  await writeFile(file, text);
  const context = {
    signal: new AbortController().signal,
    settings: async () => ({ sandbox: false, profile: { value: 'work' } }),
    config: async () => ({ read: async () => ({ profiles: { work: { defaults } } }) }),
    err: { note: (note: string) => notes.push(note) },
  } as unknown as Context;
  return withFile({ ...typed, file }, half, context);
}

async function read(text: string, half: Half, typed: FileFlags = {}, defaults: object = {}) {
  const notes: string[] = [];
  const plain = (value: unknown) => JSON.stringify(value).replaceAll(folder, 'FOLDER');
  const given = await givenBy(text, half, typed, defaults, notes).catch(({ message }: CliError) =>
    message.replaceAll(folder, 'FOLDER'),
  );
  if (typeof given === 'string') return given;
  const { flags, isOfFile, from, path } = given;
  const lines = Object.entries(flags).flatMap(([name, value]) => {
    if (name === 'file' || name === 'gitignore' || name === 'unenforced') return [];
    const flag = name as Parameters<typeof isOfFile>[0];
    const places = [from(flag), from(flag, 0), from(flag, 1)];
    const origin = isOfFile(flag) ? 'the file' : 'elsewhere';
    return [`${name} = ${plain(value)} of ${origin}, ${path(flag, 'x')}, ${path(flag, '/x')}`]
      .concat(places)
      .map((line) => line.replaceAll(folder, 'FOLDER'));
  });
  return [...notes.map((note) => note.replaceAll(folder, 'FOLDER')), ...lines].join('\n');
}

const CONTAINER = `docker_config:
  image: nginx
  run_command: serve
  shm_size_gb: 2
  ports:
    - {external_port: 8080, internal_port: 80}
    - {external_port: 81, internal_port: 82, protocol: UDP}
  volumes:
    - {host_path: /a, container_path: /b}
`;
const INSTANCE = `name: box
offers: [o-1, o-2]
retry_for: 2h
image_id: i-1
ssh_keys: [k-1, k-2]
template_id: t-1
storage_drive_id: d-1
${CONTAINER}env:
  A: 1.10
  B:
  C: false
env_file: [vars, /etc/vars]
terminate_after: 4h
if_idle: 45m
rescue: [out, logs]
rescue_budget: 0
max_price: 99.50
count: 3
min_count: 2
`;
const JOB = `command: make all
setup: pip install x
setup_files: [a.sh, /b.sh]
sync: .
exclude: ['*.log', tmp]
gitignore: false
fetch: ['out:/tmp/out', logs]
fetch_every: 5m
pass_env: [TOKEN, KEY]
here: true
keep_on_failure: 1h
grace: 30s
`;
const DEFAULTS = { offer: 'o-9', image: 'i-9', ssh_key: 'k-9' };
const VARIABLES = 'env: {A: x}\nenv_file: [v]\n';

/** The text of the file, the half that the command uses, the flags, and the profile's defaults. */
test.each<[string, string, Half, FileFlags?, object?]>([
  ['everything', `${INSTANCE}${JOB}`, 'both'],
  ['everything, for an instance', `${INSTANCE}${JOB}`, 'instance', {}, DEFAULTS],
  ['everything, for a job', `$schema: s\n${INSTANCE}${JOB}`, 'job', {}, DEFAULTS],
  ['only defaults', 'count: 1\n', 'both', {}, DEFAULTS],
  ['a flag instead of each default', 'count: 1\n', 'both', { offer: ['o'], image: 'i' }, DEFAULTS],
  ['the names of the service', 'instance_name: box\noffer_id: o-1\n', 'instance'],
  ['a flag for the names', 'instance_name: box\noffer_id: o-1\n', 'both', { name: 'n' }],
  ['variables of a container', `${CONTAINER}  env: [{key: A, value: x=1}]\n`, 'both'],
  ['variables without a container', `${VARIABLES}name: box\n`, 'instance'],
  ['variables of a job', `${VARIABLES}name: box\n`, 'job'],
  ['variables for the image of a flag', VARIABLES, 'instance', { dockerImage: 'nginx' }],
  ['variables of a flag', VARIABLES, 'both', { env: ['C=1'] }],
  ['a file of variables of a flag', VARIABLES, 'both', { envFile: ['w'] }],
  ['a deadline', 'terminate_at: 2026-01-16T12:00:00Z\n', 'instance'],
  ['another deadline', 'terminate_at: 2026-01-16T12:00:00Z\n', 'both', { terminateAfter: 60_000 }],
  ['a deadline of a flag', 'terminate_after: 4h\n', 'both', { terminateAt: { at: 5 } as never }],
  ['a command of words', 'command: [make, all]\n', 'both'],
  ['two names', 'name: box\ninstance_name: box\n', 'both'],
  ['two forms of offers', 'offer_id: o\noffers: [o]\n', 'both'],
  ['two deadlines', 'terminate_after: 1h\nterminate_at: 2026-01-16T12:00:00Z\n', 'both'],
  ['variables twice', `env: {A: x}\n${CONTAINER}  env: [{key: A, value: x}]\n`, 'both'],
])('takes %s from the file', async (_what, text, half, typed, defaults) => {
  expect(await read(text, half, typed, defaults)).toMatchSnapshot();
});

test.each([
  'name: [\n',
  'name: box\nname: lab\n',
  'name: box\n---\nname: lab\n',
  'name: !secret box\ncommand: *all\n',
  'offers: &o [a]\nssh_keys: *o\n',
  'env: {TOKEN=secret}\n',
  'env: [A=1]\ncommand: [make, 1]\n',
  'offer: o\nimage: i\nnam: box\n',
  'docker_config:\n  image: nginx\n  port: []\n  ports:\n    - {external: 1}\n',
  'count: 0\nmin_count: 33\n',
  'rescue_budget: -1\nmax_price: 0\n',
  "name: ''\ncommand: ['']\nrescue: ['']\noffers: []\n",
  'just words\n',
  '',
  '- name: box\n',
])('says what is wrong in the file %j', async (text) => {
  expect(await read(text, 'both')).toMatchSnapshot();
});

test.each<[string, string, FileFlags, boolean]>([
  ['everything', `${INSTANCE}${JOB}`, {}, true],
  ['everything without secrets', `${INSTANCE}${JOB}`, {}, false],
  ['nothing', '{}\n', {}, true],
  ['a time', 'offer_id: o\n', { terminateAt: { hour: 18, minute: 5 }, here: false }, true],
])('writes %s into a job file', async (_what, text, typed, showSecrets) => {
  const { flags } = await givenBy(text, 'both', typed, {});
  const written = await manifestText(flags, { showSecrets });
  expect(written.replaceAll(folder, 'FOLDER')).toMatchSnapshot();
  // It says the same when it is read.
  const again = await givenBy(written, 'both', { here: flags.here }, {});
  const { terminateAfter, command, ...others } = again.flags;
  const kept = JSON.parse(JSON.stringify({ ...others, ...typed }));
  const { terminateAfter: _after, command: _command, ...own } = flags;
  if (showSecrets) expect(kept).toEqual(JSON.parse(JSON.stringify(own)));
  expect([typeof terminateAfter, command?.length]).toMatchSnapshot();
});

test('describes each field in the schema', () => {
  expect(JSON.stringify(manifestJsonSchema(), null, 1)).toMatchSnapshot();
});
