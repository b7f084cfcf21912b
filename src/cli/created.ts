import { CliError, unforeseen } from '../errors.ts';

interface Created {
  /** As "The machine". */
  readonly what: string;
  readonly id: string;
  /** How to end what it costs, where that can be done. */
  readonly remedy?: string;
}

/**
 * Writes the result of a command that has made something at the service, which costs money from then
 * on. Where that fails (a full disk behind stdout, a signal, a fault of ours), the error carries the
 * id, since it may be the only thing that does.
 *
 * @throws CliError of the same kind, with `resource` set to the id.
 */
export async function writeCreated(
  { what, id, remedy }: Created,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (thrown) {
    const error = thrown instanceof CliError ? thrown : unforeseen(thrown);
    // What is the matter with the output is told as the end of a sentence.
    const link = error.failure === 'storage' ? ', but' : '.';
    const hint = error.hint ?? remedy;
    throw error.with(`${what} ${id} was created${link} ${error.message}`, {
      resource: id,
      mayBeBilling: true,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
