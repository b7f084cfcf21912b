import { HARDWARE, OFFER, OFFERED } from '../support/sandbox-ids.ts';

/** Describes how contract tests run a command. */
export interface Recipe {
  /** Commands to run first in the same sandbox. */
  readonly before?: readonly (readonly string[])[];
  /** Stores the record of an ended job for the instance. */
  readonly job?: true;
  readonly argv?: readonly string[];
  readonly stdin?: string;
  /** The command prints a list: an array in JSON, `[]` if empty. */
  readonly list?: true;
  /** The command prints an object for one name, and an array for several. */
  readonly named?: true;
  /** The command works without a service or key. */
  readonly local?: true;
  /** The successful exit codes, if not only 0. */
  readonly ends?: readonly number[];
  /** The input may be secret, so errors repeat none of it. */
  readonly guarded?: true;
  /** The result appears only once, so a closed stdout is a failure. */
  readonly once?: true;
  /** The command's ssh starts the built program; otherwise PATH contains no ssh. */
  readonly startsItself?: true;
  /** Why the result is not a JSON document. */
  readonly notJson?: string;
}

const INSTANCE = ['instances', 'create', 'trainer', ...HARDWARE, '--wait'];
const STOPPED = [INSTANCE, ['instances', 'stop', 'trainer', '--wait']];
const ENDED = [INSTANCE, ['instances', 'terminate', 'trainer', '-y', '--wait']];
const LAB = ['instances', 'create', 'lab', ...HARDWARE, '--template', 'jupyterlab', '--wait'];
const DRIVE = ['drives', 'create', 'data', '--size', '10'];
const PROFILE = ['profiles', 'add', 'work', '--base-url', 'https://api.example.com'];

/** A valid public key: its blob is 32 bytes of ones. */
const PUBLIC_KEY = `ssh-ed25519 ${Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  Buffer.from('ssh-ed25519'),
  Buffer.from([0, 0, 0, 32]),
  Buffer.alloc(32, 1),
]).toString('base64')} laptop\n`;

/** An unknown key ID: gpucloud does not look up IDs. */
const KEY_ID = '3f0c5d9e-2222-4222-8333-444455556666';

