import type { CreateInstanceBody, Instance } from '../../../api/index.ts';
import { oneName, ruled } from '../../../cli/parse.ts';
import { action } from '../../../cli/verb.ts';
import type { Context } from '../../../context.ts';
import { CliError } from '../../../errors.ts';
import {
  checkDeadline,
  type DeadlineFlags,
  deadlineField,
  type WantedEnds,
  wantedText,
} from '../../../instances/deadlines/deadline.ts';
import { rentWithin } from '../../../instances/max-price.ts';
import {
  ensureNoPending,
  ensureNotTaken,
  InFlight,
  otherSettled,
} from '../../../instances/pending.ts';
import { nothingCreated, runPreflight } from '../../../instances/preflight.ts';
import {
  keylessWarning,
  type MadeRequest,
  makeRequest,
  missingError,
  missingFlags,
} from '../../../instances/request/body.ts';
import { withRequestFlags } from '../../../instances/request/flags.ts';
import { type Given, withFile } from '../../../instances/request/given.ts';
import { type Chosen, notePrice, warnIfDearer } from '../../../instances/request/hardware.ts';
import { planRental } from '../../../instances/request/planned.ts';
import type { Money } from '../../../rules/money.ts';
import { instanceName } from '../../../rules/names.ts';
import {
  pollIntervalOption,
  statusFor,
  waitStartedOption,
  waitTimeoutOption,
} from '../../../watch/flags.ts';
import { instanceView, plannedView } from '../view.ts';
import { noteRented, showExisting, showObtained, showRented, type Wait } from './rented.ts';

export const create = action({
  view: instanceView,
  completes: {
    name: 'nothing',
    '--name': 'nothing',
    '--port': 'nothing',
    '--docker-image': 'nothing',
    '--docker-command': 'nothing',
  },
  notes:
    'In a terminal, asks for missing values. Flags override --file.\n\n' +
    'The API shows no price before an instance exists. --max-price terminates one that ' +
    'costs more per hour.\n\n' +
    'If an instance has the name, create exits with 5. With --if-not-exists it prints that ' +
    'instance if it has the same offer and image and costs at most --max-price, and exits ' +
    'with 12 if its status is ERROR. It waits for a process that is creating it. ' +
    'If an earlier request with the name is unresolved, create asks, or exits with 7; ' +
    '"instances recover NAME" resolves it. In both cases, --yes creates another.\n\n' +
    'Several --offer are tried in order: the next one after a definite refusal, or after an ' +
    'instance reached ERROR and was terminated. They imply --wait. --retry-for repeats the list, ' +
    'with pauses of 30 seconds to 5 minutes. After an unknown outcome, create exits with 7.',
  examples: [
    'gpucloud instances create',
    'gpucloud instances create trainer --offer ID --image ID --ssh-key laptop',
    'gpucloud instances create lab -f lab.yaml --template jupyterlab --wait',
    'gpucloud instances create web -f web.yaml --docker-image nginx -p 8080:80',
    'gpucloud instances create trainer -f trainer.yaml --max-price 90 --json',
    'gpucloud instances create lab -f lab.yaml --offer A100 --offer H100',
  ],
  takes: (command) =>
    withRequestFlags(
      command
        .argument('[name]', 'instance name', ruled('NAME', instanceName))
        .option('--name <name>', 'same as NAME', ruled('--name', instanceName)),
    )
      .option('--if-not-exists', 'print the instance with that name if it exists')
      .optionsGroup('Waiting:')
      .addOption(waitStartedOption())
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption())
      .optionsGroup('Output:')
      .option('--dry-run', 'print the request without sending it')
      .option('--schema', 'print the JSON Schema of --file'),
  async run(context, name, { wait, waitTimeout, pollInterval, ...typed }) {
    const { dryRun, schema, ifNotExists, ...flags } = typed;
    if (schema === true) return printSchema(context);
    const given = await runPreflight(context, nothingCreated, () =>
      withFile({ ...flags, name: oneName('NAME', name, flags.name) }, context),
    );
    const input = {
      given,
      maxPrice: given.flags.maxPrice,
      ends: given.flags,
      dryRun: dryRun === true,
      ifNotExists: ifNotExists === true,
      until: statusFor(wait) ?? ((given.flags.offer ?? []).length > 1 ? 'ACTIVE' : undefined),
      times: { timeout: waitTimeout, interval: pollInterval },
    };
    try {
      await createPatiently(input, context);
    } catch (error) {
      const taken = nameTakenIn(error);
      if (taken?.resource === undefined) throw error;
      if (!input.ifNotExists) {
        throw taken.with(taken.message, { hint: `return it: --if-not-exists; ${taken.hint}` });
      }
      await showExisting(taken.resource, input, context);
    }
  },
});

/** The error with the ID of the living instance with that name. */
function nameTakenIn(error: unknown): CliError | undefined {
  // A refusal may name another instance, which may be billing.
  const isTaken = error instanceof CliError && error.code === 'name_taken' && !error.mayBeBilling;
  return isTaken ? error : undefined;
}

async function printSchema(context: Context): Promise<void> {
  const { manifestJsonSchema } = await import('../../../instances/request/manifest-json.ts');
  await context.out.text(`${JSON.stringify(manifestJsonSchema(), null, 2)}\n`);
}

