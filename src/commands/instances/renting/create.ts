import { brokenRule, oneName, ruled } from '../../../command-line/parse.ts';
import { verb } from '../../../command-line/verb.ts';
import type { Context } from '../../../context.ts';
import type { CheckedEnds, WantedEnds } from '../../../instances/deadlines/deadline.ts';
import { type MadeRequest, missingFlags } from '../../../instances/rent/body.ts';
import { obtain } from '../../../instances/rent/capacity.ts';
import {
  checkCount,
  countOption,
  minCountOption,
  numberedNames,
} from '../../../instances/rent/count.ts';
import { withRequestFlags } from '../../../instances/rent/flags.ts';
import { type Given, withFile } from '../../../instances/rent/given.ts';
import { manifestSchemaText } from '../../../instances/rent/manifest-json.ts';
import { planRental } from '../../../instances/rent/planned.ts';
import { nothingCreated, runPreflight } from '../../../instances/rent/preflight.ts';
import { withRescue } from '../../../jobs/rescue/wanted.ts';
import { newInstanceName } from '../../../rules/names.ts';
import {
  pollIntervalOption,
  statusFor,
  waitStartedOption,
  waitTimeoutOption,
} from '../../../watch/flags.ts';
import { instanceView, plannedView } from '../view.ts';
import { createSeveral } from './create-several.ts';
import {
  anotherOffer,
  type CreateInput,
  createOrUse,
  notePlan,
  prepare,
  rentFrom,
} from './prepare.ts';
import { noteRented, showExisting, showObtained } from './rented.ts';

/** Parses NAME. `--offer RTX 4090` without quotes makes 4090 the name. */
function nameArgument(text: string): string {
  const verdict = newInstanceName(text);
  if (verdict.ok) return verdict.value;
  const hint = /^\d/.test(text)
    ? "a value with a space needs quotes: --offer 'RTX 4090'"
    : undefined;
  throw brokenRule('NAME', text, verdict.rule, hint);
}

