/**
 * Questions to a person. They are only to be had when stdin and stderr are terminals and neither
 * `--no-input` nor `CI` forbids them; see `Context.prompts`.
 *
 * Every method throws CliError('interrupted') when the person leaves with Ctrl-C or Ctrl-D.
 */
export interface Prompts {
  /** A line of text; `check` returns the broken rule, or undefined. */
  text(
    question: string,
    options?: { initial?: string; check?: (text: string) => string | undefined },
  ): Promise<string>;
  /** A line that is not shown. */
  secret(question: string, check?: (text: string) => string | undefined): Promise<string>;
  confirm(question: string, initial: boolean): Promise<boolean>;
  choose<T>(question: string, choices: readonly { name: string; value: T }[]): Promise<T>;
}
