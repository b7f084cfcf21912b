import { type CliError, usageError } from '../errors.ts';
import { type AnyCommand, nearestOf, setNearest } from './command.ts';

/**
 * Operations that people will look for and that the service's API document does not have: they
 * exit 2, say so and name the nearest thing there is. `help` says the same of them.
 */
export function undocumented(group: AnyCommand, verbs: Readonly<Record<string, string>>): void {
  for (const [name, nearest] of Object.entries(verbs)) {
    const command = group
      .command(name, { hidden: true })
      .argument('[anything...]')
      .allowUnknownOption()
      .helpOption(false);
    setNearest(command, nearest);
    command.action(() => {
      throw notPublished(command, nearest);
    });
  }
}

/** The error of an undocumented operation; undefined for any other command. */
export function undocumentedError(command: AnyCommand): CliError | undefined {
  const nearest = nearestOf(command);
  return nearest === undefined ? undefined : notPublished(command, nearest);
}

function notPublished(command: AnyCommand, nearest: string): CliError {
  const { parent } = command;
  const asked =
    parent === null || parent.parent === null
      ? command.name()
      : `${parent.name()} ${command.name()}`;
  return usageError(`${asked}: not in the published API`, nearest);
}
