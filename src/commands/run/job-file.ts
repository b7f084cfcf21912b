import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { CreateFlags, FileFlags, Given, JobFlags } from '../../instances/rent/given.ts';
import { ensureHardware } from '../../instances/rent/hardware.ts';
import { manifestText } from '../../instances/rent/manifest-text.ts';
import { parseFetch } from '../../jobs/files/copy-out.ts';
import type { JobInput } from '../../jobs/job.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/flags.ts';

/** Flags for this run of a job, not for the job: no file has them. */
const OF_THIS_RUN = [
  'anyEnvKey',
  'detach',
  'identity',
  'pollInterval',
  'report',
  'setupAgain',
  'sshArg',
  'sshOption',
  'unenforced',
  'user',
  'waitTimeout',
] as const;

type RunFlags = CreateFlags &
  Omit<JobFlags, 'command'> & {
    readonly [F in (typeof OF_THIS_RUN)[number] | 'on' | 'dryRun']?: unknown;
  };

/** Returns the flags that a job file can have too. */
export function typedFlags(command: readonly string[], given: RunFlags): FileFlags {
  return {
    ...given,
    command: command.length === 0 ? undefined : command,
    // commander sets the flag unless --no-gitignore is given.
    gitignore: given.gitignore === false ? false : undefined,
  };
}

/** Throws a usage error for what works only if the command runs on an instance. */
export function ensureHere({ flags, from, isOfFile }: Given, given: RunFlags): void {
  const here = isOfFile('here') ? 'here' : '--here';
  const field = (['fetchEvery', 'passEnv', 'setup'] as const).find((one) => flags[one]);
  if (field !== undefined) {
    const isSetup = field === 'setup';
    throw usageError(
      `${from(field)} can't be combined with ${here}`,
      isSetup ? 'COMMAND runs on this computer: let it prepare the instances' : undefined,
    );
  }
  const flag = (['on', 'detach', 'sshArg'] as const).find((one) => given[one]);
  if (flag !== undefined)
    throw usageError(`${from('here')} can't be combined with ${wordOf(flag)}`);
}

/** Returns the job of the command line and the file. */
export function jobIn(given: Given): Omit<JobInput, 'how' | 'detach' | 'report_file'> {
  const { command = [], sync, exclude = [], gitignore = true, fetch = [], ...job } = given.flags;
  const { fetchEvery, passEnv = [], keepOnFailure, grace, here, count, minCount } = job;
  return {
    given,
    command,
    sync,
    exclude,
    gitignore,
    fetch: fetch.map((text, at) => {
      const { remote, local } = parseFetch(text, given.from('fetch', at));
      return { remote, local: given.path('fetch', local) };
    }),
    fetchEvery,
    passEnv,
    keepOnFailure,
    grace,
    here: here === true ? { count, minCount } : undefined,
  };
}

/** Prints a job file for `run --init`. */
export async function printJobFile(read: Given, given: RunFlags, context: Context): Promise<void> {
  const { err, out, flags } = context;
  await ensureHardware(read, context);
  const showSecrets = flags.showSecrets === true;
  await out.text(await manifestText(ownFlags(read), { showSecrets }));
  // commander sets these flags to their defaults.
  const usual = new Map<string, unknown>(
    [waitTimeoutOption(), pollIntervalOption()].map((one) => [
      one.attributeName(),
      one.defaultValue,
    ]),
  );
  const others = OF_THIS_RUN.filter((flag) => given[flag] !== usual.get(flag));
  if (others.length > 0) {
    err.note(`Not in the file, so add them to the command: ${others.map(wordOf).join(', ')}`);
  }
  const hidden = (read.flags.env ?? []).filter((line) => line.includes('='));
  if (hidden.length === 0 || showSecrets) return;
  const names = hidden.map((line) => line.slice(0, line.indexOf('=')));
  err.note(`The file has no values for ${names.join(', ')}: set them in the environment.`);
}

/** Leaves out the profile's defaults, since they apply to the new file too. */
function ownFlags(read: Given): FileFlags {
  const own = Object.entries(read.flags).filter(
    ([name]) => !Object.hasOwn(read.defaults.flags, name),
  );
  if (!read.isOfFile('fetch')) return Object.fromEntries(own);
  const fetch = jobIn(read).fetch.map(({ remote, local }) => `${remote}:${local}`);
  return { ...Object.fromEntries(own), fetch };
}

function wordOf(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
