import { fieldOf } from '../../../api/open-fields.ts';
import { verb } from '../../../command-line/verb.ts';
import { CliError } from '../../../errors.ts';
import { instanceIn, readInstance } from '../../../instances/read.ts';
import { findInstance } from '../../../instances/resolve.ts';
import type { Secret } from '../../../json-results/instances.ts';
import { field, type View } from '../../../output/output.ts';

const secretView: View<Secret> = {
  columns: [
    field('key', 'KEY'),
    { id: 'value', header: 'VALUE', whole: true, value: (s) => secretText(s.value) },
  ],
  id: (s) => s.key,
  empty: 'The service returned no secrets for this instance.',
};

export const secrets = verb({
  summary: 'Show generated passwords and tokens',
  view: secretView,
  notes: 'With KEY, prints only that value. Other commands mask these secrets.',
  completes: { key: 'nothing' },
  examples: ['gpucloud instances secrets lab', 'gpucloud instances secrets lab JUPYTER_TOKEN'],
  takes: (command) =>
    command.argument('<instance>', 'name or ID').argument('[key]', 'secret to print'),
  run: async (context, typed, key) => {
    const { id } = await findInstance(typed, context);
    const instance = instanceIn(await readInstance(id, await context.api()));
    const all = instance.connection_info?.secrets;
    if (key === undefined) return context.out.list(rowsOf(all), secretView);
    const value = fieldOf(all, key);
    if (value === undefined) throw unknownKey(key, rowsOf(all));
    if (context.out.format === 'table') return context.out.exact(`${secretText(value)}\n`);
    await context.out.item({ key, value }, secretView);
  },
});

/** Formats a secret as plain text, since the document does not define its type. */
function secretText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function rowsOf(secrets: unknown): Secret[] {
  if (secrets == null) return [];
  return typeof secrets === 'object'
    ? Object.entries(secrets).map(([key, value]) => ({ key, value }))
    : [{ key: 'secret', value: secrets }];
}

function unknownKey(key: string, known: readonly Secret[]): CliError {
  const keys = known.map((row) => row.key).join(', ');
  return new CliError('notFound', `KEY "${key}": the instance has no secret with that name.`, {
    resource: key,
    hint: keys === '' ? 'the service returned no secrets for this instance' : `use one of: ${keys}`,
  });
}
