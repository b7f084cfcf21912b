import type { CreateInstanceBody, DockerConfig, SshKey } from '../../api/index.ts';
import { DRIVE, idOf, SSH_KEY, TEMPLATE } from '../../command-line/lookup.ts';
import { checked } from '../../command-line/parse.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors.ts';
import { lazy } from '../../lazy.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { environmentKey, portClash } from '../../rules/container.ts';
import { newInstanceName } from '../../rules/names.ts';
import { kept } from '../../rules/rule.ts';
import { namesOfDefaults, noteDefaults } from './defaults.ts';
import { environmentOf } from './environment.ts';
import type { CreateFlags, Given } from './given.ts';
import { type Chosen, findHardware } from './hardware.ts';

/** Required flags, as a usage error names them. */
const NEEDED = { name: 'NAME', offer: '--offer', image: '--image' } as const;

/** Returns the required flags missing on the command line and in the file, such as `--offer`. */
export function missingFlags(flags: CreateFlags): string[] {
  const needed = ['name', 'offer', 'image'] as const;
  return needed.filter((flag) => flags[flag] === undefined).map((flag) => NEEDED[flag]);
}

export function missingError(names: readonly string[], command = 'instances create'): CliError {
  return usageError(
    `${command}: missing ${names.join(', ')}`,
    names.some((name) => name === NEEDED.offer || name === NEEDED.image)
      ? `see the known offers and images: ${gpucloud('catalog', 'list')}`
      : undefined,
  );
}

/** The body of POST /instances, with known facts about its offers. */
export interface MadeRequest {
  readonly body: CreateInstanceBody;
  readonly offer: Chosen;
  /** All offers in the order of attempts; `offer` is the first. */
  readonly offers: readonly Chosen[];
  /** The values that are the profile's defaults. */
  readonly from_profile: string[];
}

/** Chooses the IDs of the SSH keys if neither a flag nor the file does. */
export type ChooseKeys = (keys: readonly SshKey[]) => Promise<readonly string[]>;

/**
 * Builds the body of POST /instances. Checks all local rules and names everything missing before
 * the first request. Reads a list only for names, not for UUIDs, and to choose the SSH keys.
 */
export async function makeRequest(
  given: Given,
  context: Context,
  chooseKeys?: ChooseKeys,
): Promise<MadeRequest> {
  const { flags, from } = given;
  const { name: instance_name, offer: [first, ...others] = [], image: image_id } = flags;
  if (instance_name === undefined || first === undefined || image_id === undefined) {
    throw missingError(missingFlags(flags));
  }
  ensureFilled(given);
  noteDefaults(given.defaults, context);
  const container = await containerOf(given, context);
  checked(from('name'), instance_name, newInstanceName);
  const offer = await findHardware('offer', first, from('offer', 0), context);
  const offers = [offer];
  for (const [at, other] of others.entries()) {
    offers.push(await findHardware('offer', other, from('offer', at + 1), context));
  }
  const image = await findHardware('image', image_id, from('image'), context);
  const body = {
    offer_id: offer.id,
    image_id: image.id,
    instance_name,
    ...(await references(given, context, chooseKeys)),
    ...(container === undefined ? {} : { docker_config: container }),
  };
  return {
    body,
    offer,
    offers: [...new Map(offers.map((one) => [one.id, one])).values()],
    from_profile: namesOfDefaults(given.defaults),
  };
}

/**
 * Warns about a missing SSH key, since none can be added later. An instance with a template or a
 * container may need none.
 */
export function keylessWarning(body: CreateInstanceBody): string | undefined {
  const { ssh_keys = [], template_id, docker_config } = body;
  if (ssh_keys.length > 0 || template_id !== undefined || docker_config !== undefined) {
    return undefined;
  }
  return "No SSH key: you may not be able to log in. You can't add a key later: add one with --ssh-key.";
}

/** Finds every local fault before the first prompt, so that no answer is lost. */
export async function checkGiven(given: Given, context: Context): Promise<void> {
  const { flags } = given;
  ensureFilled(given);
  await containerOf(
    { ...given, flags: { ...flags, dockerImage: flags.dockerImage ?? 'asked-for' } },
    context,
  );
  await references(given, context);
}

function ensureFilled({ flags: { sshKey = [], template, drive }, from }: Given): void {
  for (const [flag, texts] of [
    ['sshKey', sshKey],
    ['template', [template]],
    ['drive', [drive]],
  ] as const) {
    if (texts.includes('')) throw usageError(`${from(flag)} "": must not be empty`);
  }
}

async function references(
  { flags: { sshKey, template, drive }, from }: Given,
  context: Context,
  chooseKeys?: ChooseKeys,
): Promise<Pick<CreateInstanceBody, 'ssh_keys' | 'template_id' | 'storage_drive_id'>> {
  const keys = lazy(async () => (await context.api()).sshKeys.list());
  const templates = { list: async () => (await context.api()).templates.list(), ...TEMPLATE };
  const drives = { list: async () => (await context.api()).drives.list(), ...DRIVE };
  const keyIds: string[] = [];
  for (const [at, key] of (sshKey ?? []).entries()) {
    keyIds.push(await idOf(key, { flag: from('sshKey', at), list: keys, ...SSH_KEY }));
  }
  const others = {
    ...(template && {
      template_id: await idOf(template, { flag: from('template'), ...templates }),
    }),
    ...(drive && { storage_drive_id: await idOf(drive, { flag: from('drive'), ...drives }) }),
  };
  // Last, since it may ask.
  const chosen = sshKey === undefined ? await chooseKeys?.(await keys()) : undefined;
  const ids = [...new Set(chosen ?? keyIds)];
  return { ...(ids.length === 0 ? {} : { ssh_keys: ids }), ...others };
}

/** Container flags. They require an image. */
const PARTS = ['dockerCommand', 'shmSize', 'port', 'env', 'volume'] as const;

/** Builds `docker_config`, or returns undefined if no flag describes a container. */
async function containerOf(
  { flags, from }: Given,
  context: Context,
): Promise<DockerConfig | undefined> {
  const { dockerImage: image, port } = flags;
  const clash = portClash(port ?? []);
  if (clash !== undefined) throw usageError(`${from('port', clash.at)}: ${clash.rule}`);
  const keys = {
    rule: flags.anyEnvKey === true ? kept : environmentKey,
    hint: 'add --any-env-key to send it anyway',
  };
  const env = await environmentOf({ flags, from }, keys, context);
  if (image === undefined) {
    const part = PARTS.find((one) => flags[one] !== undefined);
    if (part === undefined && env.length === 0) return undefined;
    throw usageError(`${from('dockerImage')} is missing: ${from(part ?? 'envFile')} needs it`);
  }
  if (image.trim() === '') throw usageError(`${from('dockerImage')} "": must not be empty`);
  return {
    image,
    ...(flags.dockerCommand === undefined ? {} : { run_command: flags.dockerCommand }),
    ...(flags.shmSize === undefined ? {} : { shm_size_gb: flags.shmSize }),
    ...(port === undefined ? {} : { ports: [...port] }),
    ...(env.length === 0 ? {} : { env }),
    ...(flags.volume === undefined ? {} : { volumes: [...flags.volume] }),
  };
}
