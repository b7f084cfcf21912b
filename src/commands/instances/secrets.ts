import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { findMachine } from '../../instances/resolve.ts';
import type { View } from '../../output/output.ts';
import { fieldOf } from '../../reach/open-data.ts';

export function registerSecrets(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: secretView,
    notes:
      'With KEY, the value alone is printed. These are shown in no other command unless asked for.',
    completes: { key: 'secret' },
    examples: ['gpucloud instances secrets lab', 'gpucloud instances secrets lab JUPYTER_TOKEN'],
  })
    .argument('<instance>', 'id, beginning of an id, or name')
    .argument('[key]', 'the key of one secret')
    .action((instance, key, _flags, command) => secrets(instance, key, frame.context(command)));
}

interface Secret {
  readonly key: string;
  readonly value: unknown;
}

const secretView: View<Secret> = {
  columns: [
    { id: 'key', header: 'KEY', value: (s) => s.key },
    { id: 'value', header: 'VALUE', value: (s) => textOf(s.value) },
  ],
  id: (s) => s.key,
  empty: 'The service tells no secrets for this machine.',
};

/** One secret as the text itself; the document leaves open what a value can be. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export async function secrets(
  typed: string,
  key: string | undefined,
  context: Context,
): Promise<void> {
  const { id } = await findMachine(typed, context);
  const instance = await (await context.api()).instances.get(id);
  const told = instance.connection_info?.secrets;
  if (key === undefined) {
    await context.out.list(rowsOf(told), secretView);
    return;
  }
  const value = fieldOf(told, key);
  if (value === undefined) {
    const known = rowsOf(told).map((row) => row.key);
    throw new CliError('notFound', `KEY "${key}": the machine has no secret of that name.`, {
      resource: key,
      hint:
        known.length === 0 ? 'the service tells no secrets for it' : `it has: ${known.join(', ')}`,
    });
  }
  if (context.out.format === 'table') {
    await context.out.value(textOf(value));
    return;
  }
  await context.out.item({ key, value }, secretView);
}

function rowsOf(told: unknown): Secret[] {
  if (told == null) {
    return [];
  }
  return typeof told === 'object'
    ? Object.entries(told).map(([key, value]) => ({ key, value }))
    : [{ key: 'secret', value: told }];
}