/** Contains one recipe per command, as contract.test.ts requires. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  // Uses --dry-run, since SSH never responds in this sandbox.
  run: {
    argv: [
      ...['--dry-run', ...OFFERED, '--ssh-key', KEY_ID, '--identity', '/dev/null'],
      ...['--terminate-after', '1h', '--', 'nvidia-smi'],
    ],
    local: true,
  },
  'jobs list': { before: [INSTANCE], job: true, list: true, local: true },
  'jobs get': { before: [INSTANCE], job: true, argv: ['trainer'], local: true },
  'jobs logs': { argv: ['trainer'], ends: [3], notJson: 'the output of a command' },
  'jobs attach': { argv: ['trainer'], ends: [3], notJson: 'it follows a command over SSH' },
  'jobs stop': { argv: ['trainer'], ends: [3], notJson: 'it ends a command over SSH' },
  'instances list': { before: [INSTANCE], list: true },
  'instances get': { before: [INSTANCE], argv: ['trainer'] },
  'instances create': { argv: ['trainer', ...HARDWARE] },
  'instances reorder': { before: ENDED, argv: ['trainer', 'again'] },
  'instances start': { before: STOPPED, argv: ['trainer'], named: true },
  'instances stop': { before: [INSTANCE], argv: ['trainer'], named: true },
  'instances terminate': { before: [INSTANCE], argv: ['trainer', '-y'], named: true },
  'instances events': { before: [INSTANCE], argv: ['trainer'], list: true },
  'instances wait': { before: [INSTANCE], argv: ['trainer'], named: true },
  // Uses no instance, since ssh can't connect before the clock advances.
  'instances top': { list: true },
  // Uses --print, since the sandbox's addresses are unreachable.
  'instances ssh': { before: [INSTANCE], argv: ['trainer', '--print'], list: true },
  'instances scp': { before: [INSTANCE], argv: ['--print', 'trainer:log.txt', '.'], list: true },
  'instances tunnel': { before: [INSTANCE], argv: ['trainer', '0:6006', '--print'], list: true },
  'instances ssh-config': { before: [INSTANCE], list: true },
  'instances inventory': { before: [INSTANCE], list: true },
  'instances endpoints': { before: [LAB], argv: ['lab'], list: true },
  'instances secrets': { before: [LAB], argv: ['lab'], list: true },
  'instances open': { before: [LAB], argv: ['lab', 'JupyterLab'] },
  'instances expire': { before: [INSTANCE], argv: ['trainer', '--after', '4h'], named: true },
  'instances reap': { before: [INSTANCE], list: true },
  'instances rescue': { argv: ['trainer', 'results'], ends: [3], notJson: 'it copies over SSH' },
  // Prompts only if an outcome is unknown.
  'instances recover': { before: [INSTANCE], list: true, local: true },
  'instances track': { before: [INSTANCE], argv: ['$INSTANCE'], named: true },
  'instances untrack': { before: [INSTANCE], argv: ['trainer', '-y'], named: true, local: true },
  'catalog list': { before: [INSTANCE], list: true, local: true },
  'catalog add': { argv: ['offer', OFFER, '--name', 'small'], local: true },
  'catalog remove': { before: [INSTANCE], argv: ['RTX 4090', '-y'], local: true },
  'drives list': { before: [DRIVE], list: true },
  'drives get': { before: [DRIVE], argv: ['data'] },
  'drives create': { argv: ['data', '--size', '10'] },
  'drives update': { before: [DRIVE], argv: ['data', '--size', '20'] },
  'drives resume': {
    before: [
      ['sandbox', 'reset', '--balance', '0.01', '-y'],
      ['drives', 'create', 'data', '--size', '10'],
      ['sandbox', 'advance', '2h'],
      ['sandbox', 'deposit', '100'],
    ],
    argv: ['data'],
  },
  'ssh-keys list': { before: [['ssh-keys', 'add', '-']], stdin: PUBLIC_KEY, list: true },
  'ssh-keys get': { before: [['ssh-keys', 'add', '-']], stdin: PUBLIC_KEY, argv: ['laptop'] },
  'ssh-keys add': { guarded: true, argv: ['-'], stdin: PUBLIC_KEY },
  'ssh-keys delete': {
    before: [['ssh-keys', 'add', '-']],
    stdin: PUBLIC_KEY,
    argv: ['laptop', '-y'],
    named: true,
  },
  'api-keys list': { list: true },
  'api-keys create': { argv: ['ci'], once: true },
  'templates list': { list: true },
  'templates get': { argv: ['jupyterlab'] },
  'me get': {},
  'me update': { argv: ['--name', 'Somebody'] },
  'me set-password': {
    guarded: true,
    argv: ['--stdin'],
    stdin: 'sandbox-password\na-new-password\n',
  },
  status: { before: [INSTANCE, DRIVE] },
  audit: { before: [INSTANCE, DRIVE], argv: ['--exact'], list: true },
  'billing balance': {},
  'billing transactions': { list: true },
  'billing spend': { list: true },
  'billing runway': { before: [INSTANCE], argv: ['--fail-below', '24h'] },
  'billing promo': { argv: ['WELCOME500'] },
  'profiles list': { list: true, local: true },
  'profiles get': { before: [PROFILE], argv: ['work'], local: true },
  'profiles use': { before: [PROFILE], argv: ['work'], local: true },
  'profiles add': { argv: ['work', '--base-url', 'https://api.example.com'], local: true },
  'profiles set': { before: [PROFILE], argv: ['work', '--max-instances', '2'], local: true },
  'profiles move': {
    before: [['login', '--profile', 'work', '--key-stdin', '--store', 'file']],
    stdin: '$API_KEY\n',
    argv: ['work', '--to', 'file'],
    local: true,
  },
  'profiles remove': { before: [PROFILE], argv: ['work', '-y'], local: true },
  login: { argv: ['--key-stdin', '--base-url', '$BASE_URL'], stdin: '$API_KEY\n' },
  logout: { before: [PROFILE], argv: ['--profile', 'work'], local: true },
  'sandbox tour': { list: true, local: true, startsItself: true },
  'sandbox catalog': { local: true },
  'sandbox status': { local: true },
  'sandbox advance': { argv: ['2h'], local: true },
  'sandbox deposit': { argv: ['500'], local: true },
  'sandbox fault': { argv: ['fail-start'], local: true },
  'sandbox gpu': { before: [INSTANCE], argv: ['trainer', '80'], local: true },
  'sandbox rogue': { local: true },
  'sandbox reset': { argv: ['-y'], local: true },
  'sandbox serve': {
    notJson:
      'it serves until it is ended; test/e2e and test/commands/sandbox hold it to its one line',
  },
  // doctor reports a refusal by the service as a failed check, not as an error.
  doctor: { ends: [0, 1], local: true },
  api: { argv: ['GET', '/users/me'] },
  commands: { local: true },
  mcp: { notJson: 'it speaks MCP; test/mcp and test/e2e/mcp.test.ts hold it to the protocol' },
  completion: { argv: ['bash'], local: true, notJson: 'it is the script of a shell' },
  help: { local: true, notJson: 'help is text' },
};
