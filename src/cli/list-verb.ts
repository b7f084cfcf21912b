import type { Api } from '../api/index.ts';
import type { View } from '../output/output.ts';
import type { AnyCommand } from './command.ts';
import type { Frame } from './frame.ts';
import { describe } from './verb.ts';

export interface ListVerb<T> {
  readonly notes?: string;
  readonly examples: readonly [string, ...string[]];
  readonly view: View<T>;
  read(api: Api): Promise<readonly T[]>;
}

/** `list` of a resource that the service lists whole. */
export function registerListVerb<T>(verb: AnyCommand, frame: Frame, list: ListVerb<T>): void {
  describe(verb, list).action(async (_flags, command) => {
    const context = frame.context(command);
    await context.out.list(await list.read(await context.api()), list.view);
  });
}
