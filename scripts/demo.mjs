// A first rental, with the real program and a fresh sandbox: nothing here costs money or needs a
// network. Each command is printed before it runs, so that a reader can type it again.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../bin/gpucloud.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'gpucloud-demo-'));
const { GPUCLOUD_API_KEY: _key, GPUCLOUD_BASE_URL: _url, ...inherited } = process.env;
const env = {
  ...inherited,
  GPUCLOUD_PROFILE: 'sandbox',
  GPUCLOUD_CONFIG_DIR: join(home, 'config'),
  GPUCLOUD_STATE_DIR: join(home, 'state'),
};

/** Runs a command as a person would see it; the demo ends with the first that fails. */
function show(comment, ...args) {
  console.log(`\n# ${comment}\n$ gpucloud ${args.join(' ')}`);
  const { status, error } = spawnSync(process.execPath, [program, ...args], {
    env,
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`"gpucloud ${args.join(' ')}" ended with exit code ${status}`);
}

/** Runs a command for its JSON, as a script would. */
function read(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args, '--json'], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`"gpucloud ${args.join(' ')}" failed: ${stderr}`);
  return JSON.parse(stdout);
}

try {
  console.log('The profile "sandbox" is the whole service on this computer. Settings used here:');
  console.log('$ export GPUCLOUD_PROFILE=sandbox');
  show('What can be rented', 'sandbox', 'catalog');
  const { offers, images } = read('sandbox', 'catalog');
  show(
    'Rent a machine and wait until it runs',
    ...[
      'instances',
      'create',
      'my-first-box',
      '--offer',
      offers[0].id,
      '--image',
      images[0].id,
      '--wait',
    ],
  );
  show('See all machines that this computer knows', 'instances', 'list');
  show('Let three hours pass on the clock of the sandbox', 'sandbox', 'advance', '3h');
  show('What happened to the machine', 'instances', 'events', 'my-first-box');
  show('What it cost', 'billing', 'transactions', '--type', 'usage_charge');
  show(
    'End it: billing stops, and the rest of the hour comes back',
    'instances',
    'terminate',
    'my-first-box',
    '--yes',
    '--wait',
  );
  show('What is left', 'billing', 'balance');
  console.log(
    '\nThat was a whole rental. Next: "gpucloud --profile sandbox sandbox status", "gpucloud --help", README.md.',
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}
