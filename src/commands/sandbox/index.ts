import { slug } from '../../catalog/index.ts';
import { confirm } from '../../command-line/confirm.ts';
import type { Group } from '../../command-line/group.ts';
import { checked, oneOf, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { ensureCliError } from '../../errors.ts';
import { commandLines } from '../../output/shell-line.ts';
import { kopecksText, money, roublesText } from '../../rules/money.ts';
import { instanceName } from '../../rules/names.ts';
import { isLoopback } from '../../rules/service.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import { FAULTS } from '../../sandbox/service/faults.ts';
import {
  advanceable,
  depositAmount,
  FAULT_NAMES,
  gpuLoad,
  openingBalance,
  speed,
  stateOption,
} from './flags.ts';
import { serve } from './serve.ts';
import { tour } from './tour.ts';
import {
  type Catalog,
  type CatalogRow,
  catalogRowView,
  catalogView,
  imageView,
  offerView,
  statusView,
  type Typed,
} from './view.ts';

/** Works with any active profile and without a key. */
export const sandbox: Group = {
  verbs: {
    tour: () => tour,
    catalog: verb({
      summary: 'List offers and images, with IDs and prices',
      tool: { allow: 'read' },
      notes: 'The IDs never change. Offers and images of the real service have other IDs.',
      examples: [
        'gpucloud sandbox catalog',
        'gpucloud sandbox catalog --json',
        'gpucloud sandbox catalog -o csv --columns kind,id,name,price_per_hour',
      ],
      takes: (command) => command.addOption(stateOption()),
      run: async (context, { state }) =>
        showCatalog(await (await context.sandbox(state)).catalog(), state, context),
    }),
    status: verb({
      summary: 'Show the time, balance and instances',
      tool: { allow: 'read' },
      examples: ['gpucloud sandbox status', 'gpucloud sandbox status --json'],
      takes: (command) => command.addOption(stateOption()),
      run: async ({ sandbox, out }, { state }) =>
        out.item(await (await sandbox(state)).status(), statusView),
    }),
    advance: verb({
      summary: 'Move the clock forward',
      notes:
        'Simulates the skipped time in order: instances become active, hours are charged, drives are suspended.',
      examples: ['gpucloud sandbox advance 10m', 'gpucloud sandbox advance 24h --json'],
      takes: (command) =>
        command
          .argument(
            '<duration>',
            '30s, 15m, 2h or 3d; at most 366d',
            ruled('DURATION', advanceable),
          )
          .addOption(stateOption()),
      run: async (context, milliseconds, { state }) => {
        const sandbox = await sandboxToChange(state, context);
        const before = await sandbox.status();
        const after = await sandbox.advance(milliseconds);
        // Compares only balances, since reserved funds are part of them.
        const charged = kopecksText(roubles(before.balance).minus(roubles(after.balance)));
        await context.out.item({ ...after, charged }, statusView);
      },
    }),
    deposit: verb({
      summary: 'Add play money to the balance',
      examples: ['gpucloud sandbox deposit 1500', 'gpucloud sandbox deposit 99.90 --json'],
      takes: (command) =>
        command
          .argument(
            '<amount>',
            'amount in roubles, such as 1500 or 99.90',
            ruled('AMOUNT', depositAmount),
          )
          .addOption(stateOption()),
      run: async (context, amount, { state }) => {
        const status = await (await sandboxToChange(state, context)).deposit(amount);
        context.err.note(`Deposited ${roublesText(amount)} of play money.`);
        await context.out.item(status, statusView);
      },
    }),
    fault: verb({
      summary: 'Cause a failure',
      notes: `Each command causes one failure. Repeat the command to cause it again.\n\n${faultLines()}`,
      examples: [
        'gpucloud sandbox fault fail-start',
        'gpucloud sandbox fault slow-provisioning',
        'gpucloud sandbox fault none',
      ],
      takes: (command) =>
        command
          .argument(
            '<name>',
            'failure to cause, from the list above',
            oneOf('NAME', [...FAULT_NAMES, 'none']),
          )
          .addOption(stateOption()),
      run: async (context, fault, { state }) => {
        const sandbox = await sandboxToChange(state, context);
        if (fault === 'none') {
          await sandbox.clearFaults();
          context.err.note('Cancelled all failures.');
        } else {
          await sandbox.inject(fault);
          context.err.note(`Scheduled ${fault}: ${FAULTS[fault]}.`);
        }
        await context.out.item(await sandbox.status(), statusView);
      },
    }),
    gpu: verb({
      summary: 'Set the GPU load of an instance',
      notes:
        'nvidia-smi on the instance prints this load. "auto" simulates load while "gpucloud run" runs a job.',
      examples: ['gpucloud sandbox gpu trainer 80', 'gpucloud sandbox gpu trainer auto'],
      completes: { load: 'nothing' },
      takes: (command) =>
        command
          .argument('<instance>', 'name or ID')
          .argument('<load>', 'percent, or auto', ruled('LOAD', gpuLoad))
          .addOption(stateOption()),
      run: async (context, name, load, { state }) => {
        const sandbox = await sandboxToChange(state, context);
        await sandbox.setLoad(name, load === 'auto' ? undefined : load);
        await context.out.item(await sandbox.status(), statusView);
      },
    }),
    rogue: verb({
      summary: 'Rent an instance that gpucloud does not track',
      notes:
        'Simulates a rental by a teammate or in the web console. "gpucloud audit" finds the instance.',
      examples: [
        'gpucloud sandbox rogue',
        'gpucloud sandbox rogue --state ./test.json',
        'gpucloud sandbox rogue somebodys-box --json',
      ],
      completes: { name: 'nothing' },
      takes: (command) =>
        command
          .argument('[name]', 'instance name (default: rogue)', ruled('NAME', instanceName))
          .addOption(stateOption()),
      run: async (context, name = 'rogue', { state }) => {
        const sandbox = await sandboxToChange(state, context);
        const id = await sandbox.rogue(name);
        context.err.note(`Rented ${name} (${id}). gpucloud does not track it.`);
        await context.out.item(await sandbox.status(), statusView);
      },
    }),
    reset: verb({
      summary: 'Delete all sandbox data',
      notes:
        'Deletes the instances, drives, keys and transactions of the sandbox. Asks first if any exist.',
      examples: [
        'gpucloud sandbox reset',
        'gpucloud sandbox reset --yes --balance 500 --speed 60',
        'gpucloud sandbox reset --state ./test.json --yes',
      ],
      takes: (command) =>
        command
          .option(
            '--balance <roubles>',
            'opening balance (default: 10000.00 and a bonus of 500.00)',
            ruled('--balance', openingBalance),
          )
          .option(
            '--speed <number>',
            'virtual seconds per second; 0 stops the clock (default: 1)',
            ruled('--speed', speed),
          )
          .addOption(stateOption()),
      run: async (context, { state, ...opening }) => {
        const sandbox = await sandboxToChange(state, context);
        const loss = await lossOf(sandbox);
        if (loss !== undefined) await confirm(context, `${loss} Reset the sandbox?`);
        const status = await sandbox.reset(opening);
        context.err.note('Reset the sandbox. The new account has no instances or drives.');
        await context.out.item(status, statusView);
      },
    }),
    serve: () => serve,
    connect: verb({
      isHidden: true,
      summary: 'Serve one SSH connection to an instance over stdin and stdout',
      notes: 'ssh runs this as its ProxyCommand; see "gpucloud instances ssh NAME --print".',
      examples: ['gpucloud sandbox connect ID'],
      takes: (command) => command.argument('<id>', 'instance ID').addOption(stateOption()),
      run: async ({ sandbox, host: { stdin, stdout, platform }, env, signal }, id, { state }) =>
        (await sandbox(state)).connect(id, { stdin, stdout, env, platform, signal }),
    }),
  },
  examples: [
    'gpucloud sandbox tour',
    'gpucloud sandbox catalog',
    'gpucloud sandbox status',
    'gpucloud sandbox advance 10m',
  ],
};

/**
 * Opens the sandbox that a command changes. Without --state, this is the built-in one, even if the
 * active profile uses a served sandbox.
 */
async function sandboxToChange(state: string | undefined, context: Context): Promise<Sandbox> {
  const address = state === undefined ? await loopbackAddress(context) : undefined;
  if (address !== undefined) {
    context.err.warn(
      'settings',
      `This changes the built-in sandbox. If ${address} serves another state file, name it with --state FILE.`,
    );
  }
  return context.sandbox(state);
}

/** Returns the active profile's base URL if it is an address of this computer. */
async function loopbackAddress(context: Context): Promise<string | undefined> {
  try {
    const { baseUrl } = await context.settings({ key: false });
    return baseUrl !== undefined && isLoopback(baseUrl.value) ? baseUrl.value : undefined;
  } catch (error) {
    // The sandbox needs no profile, so a damaged one stops nothing unless --profile names it.
    if (context.flags.profile === undefined) return undefined;
    throw error;
  }
}

function roubles(text: string) {
  return checked('balance', text, money);
}

function faultLines(): string {
  const lines = FAULT_NAMES.map((name): [string, string] => [name, FAULTS[name]]);
  lines.push(['none', 'cancel all pending failures']);
  return lines.map(([name, what]) => `  ${name.padEnd(18)} ${what}`).join('\n');
}

/** Lists what a reset deletes. Returns undefined if nothing of value is lost. */
async function lossOf(sandbox: Sandbox): Promise<string | undefined> {
  try {
    const { instances, drives } = await sandbox.status();
    const names = [...instances, ...drives].map(({ name, status }) => `${name} ${status}`);
    return names.length === 0 ? undefined : `This deletes ${names.join(', ')}.`;
  } catch (error) {
    // A file that is not a sandbox may be the user's own, named by mistake.
    ensureCliError(error);
    return `${error.message}.`;
  }
}

/**
 * Prints two tables for people, a document `{offers, images}` in structured formats, and one list
 * in row formats or with chosen columns.
 */
async function showCatalog(
  catalog: Catalog,
  state: string | undefined,
  context: Context,
): Promise<void> {
  const { out, flags } = context;
  const chosen = flags.columns !== undefined || flags.sort !== undefined;
  if (chosen || ['csv', 'tsv', 'id'].includes(out.format)) {
    const rows: CatalogRow[] = [
      ...catalog.offers.map((offer) => ({ kind: 'offer', ...offer }) as const),
      ...catalog.images.map((image) => ({ kind: 'image', ...image }) as const),
    ];
    await out.list(rows, catalogRowView);
  } else if (out.format === 'table') {
    // Only the profile's own sandbox accepts names: clients of a served sandbox must use IDs.
    const typed: Typed = ({ id, name }) => (state === undefined ? slug(name) : id);
    await out.list(catalog.offers, offerView(typed));
    await out.text('\n');
    await out.list(catalog.images, imageView(typed));
    await noteNext(catalog, state, typed, context);
  } else {
    await out.item(catalog, catalogView);
  }
}

async function noteNext(
  { offers, images }: Catalog,
  state: string | undefined,
  typed: Typed,
  { err, host, sandbox }: Context,
): Promise<void> {
  if (state !== undefined) {
    err.note(`Serve this sandbox with: gpucloud sandbox serve --state ${state}`);
    return;
  }
  const pieces = [
    ['gpucloud', '--profile', 'sandbox', 'instances', 'create', 'my-box'],
    ['--offer', ...offers.flatMap((one) => (one.in_stock ? typed(one) : [])).slice(0, 1)],
    ['--image', ...images.slice(0, 1).map(typed)],
    ['--wait=ssh'],
  ];
  const { counts } = await (await sandbox()).status();
  if (counts.ssh_keys === 0) {
    err.note('Add an SSH key, so that you can log in:');
    err.note('  gpucloud --profile sandbox ssh-keys add');
  }
  err.note('Rent one:');
  for (const line of commandLines(pieces, host.stderr.columns)) err.note(`  ${line}`);
}
