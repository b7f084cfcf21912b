import type { NameKind } from '../completion/tree.ts';
import type { CliError, Failure } from '../errors.ts';
import type { View } from '../output/output.ts';

/**
 * What an argument or the value of a flag is completed with: names that were seen, files, some
 * words, or `nothing` where only the user knows.
 */
export type Completes =
  | NameKind
  | 'terminated-instance'
  /** Offers and images. */
  | 'catalog'
  | 'file'
  /** A file, or a path on a machine. */
  | 'path'
  /** The words of a command, or one of these topics. */
  | { readonly topics: readonly string[] }
  | 'nothing'
  | readonly string[]
  /** Words with commas between them. */
  | { readonly list: readonly string[] };

/** By the name of an argument (`name`) or of a flag (`--for`). */
type CompletesMap = Readonly<Record<string, Completes>>;

/** What the frame knows of a command beside what commander does. */
export interface About {
  /** How the result looks, for `--columns`, `--sort`, help and completion. */
  view?: View<unknown>;
  /** What arguments and flags are completed with, beyond what their names say. */
  completes?: CompletesMap;
  /**
   * After how many arguments all words are another command's, as in `ssh HOST command`. Flags that
   * are spelled like ours are then left alone.
   */
  ownWords?: number;
  /** More to know, printed under the summary. */
  notes?: string;
  examples?: readonly string[];
  /** The last lines of its help, if it has lines of its own. */
  foot?: string;
  /** Ways in which it can end that nothing else about it shows. */
  ends?: readonly Failure[];
  /** The program whose exit code becomes its own: `ssh`. */
  passesOn?: string;
  /** Global flags that it refuses: `--columns`. */
  refuses?: readonly string[];
  /** The error of a word that is no command, with what to type instead. */
  refusal?: () => CliError;
  /** It needs no service, and nothing below it does. */
  local?: boolean;
}
