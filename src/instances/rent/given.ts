import { isAbsolute, join } from 'node:path';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { Port, Volume } from '../../rules/container.ts';
import { type Money, moneyFromZero, positiveMoney } from '../../rules/money.ts';
import type { Verdict } from '../../rules/rule.ts';
import { duration, idleTime, moment, pollInterval, positiveDuration } from '../../rules/times.ts';
import type { DeadlineFlags } from '../deadlines/deadline.ts';
import type { CountFlags } from './count.ts';
import { defaultsFor, NO_DEFAULTS, type UsedDefaults } from './defaults.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { isOfJob, isOfVariables, type ManifestFields } from './manifest-schema.ts';

/** Input of `instances create`, before names become IDs. */
export interface CreateFlags extends DeadlineFlags {
  readonly name?: string | undefined;
  /** Offers in the order of attempts. */
  readonly offer?: readonly string[] | undefined;
  /** Milliseconds. */
  readonly retryFor?: number | undefined;
  readonly image?: string | undefined;
  readonly sshKey?: readonly string[] | undefined;
  readonly template?: string | undefined;
  readonly drive?: string | undefined;
  readonly file?: string | undefined;
  readonly maxPrice?: Money | undefined;
  readonly dockerImage?: string | undefined;
  readonly dockerCommand?: string | undefined;
  readonly shmSize?: number | undefined;
  readonly port?: readonly Port[] | undefined;
  readonly env?: readonly string[] | undefined;
  readonly envFile?: readonly string[] | undefined;
  readonly anyEnvKey?: boolean | undefined;
  readonly volume?: readonly Volume[] | undefined;
}

/** Input of `run` for the job itself. Times are in milliseconds. */
export interface JobFlags extends CountFlags {
  readonly command?: readonly string[] | undefined;
  /** For `sh -ec`. */
  readonly setup?: string | undefined;
  readonly setupFile?: readonly string[] | undefined;
  readonly setupAgain?: boolean | undefined;
  readonly sync?: string | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly gitignore?: boolean | undefined;
  /** REMOTE[:LOCAL]. */
  readonly fetch?: readonly string[] | undefined;
  readonly fetchEvery?: number | undefined;
  readonly passEnv?: readonly string[] | undefined;
  readonly here?: boolean | undefined;
  readonly keepOnFailure?: number | undefined;
  readonly grace?: number | undefined;
}

export type FileFlags = CreateFlags & JobFlags;

/** Maps each flag to the file's field for the same value. */
const FIELDS = {
  name: ['name'],
  offer: ['offers'],
  retryFor: ['retry_for'],
  image: ['image_id'],
  sshKey: ['ssh_keys'],
  template: ['template_id'],
  drive: ['storage_drive_id'],
  dockerImage: ['docker_config', 'image'],
  dockerCommand: ['docker_config', 'run_command'],
  shmSize: ['docker_config', 'shm_size_gb'],
  port: ['docker_config', 'ports'],
  env: ['env'],
  envFile: ['env_file'],
  volume: ['docker_config', 'volumes'],
  maxPrice: ['max_price'],
  terminateAfter: ['terminate_after'],
  terminateAt: ['terminate_at'],
  ifIdle: ['if_idle'],
  rescue: ['rescue'],
  rescueBudget: ['rescue_budget'],
  count: ['count'],
  minCount: ['min_count'],
  command: ['command'],
  setup: ['setup'],
  setupFile: ['setup_files'],
  sync: ['sync'],
  exclude: ['exclude'],
  fetch: ['fetch'],
  fetchEvery: ['fetch_every'],
  passEnv: ['pass_env'],
  here: ['here'],
  keepOnFailure: ['keep_on_failure'],
  grace: ['grace'],
} as const satisfies Partial<Record<keyof FileFlags, readonly string[]>>;

type FileFlag = keyof typeof FIELDS;

/** The instance's description: flags win over the file, and the file over the profile's defaults. */
export interface Given {
  readonly flags: FileFlags;
  readonly typed: FileFlags;
  /** The defaults in `flags`. A person may choose other values. */
  readonly defaults: UsedDefaults;
  /** The file's name for messages; undefined without `--file`. */
  readonly file: string | undefined;
  /** Whether a value comes from the file. */
  isOfFile(flag: FileFlag): boolean;
  /** Returns the source of a value, for messages: `--offer`, or `box.yaml, line 2: offer_id`. */
  from(flag: FileFlag, item?: number): string;
  /** Returns a path of this flag, relative to the current folder. */
  path(flag: FileFlag, path: string): string;
}

/** The part of the file that a command uses: `create` the instance, `run --on` the job. */
export type Half = 'instance' | 'job' | 'both';

