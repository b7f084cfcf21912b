import { profileOf } from '../../config/file.ts';
import type { Context } from '../../context.ts';
import { shellLine } from '../../output/shell-line.ts';

/** The flags that a profile may have defaults for. */
interface DefaultFlags {
  readonly offer?: readonly string[] | undefined;
  readonly image?: string | undefined;
  readonly sshKey?: readonly string[] | undefined;
}

/** The active profile's defaults that a request uses. */
export interface UsedDefaults {
  /** undefined if no profile is active. */
  readonly profile: string | undefined;
  readonly flags: DefaultFlags;
}

/** For commands that rent nothing. */
export const NO_DEFAULTS: UsedDefaults = { profile: undefined, flags: {} };

/** Returns the active profile's defaults for values that neither a flag nor the file has. */
export async function defaultsFor(flags: DefaultFlags, context: Context): Promise<UsedDefaults> {
  const { profile, sandbox } = await context.settings({ key: false });
  if (profile === undefined || sandbox) return NO_DEFAULTS;
  const stored = profileOf(await (await context.config()).read(), profile.value);
  const { offer, image, ssh_key } = stored?.defaults ?? {};
  return {
    profile: profile.value,
    flags: {
      ...(offer !== undefined && flags.offer === undefined && { offer: [offer] }),
      ...(image !== undefined && flags.image === undefined && { image }),
      ...(ssh_key !== undefined && flags.sshKey === undefined && { sshKey: [ssh_key] }),
    },
  };
}

/** Returns the fields of a profile's defaults, as `profiles get` shows them. */
export function namesOfDefaults({ flags: { offer, image, sshKey } }: UsedDefaults): string[] {
  const used = { offer, image, ssh_key: sshKey };
  return Object.entries(used).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

/** Prints the defaults that a request uses, as flags. */
export function noteDefaults({ profile, flags }: UsedDefaults, { err }: Context): void {
  const { offer = [], image, sshKey = [] } = flags;
  const words = [
    ...offer.map((value) => ['--offer', value]),
    ...(image === undefined ? [] : [['--image', image]]),
    ...sshKey.map((value) => ['--ssh-key', value]),
  ];
  if (words.length === 0) return;
  err.note(`Defaults of the profile "${profile}": ${shellLine(words.flat())}`);
}
