import { HARDWARE, OFFER } from '../support/sandbox-ids.ts';

/** Describes how to run a command, for the tests that hold for every command. */
export interface Recipe {
  /** Command lines to run first, in the same new sandbox. */
  readonly before?: readonly (readonly string[])[];
  /** Puts the record of an ended job on the instance beside it. */
  readonly job?: true;
  /** The words after the command itself. */
  readonly argv?: readonly string[];
  readonly stdin?: string;
  /** Marks a command that prints a list: an array in JSON, `[]` when empty. */
  readonly list?: true;
  /** Marks a command that prints an object for one name, and an array for several. */
  readonly named?: true;
  /** Marks a command that needs no service, so no key or network can make it fail. */
  readonly local?: true;
  /** The exit codes of a successful run, unless only 0. */
  readonly ends?: readonly number[];
  /** Marks input that may be secret, so that none of it is repeated, even if it looks like a flag. */
  readonly guarded?: true;
  /** Marks a result that is shown only once, so that a missing reader is a failure. */
  readonly once?: true;
  /** Marks a command whose ssh starts the built program: without that it finds no ssh. */
  readonly startsItself?: true;
  /** The reason why its result is not a JSON document. */
  readonly notJson?: string;
}

const INSTANCE = ['instances', 'create', 'trainer', ...HARDWARE, '--wait'];
const STOPPED = [INSTANCE, ['instances', 'stop', 'trainer', '--wait']];
const ENDED = [INSTANCE, ['instances', 'terminate', 'trainer', '-y', '--wait']];
const LAB = ['instances', 'create', 'lab', ...HARDWARE, '--template', 'jupyterlab', '--wait'];
const DRIVE = ['drives', 'create', 'data', '--size', '10'];
const PROFILE = ['profiles', 'add', 'work', '--base-url', 'https://api.example.com'];

/** A public key that nobody owns: its blob is 32 bytes of ones. */
const PUBLIC_KEY = `ssh-ed25519 ${Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  Buffer.from('ssh-ed25519'),
  Buffer.from([0, 0, 0, 32]),
  Buffer.alloc(32, 1),
]).toString('base64')} laptop\n`;

/** The ID of a key that nobody has: an ID is not looked up. */
const KEY_ID = '3f0c5d9e-2222-4222-8333-444455556666';

/** Has a recipe for every command; a new command without one fails the build. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  // Rents nothing: SSH never answers in the sandbox.
  run: {
    argv: [
      ...['--dry-run', ...HARDWARE, '--ssh-key', KEY_ID, '--identity', '/dev/null'],
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
  // Without a running instance: ssh can't reach one in time, since no time passes here.
  'instances top': { list: true },
  // Prints the ssh command only: the sandbox's addresses lead nowhere.
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
  // Asks nothing if no outcome is unknown.
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
  // A refusal by the service is a finding of doctor, not a failure.
  doctor: { ends: [0, 1], local: true },
  api: { argv: ['GET', '/users/me'] },
  commands: { local: true },
  completion: { argv: ['bash'], local: true, notJson: 'it is the script of a shell' },
  help: { local: true, notJson: 'help is text' },
};