/** Reads `--file` if given. Flags override its fields one by one. */
export async function withFile(typed: FileFlags, half: Half, context: Context): Promise<Given> {
  const whole = typed.file === undefined ? undefined : await readManifest(typed.file, context);
  const manifest = whole && halfOf(whole, half, typed, context);
  const given = { ...(manifest && definedOf(flagsIn(manifest, typed))), ...definedOf(typed) };
  const defaults = half === 'job' ? NO_DEFAULTS : await defaultsFor(given, context);
  const isOfFile = (flag: FileFlag) => typed[flag] === undefined && given[flag] !== undefined;
  return {
    flags: { ...given, ...defaults.flags },
    typed,
    defaults,
    file: manifest?.file,
    isOfFile,
    from(flag, item) {
      const word = `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      if (Object.hasOwn(defaults.flags, flag)) {
        return `profile "${defaults.profile}", default ${word}`;
      }
      if (typed[flag] !== undefined || manifest === undefined) return word;
      return manifest.at(fieldOf(flag, item, manifest.fields));
    },
    path: (flag, path) =>
      manifest === undefined || !isOfFile(flag) ? path : within(manifest.folder, path),
  };
}

/** Returns the field of a value in the file. */
function fieldOf(
  flag: FileFlag,
  item: number | undefined,
  fields: ManifestFields,
): readonly PropertyKey[] {
  if (flag === 'offer' && fields.offer_id !== undefined) return ['offer_id'];
  if (flag === 'name' && fields.instance_name !== undefined) return ['instance_name'];
  if (item === undefined) return FIELDS[flag];
  if (flag !== 'env') return [...FIELDS[flag], item];
  const { env } = fields;
  return env === undefined
    ? ['docker_config', 'env', item]
    : [...FIELDS.env, ...Object.keys(env).slice(item, item + 1)];
}

function within(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

/** Leaves out the fields of the other half, and names them. */
function halfOf(manifest: Manifest, half: Half, typed: FileFlags, { err }: Context): Manifest {
  const { fields, file } = manifest;
  const hasContainer = (typed.dockerImage ?? fields.docker_config) !== undefined;
  const isUsed = (field: string) => {
    if (half === 'both' || field === '$schema') return true;
    if (isOfVariables(field)) return half === 'job' || hasContainer;
    // --on keeps the instance, and its deadline is known.
    return isOfJob(field) === (half === 'job') && !(half === 'job' && field === 'keep_on_failure');
  };
  const ignored = Object.keys(fields).filter((field) => !isUsed(field));
  if (ignored.length === 0) return manifest;
  err.note(`Ignored fields of ${file}: ${ignored.join(', ')}.`);
  const used = Object.entries(fields).filter(([field]) => isUsed(field));
  return { ...manifest, fields: Object.fromEntries(used) };
}

function definedOf(flags: FileFlags): FileFlags {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/** Fields that can't be combined. */
const EXCLUSIVE = [
  ['instance_name', 'name'],
  ['offers', 'offer_id'],
  ['terminate_at', 'terminate_after'],
] as const;

function flagsIn({ fields, at, folder }: Manifest, typed: FileFlags): FileFlags {
  const { docker_config: container, command } = fields;
  for (const [one, other] of EXCLUSIVE) {
    if (fields[one] === undefined || fields[other] === undefined) continue;
    throw usageError(`${at([one])} can't be combined with ${other}`);
  }
  if (fields.env !== undefined && container?.env !== undefined) {
    throw usageError(`${at(['env'])} can't be combined with docker_config.env`);
  }
  // Deadlines and variables from flags replace those of the file.
  const hasDeadline = typed.terminateAfter !== undefined || typed.terminateAt !== undefined;
  const ports = container?.ports?.map(({ protocol = 'TCP' as const, ...port }) => ({
    ...port,
    protocol,
  }));
  return {
    name: fields.name ?? fields.instance_name,
    offer: fields.offers ?? (fields.offer_id === undefined ? undefined : [fields.offer_id]),
    retryFor: valueIn(fields.retry_for, positiveDuration),
    image: fields.image_id,
    sshKey: fields.ssh_keys,
    template: fields.template_id,
    drive: fields.storage_drive_id,
    dockerImage: container?.image,
    dockerCommand: container?.run_command,
    shmSize: container?.shm_size_gb,
    port: ports,
    env: typed.envFile === undefined ? variablesIn(fields) : undefined,
    envFile: fields.env_file?.map((path) => within(folder, path)),
    volume: container?.volumes,
    terminateAfter: hasDeadline ? undefined : valueIn(fields.terminate_after, positiveDuration),
    terminateAt: hasDeadline ? undefined : valueIn(fields.terminate_at, moment),
    ifIdle: valueIn(fields.if_idle, idleTime),
    rescue: fields.rescue,
    rescueBudget: valueIn(fields.rescue_budget?.toString(), moneyFromZero),
    maxPrice: valueIn(fields.max_price?.toString(), positiveMoney),
    count: fields.count,
    minCount: fields.min_count,
    command: typeof command === 'string' ? ['sh', '-c', command] : command,
    setup: fields.setup,
    setupFile: fields.setup_files?.map((path) => within(folder, path)),
    sync: fields.sync === undefined ? undefined : within(folder, fields.sync),
    exclude: fields.exclude,
    gitignore: fields.gitignore,
    fetch: fields.fetch,
    fetchEvery: valueIn(fields.fetch_every, pollInterval),
    passEnv: fields.pass_env,
    here: fields.here,
    keepOnFailure: valueIn(fields.keep_on_failure, duration),
    grace: valueIn(fields.grace, duration),
  };
}

/** Returns the variables as `--env` has them: a name without a value is copied. */
function variablesIn({ env, docker_config: container }: ManifestFields): string[] | undefined {
  if (env === undefined) return container?.env?.map(({ key, value }) => `${key}=${value}`);
  return Object.entries(env).map(([key, value]) => (value === null ? key : `${key}=${value}`));
}

/** Returns a valid text's value. */
function valueIn<T>(text: string | undefined, rule: (text: string) => Verdict<T>): T | undefined {
  const verdict = text === undefined ? undefined : rule(text);
  return verdict?.ok ? verdict.value : undefined;
}
