import fc from 'fast-check';
import { expect, test } from 'vitest';
import { about, newProgram, Option } from '../../src/cli/command.ts';
import { globalFlagsOf } from '../../src/cli/globals.ts';
import { describe as describeVerb } from '../../src/cli/verb.ts';

/** What comes of a line: the flags that were understood, or the words of the refusal, or the help. */
async function outcome(words: readonly string[], isTold: boolean) {
  let shown = '';
  const program = newProgram('gpucloud')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => (shown += text), writeErr: () => {} });
  const verb = program.command('list').summary('List');
  if (isTold) about(verb).given = words;
  let flags: unknown;
  describeVerb(verb, { examples: ['gpucloud list'], replaces: ['--timeout'] })
    .argument('[what...]')
    .addOption(new Option('--watch', 'again and again'))
    .addOption(new Option('--wait [what]', 'until it is there'))
    .addOption(new Option('-t, --timeout <long>', 'its own'))
    .action((what, own, command) => {
      flags = { what, watch: own.watch, wait: own.wait, global: globalFlagsOf(command) };
    });
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    return { refused: error instanceof Error ? error.message : error, shown };
  }
  return { flags, shown };
}

const word = fc.constantFrom(
  ...['--json', '-q', '--quiet', '-o', '-o=json', '-ojson', '--output', '--output=csv', 'json'],
  ...['--no-color', '--color', 'never', '--color=never', '--colour', '--no-header', '--no-input'],
  ...['-y', '-yq', '-yo=json', '--yes', '--', '-', '--help', '-h', '--outpt', '--jso', '--profile'],
  ...['--sort', '-created', '--query', '--columns=id,name', '--timeout', '5s', '--timeout=5s'],
  ...['--watch', '--wait', '--wait=ssh', '-t', 'ID', '', '--base-url=http://127.0.0.1:1', '-1'],
);

test('a line means the same whether the flags that it does not name are there or not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 5 }), async (words) => {
      const line = ['list', ...words];
      const whole = await outcome(line, false);
      expect(await outcome(line, true)).toEqual(whole);
    }),
    { numRuns: 1500 },
  );
});

test('a verb has the flags that its line names, and all where one may be meant', () => {
  const longs = (...words: string[]) => {
    const verb = newProgram('gpucloud').command('list');
    about(verb).given = ['list', ...words];
    describeVerb(verb, { examples: ['gpucloud list'] });
    return verb.options.map(({ long }) => long);
  };
  expect(longs('ID')).toEqual([]);
  expect(longs('ID', '--json', '-y')).toEqual(['--json', '--yes']);
  expect(longs('--output=json', '--no-color')).toEqual(['--output', '--no-color']);
  for (const odd of ['--help', '-h', '--jsn', '-yq', '-ojson', '--']) {
    expect(longs('--json', odd)).toHaveLength(16);
  }
});
