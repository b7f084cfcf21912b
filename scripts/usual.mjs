// Which chunks of the bundle the usual commands run. They stand together at its beginning, so that
// such a command reads and compiles one text, and little that it has no use for. It is found out by
// running them: the sandbox is their service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Instead of what answers the functions of a part (src/start/loader.ts): each tells that it runs. */
export const RECORDED = `(part)=>parts[part].map((chunk,at)=>(...all)=>{
require('node:fs').appendFileSync(process.env.CHUNKS,table[part][2]+at+'\\n');return chunk(...all)})`;

const CREATE = ['instances', 'create', '--name', 'box', '--yes', '-q'];
/** What people and scripts call all day. What one more would add to the text, all of them read. */
const USUAL = (id) => [
  ['--help'],
  ['instances', 'get', id, '--json'],
  ['instances', 'get', 'box'],
  ['instances', 'list', '--json'],
  ['instances', 'list'],
  ['instances', 'events', id],
  ['instances', 'terminate', id, '--yes'],
  ['drives', 'list'],
  ['billing', 'balance'],
];

/**
 * @param bundle its text, with {@link RECORDED}.
 * @returns the numbers of the chunks.
 */
export async function usualChunks(bundle) {
  const folder = mkdtempSync(join(tmpdir(), 'gpucloud-build-'));
  const program = join(folder, 'gpucloud.cjs');
  const children = new Set();
  let runs = 0;
  const start = (argv, input = '') => {
    runs += 1;
    const record = join(folder, `run-${runs}`);
    const child = spawn(process.execPath, [program, ...argv], {
      env: { HOME: folder, USERPROFILE: folder, NO_COLOR: '1', CHUNKS: record },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: MOST_MS,
    });
    children.add(child);
    child.once('close', () => children.delete(child));
    child.stdin.end(input);
    return { child, record };
  };
  const run = async (argv, input) => {
    const { child, record } = start(argv, input);
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    if (code !== 0) throw new Error(`gpucloud ${argv.join(' ')} does not run (${code}): ${err}`);
    return { out: out.trim(), chunks: readFileSync(record, 'utf8').trim().split('\n').map(Number) };
  };

  // The service would outlive a build that is ended from outside.
  const onSignal = (signal) => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);

  try {
    writeFileSync(program, bundle);
    return await chunksOf(start, run, folder);
  } finally {
    for (const child of children) {
      child.kill();
      await once(child, 'close');
    }
    for (const signal of SIGNALS) process.off(signal, onSignal);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** For all of it, the service included: it takes seconds. */
const MOST_MS = 120_000;
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'];

async function chunksOf(start, run, folder) {
  const service = start(['sandbox', 'serve', '--json', '--state', join(folder, 'service.json')]);
  const [line] = await Promise.race([
    once(service.child.stdout.setEncoding('utf8'), 'data'),
    once(service.child, 'close').then(() => Promise.reject(new Error('The sandbox does not run.'))),
  ]);
  const { url, api_key } = JSON.parse(line);
  await run(['login', '--base-url', url, '--key-stdin'], api_key);
  const { offers, images } = JSON.parse((await run(['sandbox', 'catalog', '--json'])).out);
  const hardware = ['--offer', offers[0].id, '--image', images[0].id];
  const created = await run([...CREATE, ...hardware]);
  const chunks = new Set(created.chunks);
  for (const argv of USUAL(created.out)) {
    for (const id of (await run(argv)).chunks) chunks.add(id);
  }
  return chunks;
}
