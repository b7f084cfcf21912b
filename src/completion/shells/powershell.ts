import { flagWords, HEAD, type Model, type Named } from '../model.ts';
import { ENGINE } from './powershell-engine.ts';
import { powershellQuoted } from './quote.ts';

/** Supports Windows PowerShell 5.1 and PowerShell 7. */
export function powershellScript(model: Model): string {
  return `# PowerShell completion for gpucloud
${HEAD.map((line) => `# ${line}`).join('\n')}

Register-ArgumentCompleter -Native -CommandName gpucloud -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

${tables(model)}
${ENGINE}}
`;
}

function pairs(words: readonly Named[]): string {
  return words
    .map(({ name, help }) => `${powershellQuoted(name)}, ${powershellQuoted(help)}`)
    .join(', ');
}

function tables({ shared, places, values }: Model): string {
  const set = (table: string, key: string, value: string) =>
    `    $${table}[${powershellQuoted(key)}] = ${value}`;
  const lines = [
    ...places.flatMap(({ path, steps }) =>
      steps.flatMap(({ words, to, topics }) =>
        // After "help", completes the words of a command.
        words.map((word) =>
          set(
            'steps',
            `${path}:${word}`,
            powershellQuoted(topics === undefined ? to : ['help', ...topics].join(' ')),
          ),
        ),
      ),
    ),
    ...places.flatMap((place) => [
      ...(place.below.length === 0 ? [] : [set('verbs', place.path, `@(${pairs(place.below)})`)]),
      ...(place.flags.length === 0
        ? []
        : [set('flags', place.path, `@(${pairs(flagWords(place.flags))})`)]),
      ...(place.repeats ? [set('repeats', place.path, '$true')] : []),
      ...(place.takes.length === 0
        ? []
        : [set('takes', place.path, `@(${place.takes.map(powershellQuoted).join(', ')})`)]),
    ]),
    ...values.flatMap(({ keys, offer }) =>
      keys.map((key) => set('values', key, powershellQuoted(offer))),
    ),
  ];
  const names = ['steps', 'verbs', 'flags', 'repeats', 'takes', 'values'];
  return `    # Tables of their own kind, since a plain one takes -f and -F for the same.
${names
  .map(
    (name) =>
      `    $${name} = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)`,
  )
  .join('\n')}
    $shared = @(${pairs(flagWords(shared))})
${lines.join('\n')}
`;
}