interface CreateInput extends Wait {
  readonly given: Given;
  readonly maxPrice: Money | undefined;
  readonly ends: DeadlineFlags;
  readonly dryRun: boolean;
  /** Prints an existing instance with that name. */
  readonly ifNotExists: boolean;
}

/** With `--if-not-exists`, waits for another process that is creating the instance. */
async function createPatiently(input: CreateInput, context: Context): Promise<void> {
  for (;;) {
    try {
      return await createInstance(input, context);
    } catch (error) {
      if (!input.ifNotExists || input.dryRun || !(error instanceof InFlight)) throw error;
      await runPreflight(context, nothingCreated, () => otherSettled(error.requested, context));
    }
  }
}

async function createInstance(input: CreateInput, context: Context): Promise<void> {
  const { until, made } = await runPreflight(context, nothingCreated, () =>
    prepare(input, context),
  );
  await createNow(made, { ...input, until }, context);
}

/** Prepares a request; sends nothing that could rent. */
interface Prepared extends Pick<CreateInput, 'until'> {
  readonly made: MadeRequest;
}

async function prepare(input: CreateInput, context: Context): Promise<Prepared> {
  const { given, until } = input;
  await checkDeadline(input.ends, context);
  const missing = missingFlags(given.flags);
  if (missing.length > 0) return await prepareAsked(missing, input, context);
  await checkPending(input, context);
  const made = await makeRequest(given, context);
  for (const offer of made.offers) notePrice(offer, context);
  const keyless = keylessWarning(made.body);
  if (keyless !== undefined) context.err.warn('no_ssh_key', keyless);
  return { made, until };
}

/** Runs before any lookup. */
async function checkPending(
  { given, ifNotExists, dryRun }: CreateInput,
  context: Context,
): Promise<void> {
  const { name } = given.flags;
  if (name === undefined) return;
  if (ifNotExists && !dryRun) await otherSettled(name, context);
  if (ifNotExists) await ensureNotTaken({ operation: 'create', name }, context);
  await ensureNoPending(name, context);
}

/** Asks for missing values if interactive; then waits for the status too. */
async function prepareAsked(
  missing: readonly string[],
  input: CreateInput,
  context: Context,
): Promise<Prepared> {
  // If stdin is the file, it can't provide answers too.
  const prompts = input.given.flags.file === '-' ? undefined : await context.prompts();
  if (prompts === undefined) {
    // Check the login before missing flags.
    await context.api();
    throw missingError(missing);
  }
  await checkPending(input, context);
  const { askRequest } = await import('../../../instances/wizard/index.ts');
  const until = input.until ?? 'ACTIVE';
  const command = {
    start: (name?: string) => ['instances', 'create', ...(name === undefined ? [] : [name])],
    end: [[until === 'ssh' ? '--wait=ssh' : '--wait']],
  };
  const wish = { ...input, isJob: false, hasIdentity: false, command };
  return { made: await askRequest(wish, prompts, context), until };
}

async function createNow(
  { body, offers }: MadeRequest,
  input: CreateInput,
  context: Context,
): Promise<void> {
  if (input.dryRun) {
    const planned = await planRental(body, input, context);
    const ends = wantedText(input.ends);
    if (ends !== undefined) context.err.note(`It would be terminated ${ends}.`);
    const others = offers.slice(1).map(({ id, known }) => known?.name ?? id);
    if (others.length > 0) context.err.note(`If refused, it would try: ${others.join(', ')}.`);
    return context.out.item({ request: body, ...planned }, plannedView);
  }
  const { retryFor } = input.given.flags;
  const rent = (offer: Chosen) => rentFrom(offer, body, input, context);
  const [only] = offers;
  if (retryFor === undefined && only !== undefined && offers.length === 1) {
    const { created, wanted } = await rent(only);
    return showRented(created, { ...input, ...wanted }, context);
  }
  const { rentFirst } = await import('../../../instances/rental/capacity.ts');
  let wanted: WantedEnds = {};
  const obtained = await rentFirst(
    {
      name: body.instance_name,
      offers,
      retryFor,
      until: input.until,
      times: input.times,
      async rent(offer) {
        const rented = await rent(offer);
        ({ wanted } = rented);
        noteRented(rented.created, wanted, context);
        return rented.created;
      },
    },
    context,
  );
  await showObtained(obtained, wanted, context);
}

/** A deadline counts from the request, which may be hours after the command started. */
async function rentFrom(
  offer: Chosen,
  { offer_id: _first, ...rest }: CreateInstanceBody,
  { ends, maxPrice }: CreateInput,
  context: Context,
): Promise<{ created: Instance; wanted: WantedEnds }> {
  const body = { offer_id: offer.id, ...rest };
  const wanted = await runPreflight(context, nothingCreated, () => deadlineField(ends, context));
  const request = { ...requestOf(body), ...wanted };
  const created = await rentWithin(maxPrice, request, context, (api, options) =>
    api.instances.create(body, options),
  );
  warnIfDearer(created, offer, context);
  return { created, wanted };
}

function requestOf(body: CreateInstanceBody) {
  return { operation: 'create', name: body.instance_name, offer_id: body.offer_id, body } as const;
}
