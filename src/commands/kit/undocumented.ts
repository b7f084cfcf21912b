import { usageError } from '../../errors.ts';
import type { AnyCommand } from './command.ts';

/**
 * Operations that people will look for and that the service's API document does not have: they
 * exit 2, say so and name the nearest thing there is.
 */
export function undocumented(group: AnyCommand, verbs: Readonly<Record<string, string>>): void {
  for (const [name, nearest] of Object.entries(verbs)) {
    group
      .command(name, { hidden: true })
      .argument('[anything...]')
      .allowUnknownOption()
      .helpOption(false)
      .action(() => {
        const asked = group.parent === null ? name : `${group.name()} ${name}`;
        throw usageError(`${asked}: not in the published API`, nearest);
      });
  }
}
