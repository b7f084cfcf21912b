import type {
  Api,
  CreateInstanceBody,
  CreateInstanceFields,
  DockerConfig,
} from '../../api/index.ts';
import { DRIVE, idOf, SSH_KEY, TEMPLATE } from '../../cli/lookup.ts';
import { checked } from '../../cli/parse.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors.ts';
import { lazy } from '../../lazy.ts';
import { instanceName } from '../../rules/names.ts';
import { type ContainerFlags, type ContainerPatch, containerOf } from './container.ts';
import { type Chosen, findHardware } from './hardware.ts';
import { readManifest } from './manifest.ts';

/** Input of `instances create`, before names become IDs. */
export interface CreateFlags extends ContainerFlags {
  readonly name?: string | undefined;
  readonly offer?: string | undefined;
  readonly image?: string | undefined;
  readonly sshKey?: readonly string[] | undefined;
  readonly template?: string | undefined;
  readonly drive?: string | undefined;
  readonly file?: string | undefined;
}

/** Required flags, as a usage error names them, with the fields that fill them. */
const NEEDED = {
  'NAME (or --name)': ['name', 'instance_name'],
  '--offer': ['offer', 'offer_id'],
  '--image': ['image', 'image_id'],
} as const;

/** Reads `--file`; returns nothing without it. */
export async function manifestOf(
  flags: CreateFlags,
  context: Context,
): Promise<CreateInstanceFields> {
  return flags.file === undefined
    ? {}
    : await readManifest(flags.file, flags.anyEnvKey === true, context);
}

/** Required flags that are missing in both the flags and the file: `--offer`. */
export function missingFlags(flags: CreateFlags, manifest: CreateInstanceFields): string[] {
  return Object.entries(NEEDED)
    .filter(([, [flag, field]]) => flags[flag] === undefined && manifest[field] === undefined)
    .map(([name]) => name);
}

export function missingError(names: readonly string[], command = 'instances create'): CliError {
  return usageError(
    `${command}: missing ${names.join(', ')}`,
    'see the known offers and images: gpucloud catalog list',
  );
}

/** The body of POST /instances, with the known facts about its offer. */
export interface MadeRequest {
  readonly body: CreateInstanceBody;
  readonly offer: Chosen;
}

/**
 * Builds the body of POST /instances. Checks all local rules and names everything missing before the
 * first request. Reads the lists that turn names into IDs only for values that are not UUIDs.
 */
export async function makeRequest(
  flags: CreateFlags,
  manifest: CreateInstanceFields,
  context: Context,
): Promise<MadeRequest> {
  const instance_name = flags.name ?? manifest.instance_name;
  const offer_id = flags.offer ?? manifest.offer_id;
  const image_id = flags.image ?? manifest.image_id;
  if (instance_name === undefined || offer_id === undefined || image_id === undefined) {
    throw missingError(missingFlags(flags, manifest));
  }
  const typed = typedReferences(flags, manifest);
  const container = mergeContainer(manifest.docker_config, await containerOf(flags, context));
  checked('--name', instance_name, instanceName);
  const offer = await findHardware('offer', offer_id, context);
  const image = await findHardware('image', image_id, context);
  const body = {
    offer_id: offer.id,
    image_id: image.id,
    instance_name,
    ...(await references(typed, () => context.api())),
    ...(container === undefined ? {} : { docker_config: container }),
  };
  return { body, offer };
}

/** Finds every local fault before the prompts start, so nobody fills in a form for nothing. */
export async function checkGiven(
  flags: CreateFlags,
  manifest: CreateInstanceFields,
  context: Context,
): Promise<void> {
  const typed = typedReferences(flags, manifest);
  if (manifest.instance_name !== undefined && flags.name === undefined) {
    checked('--name', manifest.instance_name, instanceName);
  }
  mergeContainer(
    { image: 'asked-for', ...manifest.docker_config },
    await containerOf(flags, context),
  );
  await references(typed, () => context.api());
}

interface TypedReferences {
  readonly sshKeys: readonly string[];
  readonly template: string | undefined;
  readonly drive: string | undefined;
}

function typedReferences(flags: CreateFlags, manifest: CreateInstanceFields): TypedReferences {
  const typed = {
    sshKeys: flags.sshKey ?? manifest.ssh_keys ?? [],
    template: flags.template ?? manifest.template_id,
    drive: flags.drive ?? manifest.storage_drive_id,
  };
  for (const [flag, texts] of [
    ['--ssh-key', typed.sshKeys],
    ['--template', [typed.template]],
    ['--drive', [typed.drive]],
  ] as const) {
    if (texts.includes('')) {
      throw usageError(`${flag} "": must not be empty`);
    }
  }
  return typed;
}

async function references(
  { sshKeys, template, drive }: TypedReferences,
  api: () => Promise<Api>,
): Promise<Pick<CreateInstanceBody, 'ssh_keys' | 'template_id' | 'storage_drive_id'>> {
  const keys = { flag: '--ssh-key', list: lazy(async () => (await api()).sshKeys.list()) };
  const templates = { flag: '--template', list: async () => (await api()).templates.list() };
  const drives = { flag: '--drive', list: async () => (await api()).drives.list() };
  const keyIds: string[] = [];
  for (const key of sshKeys) keyIds.push(await idOf(key, { ...keys, ...SSH_KEY }));
  return {
    ...(keyIds.length === 0 ? {} : { ssh_keys: [...new Set(keyIds)] }),
    ...(template && { template_id: await idOf(template, { ...templates, ...TEMPLATE }) }),
    ...(drive && { storage_drive_id: await idOf(drive, { ...drives, ...DRIVE }) }),
  };
}

/** Merges flags and file, field by field; flags win. Refuses a container without an image. */
function mergeContainer(
  file: ContainerPatch | undefined,
  flags: ContainerPatch,
): DockerConfig | undefined {
  const { image, ...rest } = { ...file, ...flags };
  if (image === undefined) {
    if (Object.keys(rest).length > 0) {
      throw usageError('--docker-image is missing: the other container flags need it');
    }
    return undefined;
  }
  if (image.trim() === '') {
    throw usageError('--docker-image "": must not be empty');
  }
  return { image, ...rest };
}
