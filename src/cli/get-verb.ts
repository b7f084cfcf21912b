import type { Api } from '../api/index.ts';
import type { View } from '../output/output.ts';
import type { AnyCommand } from './command.ts';
import type { CompletesMap } from './completes.ts';
import type { Frame } from './frame.ts';
import { describe } from './verb.ts';

export interface GetVerb<T> {
  readonly notes?: string;
  readonly examples: readonly [string, ...string[]];
  /** The name of the argument in the help: `drive`. */
  readonly argument: string;
  readonly argumentHelp: string;
  readonly completes?: CompletesMap;
  readonly view: View<T>;
  read(api: Api, typed: string): Promise<T>;
}

/** `get` of one thing by what a person calls it. */
export function registerGetVerb<T>(verb: AnyCommand, frame: Frame, get: GetVerb<T>): void {
  describe(verb, get)
    .argument(`<${get.argument}>`, get.argumentHelp)
    .action(async (typed, _flags, command) => {
      const context = frame.context(command);
      await context.out.item(await get.read(await context.api(), typed), get.view);
    });
}
