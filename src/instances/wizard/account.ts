import type { Drive, SshKey } from '../../api/index.ts';
import type { Named } from '../../cli/lookup.ts';
import { CliError } from '../../errors.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { hourlyText } from './money-text.ts';
import type { Answer } from './step.ts';

/** Which keys open the machine; the account's default key is taken at first, and an only one. */
export async function askKeys(
  keys: readonly SshKey[],
  before: Answer | undefined,
  prompts: Prompts,
): Promise<Answer> {
  if (keys.length === 0) {
    prompts.tell('The account has no SSH key, and without one nobody can log in by SSH.');
    if (!(await prompts.confirm('Go on without a key?', false))) {
      throw new CliError('interrupted', 'Left to add a key first.', {
        hint: 'gpucloud ssh-keys add',
      });
    }
    return { flags: { sshKey: [] }, shown: 'none' };
  }
  const chosen = await prompts.chooseSeveral(
    'SSH keys',
    keys.map((key) => ({
      name: titleOf(key.name, key.id),
      about: [key.is_default === true ? 'default' : '', key.fingerprint ?? ''],
      value: key,
      checked:
        before === undefined
          ? key.is_default === true || keys.length === 1
          : before.flags.sshKey?.includes(key.id) === true,
    })),
  );
  return {
    flags: { sshKey: chosen.map(({ id }) => id) },
    spoken: { sshKey: chosen.map((key) => typedName(key, keys)) },
    shown:
      chosen.length === 0 ? 'none' : chosen.map(({ name, id }) => titleOf(name, id)).join(', '),
  };
}

/** A drive can be mounted while it is AVAILABLE and no machine has it (API document: DriveStatus). */
export function isFree({ status, current_instance_id }: Drive): boolean {
  return status === 'AVAILABLE' && current_instance_id == null;
}

/** Which of the free drives is mounted, if any. */
export async function askDrive(
  drives: readonly Drive[],
  before: Answer | undefined,
  prompts: Prompts,
): Promise<Answer | undefined> {
  const free = drives.filter(isFree);
  if (free.length === 0) return undefined;
  const choices: Choice<Drive | undefined>[] = [
    { name: 'None', value: undefined },
    ...free.map((drive) => ({
      name: titleOf(drive.name, drive.id),
      about: [
        drive.size_gb == null ? '' : `${drive.size_gb} GB`,
        hourlyText(drive.price_per_hour) ?? '',
      ],
      value: drive,
    })),
  ];
  const initial = choices.findIndex(({ value }) => value?.id === before?.flags.drive);
  const drive = await prompts.choose('Cloud drive', choices, { initial: Math.max(0, initial) });
  return drive === undefined
    ? { flags: {}, shown: 'none' }
    : {
        flags: { drive: drive.id },
        spoken: { drive: typedName(drive, drives) },
        shown: titleOf(drive.name, drive.id),
      };
}

/** As much as anybody types of a name. */
const TYPED = 64;

/** The name where it means this very thing, which is a pleasure to read; else the id. */
export function typedName(
  thing: Named,
  all: readonly Named[],
  name: string | null | undefined = thing.name,
): string {
  const same = all.filter((other) => other.name === name || other.id === name);
  return name && name.length <= TYPED && same.length <= 1 ? name : thing.id;
}
