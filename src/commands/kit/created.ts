import { CliError, unforeseen } from '../../errors.ts';

/**
 * Writes the result of a command that has made something at the service. Where that fails (a full
 * disk behind stdout, a signal, a fault of ours), the error carries the id, since it may be the only
 * thing that does.
 *
 * @throws CliError of the same kind, with `resource` set to the id.
 */
export async function writeCreated(
  what: string,
  id: string,
  mayBeBilling: boolean,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (thrown) {
    const error = thrown instanceof CliError ? thrown : unforeseen(thrown);
    // What is the matter with the output is told as the end of a sentence.
    const link = error.failure === 'storage' ? ', but' : '.';
    throw new CliError(error.failure, `${what} ${id} was created${link} ${error.message}`, {
      resource: id,
      mayBeBilling,
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
}
