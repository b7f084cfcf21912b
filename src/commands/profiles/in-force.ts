import { type ConfigFile, resolveSettings } from '../../config/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import { profileView, type ShownProfile } from '../../profiles/profile.ts';

/** A profile with whether commands go by it now. */
export interface RankedProfile extends ShownProfile {
  /** Whether a command with the same flags and environment would use it; `current` is what is stored. */
  readonly in_force: boolean;
}

export type InForce =
  /** undefined where none is: there is none, or an address is given that is not the profile's. */
  | { readonly name: string | undefined }
  /** Why every command would be refused. */
  | { readonly refused: CliError };

/** The profile that a command would use, by the same rule as every command (design: Settings). */
export function inForce({ flags, env }: Pick<Context, 'flags' | 'env'>, file: ConfigFile): InForce {
  try {
    return { name: resolveSettings(flags, env, file).settings.profile?.value };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { refused: error };
  }
}

export function ranked(profile: ShownProfile, force: InForce): RankedProfile {
  return { ...profile, in_force: 'name' in force && force.name === profile.name };
}

export const rankedView: View<RankedProfile> = {
  ...profileView,
  columns: [
    ...profileView.columns,
    { id: 'in_force', header: 'IN FORCE', kind: 'yes', value: (p) => p.in_force },
  ],
  sections: [
    ...(profileView.sections ?? []),
    { lines: (p) => [{ label: 'In force', value: p.in_force, kind: 'yes' }] },
  ],
};
