import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { Port, Volume } from '../../rules/container.ts';
import { type Money, positiveMoney } from '../../rules/money.ts';
import type { Verdict } from '../../rules/rule.ts';
import { moment, positiveDuration } from '../../rules/times.ts';
import type { DeadlineFlags } from '../deadlines/deadline.ts';
import { type Manifest, readManifest } from './manifest.ts';

/** Input of `instances create`, before names become IDs. */
export interface CreateFlags extends DeadlineFlags {
  readonly name?: string | undefined;
  readonly offer?: string | undefined;
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

/** The flags, and the fields of a file that mean the same. */
const FIELDS = {
  name: ['instance_name'],
  offer: ['offer_id'],
  image: ['image_id'],
  sshKey: ['ssh_keys'],
  template: ['template_id'],
  drive: ['storage_drive_id'],
  dockerImage: ['docker_config', 'image'],
  dockerCommand: ['docker_config', 'run_command'],
  shmSize: ['docker_config', 'shm_size_gb'],
  port: ['docker_config', 'ports'],
  env: ['docker_config', 'env'],
  volume: ['docker_config', 'volumes'],
} as const satisfies Partial<Record<keyof CreateFlags, readonly string[]>>;

/** What describes the instance: the flags, and the file for what they leave out. */
export interface Given {
  readonly flags: CreateFlags;
  /** The flags as typed. */
  readonly typed: CreateFlags;
  /** Where a value comes from, for messages: `--offer`, or `box.yaml, line 2: offer_id`. */
  from(flag: keyof typeof FIELDS, item?: number): string;
}

/** Reads `--file`, if given. Flags override it, field by field. */
export async function withFile(typed: CreateFlags, context: Context): Promise<Given> {
  const manifest = typed.file === undefined ? undefined : await readManifest(typed.file, context);
  const own = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined));
  return {
    flags: manifest === undefined ? typed : { ...flagsIn(manifest, typed), ...own },
    typed,
    from(flag, item) {
      const isOwn = typed[flag] !== undefined || manifest === undefined;
      const word = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      return isOwn
        ? `--${word}`
        : manifest.at([...FIELDS[flag], ...(item === undefined ? [] : [item])]);
    },
  };
}

function flagsIn({ fields, at }: Manifest, typed: CreateFlags): CreateFlags {
  const { docker_config: container, terminate_after: after, terminate_at: time } = fields;
  if (after !== undefined && time !== undefined) {
    throw usageError(`${at(['terminate_at'])} can't be combined with terminate_after`);
  }
  // One deadline replaces another, and so do variables.
  const hasDeadline = typed.terminateAfter !== undefined || typed.terminateAt !== undefined;
  const env = typed.envFile === undefined ? container?.env : undefined;
  const ports = container?.ports?.map(({ protocol = 'TCP' as const, ...port }) => ({
    ...port,
    protocol,
  }));
  return {
    name: fields.instance_name,
    offer: fields.offer_id,
    image: fields.image_id,
    sshKey: fields.ssh_keys,
    template: fields.template_id,
    drive: fields.storage_drive_id,
    dockerImage: container?.image,
    dockerCommand: container?.run_command,
    shmSize: container?.shm_size_gb,
    port: ports,
    env: env?.map(({ key, value }) => `${key}=${value}`),
    volume: container?.volumes,
    terminateAfter: hasDeadline ? undefined : valueIn(after, positiveDuration),
    terminateAt: hasDeadline ? undefined : valueIn(time, moment),
    maxPrice: valueIn(fields.max_price?.toString(), positiveMoney),
  };
}

/** The value of a text whose rule was checked. */
function valueIn<T>(text: string | undefined, rule: (text: string) => Verdict<T>): T | undefined {
  const verdict = text === undefined ? undefined : rule(text);
  return verdict?.ok ? verdict.value : undefined;
}
