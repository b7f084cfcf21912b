import { CliError } from '../../errors.ts';

/**
 * Writes the result of a command that has made something at the service. Where it can't be written
 * (a full disk behind stdout), the error carries the id, since it may be the only thing that does.
 *
 * @throws CliError('storage') with `resource` set to the id.
 */
export async function writeCreated(
  what: string,
  id: string,
  mayBeBilling: boolean,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
    throw new CliError('storage', `${what} ${id} was created, but ${error.message}`, {
      resource: id,
      mayBeBilling,
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
}