export const create = verb({
  summary: 'Rent an instance',
  ensuresNeeded: true,
  tool: { allow: 'all', without: ['--name'] },
  view: instanceView,
  completes: {
    name: 'nothing',
    '--name': 'nothing',
    '--port': 'nothing',
    '--count': 'nothing',
    '--min-count': 'nothing',
    '--docker-image': 'nothing',
    '--docker-command': 'nothing',
  },
  notes:
    'In a terminal, asks for missing values. Flags override --file, and --file overrides the defaults ' +
    'of the profile. From a job file for "run", create uses only the fields of the instance.\n\n' +
    "Without --ssh-key, uses the profile's or the account's default SSH key, or its only one. With several and no " +
    'default, create asks; when not interactive it warns, and with --wait=ssh exits with 2.\n\n' +
    "The API doesn't show a price before an instance exists. --max-price terminates an instance that " +
    'costs more per hour.\n\n' +
    'If an instance with this name exists, create exits with 5. With --if-not-exists it prints that ' +
    'instance if it has the same offer and image and costs at most --max-price, and exits ' +
    "with 12 if the instance's status is ERROR. If another process is creating the instance, create " +
    'waits for it. ' +
    'If an earlier request with this name is unresolved, create asks before retrying. When not ' +
    'interactive, it exits with 7. "instances recover NAME" resolves the earlier request. --yes ' +
    'creates another instance in both cases.\n\n' +
    'Repeat --offer to list fallbacks. create tries them in order. If the ' +
    'service refuses one, or its instance reaches ERROR and is terminated, create tries the next. ' +
    'This implies --wait. --retry-for repeats the list, ' +
    'with pauses of 30 seconds to 5 minutes. After an unknown outcome, create exits with 7.\n\n' +
    '--count N creates NAME-1 to NAME-N in parallel, and prints an array, even for N = 1. Checks all ' +
    'names and guards before sending a request. If one request fails, the others continue; ' +
    'the exit code is the most serious one. With --min-count M, if fewer than M instances are ' +
    'rented and reach the status of --wait, create terminates them and confirms their status. An ' +
    'unknown outcome does not count and exits with 7; create never terminates an instance by name ' +
    "alone. Ctrl-C stops sending requests, but doesn't terminate instances.",
  examples: [
    'gpucloud instances create',
    'gpucloud instances create trainer --offer ID --image ID --wait=ssh',
    'gpucloud instances create lab -f lab.yaml --template jupyterlab --wait',
    'gpucloud instances create web -f web.yaml --docker-image nginx -p 8080:80',
    'gpucloud instances create trainer -f trainer.yaml --max-price 90 --json',
    "gpucloud instances create -f lab.yaml --offer 'A100 80GB' --offer 'RTX 4090'",
    'gpucloud instances create gpu -f gpu.yaml --count 4 --min-count 3 --wait=ssh',
  ],
  takes: (command) =>
    withRequestFlags(
      command
        .argument('[name]', 'instance name', nameArgument)
        .option('--name <name>', 'same as NAME', ruled('--name', newInstanceName)),
    )
      .addOption(countOption())
      .addOption(minCountOption())
      .option('--if-not-exists', 'print the instance with that name if it exists')
      .optionsGroup('Waiting:')
      .addOption(waitStartedOption())
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption())
      .optionsGroup('Output:')
      .option('--dry-run', 'print the request without sending it')
      .option('--schema', 'print the JSON Schema of --file'),
  async run(context, name, { wait, waitTimeout, pollInterval, ...typed }, { ensureNeeded }) {
    const { dryRun, schema, ifNotExists, ...flags } = typed;
    if (schema === true) return context.out.text(manifestSchemaText());
    const given = await runPreflight(context, nothingCreated, () =>
      withFile({ ...flags, name: oneName('NAME', name, flags.name) }, 'instance', context),
    );
    const { count, minCount, offer = [] } = given.flags;
    const until = statusFor(wait) ?? (offer.length > 1 ? 'ACTIVE' : undefined);
    // After questions it waits, too.
    if (until === undefined && missingFlags(given.flags).length === 0) ensureNeeded();
    checkCount(given);
    const ends = await runPreflight(context, nothingCreated, () => rescueOf(given, context));
    const input = {
      given,
      count,
      minCount,
      maxPrice: given.flags.maxPrice,
      ends,
      dryRun: dryRun === true,
      ifNotExists: ifNotExists === true,
      until,
      times: { timeout: waitTimeout, interval: pollInterval },
    };
    if (count !== undefined) {
      return createSeveral({ ...input, count }, context);
    }
    const rent = () => createInstance(input, context);
    await createOrUse(input, context, rent, (id) => showExisting(id, input, context));
  },
});

/** Adds the checked paths of `--rescue`. */
function rescueOf({ flags, from, path }: Given, context: Context): Promise<CheckedEnds> {
  // A name that is asked for is not known yet.
  const { name = 'new-instance', count } = flags;
  const names = count === undefined ? [name] : numberedNames(name, count);
  const source = {
    from: (item: number) => from('rescue', item),
    path: (local: string) => path('rescue', local),
  };
  return withRescue(flags, names, context, source);
}

/** Creates an instance. A person may choose other offers until one is rented. */
async function createInstance(input: CreateInput, context: Context): Promise<void> {
  const prepared = await runPreflight(context, nothingCreated, () => prepare(input, context));
  const { until, ends } = prepared;
  let { made } = prepared;
  for (;;) {
    try {
      return await createNow(made, { ...input, until, ends }, context);
    } catch (error) {
      made = await anotherOffer(error, made, context);
    }
  }
}

async function createNow(
  { body, offers, from_profile }: MadeRequest,
  input: CreateInput,
  context: Context,
): Promise<void> {
  if (input.dryRun) {
    const planned = await planRental(body, input, context);
    notePlan(planned, offers, { ...input, count: 1 }, context);
    return context.out.item({ request: body, ...planned, from_profile }, plannedView);
  }
  let wanted: WantedEnds = {};
  const { retryFor } = input.given.flags;
  const { until, times } = input;
  const obtained = await obtain(
    {
      name: body.instance_name,
      offers,
      retryFor,
      until,
      times,
      async rent(offer) {
        const rented = await rentFrom(offer, body, input, context);
        ({ wanted } = rented);
        noteRented(rented.created, wanted, context);
        return rented.created;
      },
    },
    context,
  );
  await showObtained(obtained, wanted, context);
}
