/** The groups whose commands speak to the service of a profile. */
const GROUPS = 'instances|drives|ssh-keys|api-keys|templates|me|billing|catalog|api|doctor|status';

/**
 * Puts a profile that was named by a flag into the commands that a text tells to type, so that they
 * can be pasted: without it they would speak to another account.
 */
export function forProfile(text: string, profile: string | undefined): string {
  return profile === undefined || !/^[\w.-]+$/.test(profile)
    ? text
    : text.replace(
        new RegExp(`\\bgpucloud (?=(?:${GROUPS})\\b)`, 'g'),
        `gpucloud --profile ${profile} `,
      );
}
