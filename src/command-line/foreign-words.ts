import { type CliError, usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';

/** gpucloud's command, or two: `me get or drives list`. A word may also need a sentence. */
type Instead = string | Hint;

interface Hint {
  readonly hint: string;
  /** The API has no such operation. */
  readonly isUndocumented?: true;
}

type Words = Readonly<Record<string, Instead>>;

const RESTART: Hint = {
  hint: `use "${gpucloud('instances', 'stop', 'NAME', '--wait')}", then "${gpucloud('instances', 'start', 'NAME')}"`,
  isUndocumented: true,
};
const NO_CATALOG: Hint = {
  hint: `use "${gpucloud('catalog', 'list')}" for known offers and images, or "gpucloud sandbox catalog" for the sandbox`,
  isUndocumented: true,
};
const NO_DRIVE_END: Hint = {
  hint: `to pay less, shrink it with "${gpucloud('drives', 'update', 'DRIVE', '--size', '1')}"; to delete it, use the service's web console or contact its support`,
  isUndocumented: true,
};
const FORGET: Hint = {
  hint: '"gpucloud logout" removes a key from this computer; the key itself keeps working',
  isUndocumented: true,
};

/**
 * Words of docker, kubectl, hcloud, gh, sky, dstack, runpodctl, vast, brev and fly. They are valid
 * after `gpucloud` and after `gpucloud instances`.
 */
const INSTANCE_WORDS: Words = {
  ps: 'instances list',
  pods: 'instances list',
  describe: 'instances get NAME',
  info: 'instances get NAME',
  inspect: 'instances get NAME',
  rent: 'instances create NAME',
  launch: 'instances create NAME',
  up: 'instances create NAME',
  new: 'instances create NAME',
  provision: 'instances create NAME',
  deploy: 'run -f FILE --terminate-after 4h -- COMMAND',
  apply: 'run -f FILE --terminate-after 4h -- COMMAND',
  down: 'instances terminate NAME',
  kill: 'instances terminate NAME',
  destroy: 'instances terminate NAME',
  remove: 'instances terminate NAME',
  pause: 'instances stop NAME',
  shutdown: 'instances stop NAME',
  poweroff: 'instances stop NAME',
  unpause: 'instances start NAME',
  resume: 'instances start NAME',
  poweron: 'instances start NAME',
  autostop: 'instances expire NAME --after 4h',
  reboot: RESTART,
  restart: RESTART,
  rename: {
    hint: `"${gpucloud('instances', 'reorder')}" rents it again under a new name`,
    isUndocumented: true,
  },
  resize: { hint: 'create an instance from another offer', isUndocumented: true },
  logs: 'jobs logs NAME or instances events NAME --follow',
  attach: 'jobs attach NAME',
  queue: 'jobs list',
  cancel: 'jobs stop NAME',
  connect: 'instances ssh NAME',
  shell: 'instances ssh NAME',
  exec: 'instances ssh NAME -- COMMAND',
  execute: 'instances ssh NAME -- COMMAND',
  cp: 'instances scp FILE NAME:',
  copy: 'instances scp FILE NAME:',
  send: 'instances scp FILE NAME:',
  receive: 'instances scp NAME:FILE .',
  rsync: 'instances ssh-config --install',
  'port-forward': 'instances tunnel NAME PORT',
  proxy: 'instances tunnel NAME PORT',
  port: 'instances endpoints NAME',
  stats: 'instances top',
  metrics: 'instances top',
  search: 'catalog list',
  gpus: 'catalog list',
  'show-gpus': 'catalog list',
  price: 'catalog list',
  prices: 'catalog list',
  cost: 'billing spend',
  costs: 'billing spend',
  'cost-report': 'billing spend',
};

/** Words by group. The empty group is gpucloud itself. */
const WORDS: Readonly<Record<string, Words>> = {
  instances: { ...INSTANCE_WORDS, status: 'status', run: 'run --on NAME -- COMMAND' },
  '': {
    ...INSTANCE_WORDS,
    ls: 'instances list',
    list: 'instances list',
    get: 'instances get NAME',
    show: 'instances get NAME',
    create: 'instances create NAME',
    start: 'instances start NAME',
    stop: 'instances stop NAME',
    terminate: 'instances terminate NAME',
    delete: 'instances terminate NAME',
    rm: 'instances terminate NAME',
    ssh: 'instances ssh NAME',
    scp: 'instances scp FILE NAME:',
    tunnel: 'instances tunnel NAME PORT',
    top: 'instances top',
    events: 'instances events NAME --follow',
    wait: 'instances wait NAME',
    open: 'instances open NAME',
    expire: 'instances expire NAME --after 4h',
    reap: 'instances reap',
    recover: 'instances recover',
    track: 'instances track ID',
    machines: 'instances list',
    nodes: 'instances list',
    pod: 'instances list',
    server: 'instances list',
    servers: 'instances list',
    vm: 'instances list',
    vms: 'instances list',
    offers: NO_CATALOG,
    offer: NO_CATALOG,
    images: NO_CATALOG,
    image: NO_CATALOG,
    pricing: 'catalog list',
    volume: 'drives list',
    volumes: 'drives list',
    storage: 'drives list',
    disks: 'drives list',
    balance: 'billing balance',
    spend: 'billing spend',
    runway: 'billing runway',
    promo: 'billing promo CODE',
    transactions: 'billing transactions',
    invoices: 'billing transactions',
    whoami: 'me get',
    account: 'me get',
    user: 'me get',
    config: 'profiles list',
    context: 'profiles list',
    auth: 'login',
    init: 'login',
    check: 'doctor',
    keys: 'ssh-keys list or api-keys list',
    key: 'ssh-keys list or api-keys list',
    version: '--version',
    upgrade: { hint: 'install the new version the same way as the first; your settings are kept' },
  },
  jobs: {
    queue: 'jobs list',
    ps: 'jobs list',
    status: 'jobs list',
    describe: 'jobs get NAME',
    info: 'jobs get NAME',
    inspect: 'jobs get NAME',
    create: 'run -f FILE --terminate-after 4h -- COMMAND',
    run: 'run -f FILE --terminate-after 4h -- COMMAND',
    submit: 'run -f FILE --terminate-after 4h --detach -- COMMAND',
    launch: 'run -f FILE --terminate-after 4h --detach -- COMMAND',
    follow: 'jobs logs NAME --follow',
    tail: 'jobs logs NAME --follow',
    cancel: 'jobs stop NAME',
    kill: 'jobs stop NAME',
    delete: 'jobs stop NAME',
    rm: 'jobs stop NAME',
    terminate: 'jobs stop NAME',
  },
  drives: {
    describe: 'drives get DRIVE',
    info: 'drives get DRIVE',
    inspect: 'drives get DRIVE',
    resize: 'drives update DRIVE --size 1TB',
    rename: 'drives update DRIVE --name NAME',
    delete: NO_DRIVE_END,
    rm: NO_DRIVE_END,
    remove: NO_DRIVE_END,
    destroy: NO_DRIVE_END,
    attach: {
      hint: `attach it when you create an instance: "${gpucloud('instances', 'create', '--drive', 'DRIVE')}"`,
      isUndocumented: true,
    },
    detach: {
      hint: `terminate its instance: "${gpucloud('instances', 'terminate', 'INSTANCE')}"`,
      isUndocumented: true,
    },
  },
  'ssh-keys': {
    describe: 'ssh-keys get KEY',
    remove: 'ssh-keys delete KEY',
    update: {
      hint: `delete the key and add it again: "${gpucloud('ssh-keys', 'delete')}", "${gpucloud('ssh-keys', 'add')}"`,
      isUndocumented: true,
    },
    rename: { hint: 'delete the key and add it again with --name', isUndocumented: true },
  },
  'api-keys': {
    add: 'api-keys create NAME',
    delete: FORGET,
    rm: FORGET,
    revoke: FORGET,
    update: {
      hint: `create another key: "${gpucloud('api-keys', 'create', 'NAME')}"`,
      isUndocumented: true,
    },
    rotate: {
      hint: `create another key and save it: "${gpucloud('api-keys', 'create', 'NAME', '--save-profile', 'PROFILE')}"`,
      isUndocumented: true,
    },
  },
  billing: {
    cost: 'billing spend',
    costs: 'billing spend',
    usage: 'billing spend',
    invoices: 'billing transactions',
    history: 'billing transactions',
    deposit: {
      hint: `top up in the web console; apply a promo code with "${gpucloud('billing', 'promo', 'CODE')}"; top up the sandbox with "gpucloud sandbox deposit"`,
      isUndocumented: true,
    },
  },
  catalog: { search: 'catalog list', prices: 'catalog list', gpus: 'catalog list' },
  profiles: {
    switch: 'profiles use PROFILE',
    create: 'login --profile NAME',
    delete: 'profiles remove PROFILE',
    current: 'profiles list',
    login: 'login',
    logout: 'logout',
  },
};

/** Commands that rent from an offer. */
const RENTING = ['instances create', 'run'];
const SSH = ['instances ssh', 'instances scp', 'instances tunnel'];

interface FlagRow {
  readonly flags: readonly string[];
  /** Commands with this row, by path. Without paths, all. */
  readonly of?: readonly string[];
  readonly hint: string;
}

/** Flags of the same tools. The first row that fits is used. */
const FLAGS: readonly FlagRow[] = [
  {
    flags: [
      ...['--gpu', '--gpus', '--gpu-type', '--gpuType', '--gpu-name', '--gpuCount', '--gpu-count'],
      ...['--accelerators', '--type', '--instance-type', '--machine-type', '--size'],
    ],
    of: RENTING,
    hint: `--offer sets the hardware; list known offers: ${gpucloud('catalog', 'list')}`,
  },
  {
    flags: ['--region', '--location', '--zone', '--datacenter', '--country', '--cloud', '--infra'],
    of: RENTING,
    hint: `an offer includes its region; list known offers: ${gpucloud('catalog', 'list')}`,
  },
  {
    flags: ['--key', '--keys', '--ssh-keys', '--public-key', '--ssh-key-name'],
    of: RENTING,
    hint: `--ssh-key sets an SSH key of the account; list them: ${gpucloud('ssh-keys', 'list')}`,
  },
  {
    flags: ['--key', '--private-key', '--ssh-key', '--key-file', '--identity-file'],
    of: [...SSH, 'instances top', 'instances inventory', 'jobs logs', 'jobs attach', 'jobs stop'],
    hint: '--identity FILE sets a private key file',
  },
  {
    flags: ['--disk', '--disk-size', '--volume-size', '--containerDiskSize', '--storage'],
    of: RENTING,
    hint: `an offer includes its disk. --drive attaches a cloud drive; create one: ${gpucloud('drives', 'create', 'NAME', '--size', '500GB')}`,
  },
  {
    flags: ['--spot', '--use-spot', '--interruptible', '--preemptible', '--bid', '--bid_price'],
    of: RENTING,
    hint: 'the API has no spot instances; --max-price RUB limits the price per hour',
  },
  {
    flags: ['--price', '--max-cost', '--budget'],
    of: RENTING,
    hint: '--max-price RUB limits the price per hour, and --terminate-after the hours',
  },
  {
    flags: ['--rm', '--down'],
    of: ['run'],
    hint: 'run always terminates the instance it rents. Leave this flag out',
  },
  {
    flags: ['--rm', '--down'],
    of: ['instances create'],
    hint: `--terminate-after 4h terminates the instance; or run a command and terminate: ${gpucloud('run', '-f', 'FILE', '--terminate-after', '4h', '--', 'COMMAND')}`,
  },
  {
    flags: ['--ttl', '--max-duration', '--max-lifetime', '--lifetime', '--expires', '--auto-stop'],
    of: [...RENTING, 'instances reorder'],
    hint: '--terminate-after 4h terminates the instance at a deadline',
  },
  {
    flags: ['--idle-minutes', '--idle-minutes-to-autostop', '--autostop', '--idle-timeout'],
    of: [...RENTING, 'instances reorder'],
    hint: '--if-idle 45m terminates the instance after this time without work',
  },
  {
    flags: ['--workdir', '-w', '--cwd', '--working-dir'],
    of: ['run'],
    hint: '--sync FOLDER copies a folder, and COMMAND runs in its copy',
  },
  {
    flags: ['-d', '--detach', '--detach-run', '--async'],
    of: ['instances create'],
    hint: 'create returns without waiting unless --wait is given. Leave this flag out',
  },
  {
    flags: ['--nodes', '--num-nodes', '--replicas', '-n'],
    of: RENTING,
    hint: '--count 4 rents several instances',
  },
  {
    flags: ['-c', '--cmd', '--command', '--args'],
    of: ['run', 'instances ssh'],
    hint: 'write the command after --, for example: -- python train.py',
  },
  {
    flags: ['-t', '--tty', '--interactive'],
    of: ['run'],
    hint: `COMMAND of run has no terminal; open a shell: ${gpucloud('instances', 'ssh', 'NAME')}`,
  },
  {
    flags: ['-a', '--all'],
    of: ['instances start', 'instances stop'],
    hint: `name the instances: ${gpucloud('instances', 'list')}`,
  },
  {
    flags: ['-a', '--all'],
    of: ['jobs list', 'drives list', 'ssh-keys list', 'api-keys list', 'profiles list'],
    hint: 'this command already lists everything. Leave this flag out',
  },
  {
    flags: ['-n', '--lines'],
    of: ['jobs logs'],
    hint: '--tail 20 prints only the last lines',
  },
  {
    flags: ['-f'],
    of: ['instances terminate', 'ssh-keys delete', 'profiles remove'],
    hint: '--yes answers the question',
  },
  {
    flags: ['--force', '--assume-yes', '--no-prompt', '--skip-confirmation'],
    hint: '--yes answers every question',
  },
  {
    flags: ['--format', '--output-format'],
    hint: '-o FORMAT sets the format: table, json, jsonl, csv, tsv, yaml or id',
  },
  {
    flags: ['--limit', '-L', '--max-results', '--per-page'],
    hint: '--query "[:10]" keeps the first rows, as JSON',
  },
  {
    flags: ['-it', '-ti'],
    hint: `open a shell: ${gpucloud('instances', 'ssh', 'NAME')}; with a command, add -t for a terminal`,
  },
  { flags: ['-v'], of: [''], hint: 'use "gpucloud --version"' },
  { flags: ['-v', '--verbose'], hint: '--debug prints requests and responses' },
  {
    flags: ['--context', '--project', '--account', '--org', '--team', '--namespace'],
    hint: `--profile NAME selects an account; list the profiles: ${gpucloud('profiles', 'list')}`,
  },
  {
    flags: ['--api-key', '--apiKey', '--apikey', '--token', '--access-token'],
    hint: `other programs can read arguments: use ${gpucloud('login')}, or set GPUCLOUD_API_KEY`,
  },
];

/** The tables, for the tests of their rows. */
export const TABLES = { words: WORDS, flags: FLAGS };

/** Builds the error for another tool's word in a group; undefined for any other word. */
export function foreignWord(group: string, word: string): CliError | undefined {
  const words = WORDS[group] ?? {};
  const instead = Object.hasOwn(words, word) ? words[word] : undefined;
  if (instead === undefined) return undefined;
  const typed = group === '' ? word : `${group} ${word}`;
  const { hint, isUndocumented = false } =
    typeof instead === 'string' ? { hint: `use ${quoted(instead)}` } : instead;
  return usageError(
    isUndocumented ? `${typed}: the API does not support this` : `unknown command '${typed}'`,
    hint,
  );
}

function quoted(commands: string): string {
  const each = commands.split(' or ').map((command) =>
    // `--version` needs no profile.
    command.startsWith('-') ? `gpucloud ${command}` : gpucloud(...command.split(' ')),
  );
  return each.map((command) => `"${command}"`).join(' or ');
}

/** Returns what to type instead of another tool's flag; undefined for any other flag. */
export function foreignFlag(command: string, flag: string): string | undefined {
  const row = FLAGS.find(
    ({ flags, of }) => flags.includes(flag) && (of === undefined || of.includes(command)),
  );
  return row?.hint;
}

/**
 * Verbs and their aliases that rent, charge or terminate. A misspelt word never suggests one of
 * them: who pastes the suggestion should have meant it.
 */
const COSTLY = new Set([
  ...['create', 'reorder', 'start', 'run', 'resume', 'deposit', 'promo'],
  ...['terminate', 'rm', 'delete', 'reap', 'expire', 'stop', 'attach', 'remove', 'reset'],
]);

/** Returns commander's suggestions for a misspelt word, without those that cost something. */
export function harmless(suggestions: readonly string[]): string[] {
  return suggestions.filter((word) => !COSTLY.has(word));
}
