import { HEAD, type Model, type ModelPlace } from '../model.ts';
import { ENGINE } from './bash-engine.ts';
import { NAMES } from './bash-names.ts';
import { quoted } from './quote.ts';

/**
 * Works from bash 3.2 on, which macOS still has, without the package bash-completion.
 *
 * Bash copies a function whole at each call, so one big table would cost more than everything else:
 * each place has a small function of its own.
 */
export function bashScript(model: Model): string {
  return `# bash completion for gpucloud
${HEAD.map((line) => `# ${line}`).join('\n')}

${tables(model)}
${NAMES}
${ENGINE}`;
}

function word(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : quoted(text);
}

/** The part of a function's name that identifies its place; none for the root. */
function keyOf(path: string): string {
  return path.replace(/[^A-Za-z0-9]/g, '_');
}

function tables({ shared, places, values }: Model): string {
  const own = new Map<string, string[]>();
  const everywhere: string[] = [];
  for (const { keys, offer } of values) {
    const flags = new Map<string, string[]>();
    for (const key of keys) {
      const [path = '', flag = ''] = key.split(':');
      flags.set(path, [...(flags.get(path) ?? []), flag]);
    }
    for (const [path, names] of flags) {
      const branch = `    ${names.join('|')}) offer=${word(offer)} ;;`;
      if (path === '*') everywhere.push(branch);
      else own.set(path, [...(own.get(path) ?? []), branch]);
    }
  }
  const functions = places.map((place) =>
    [
      `__gpucloud_at_${keyOf(place.path)}() {`,
      '  case $1 in',
      ...place.steps.map(({ words, to, topics }) => {
        // After "help" come the words of a command.
        const goes =
          topics === undefined
            ? `path=${keyOf(to)}`
            : `path= helping=${word(topics.join(' ') || 'yes')}`;
        return `    ${words.join('|')}) ${goes} ;;`;
      }),
      ...(own.get(place.path) ?? []),
      `    ' ') ${placeLine(place)} ;;`,
      '    *) return 1 ;;',
      '  esac',
      '}',
    ].join('\n'),
  );
  return `# One function per command. For a word, it sets "path" (a subcommand) or "offer" (the type of a
# flag's value, with a leading "=" if the value is optional). For a blank, it lists all words.
${functions.join('\n\n')}

# Flags of every command.
__gpucloud_everywhere() {
  case $1 in
${everywhere.join('\n')}
    ' ') flags="$flags "${quoted(shared.flatMap(({ names }) => names).join(' '))} ;;
    *) return 1 ;;
  esac
}
`;
}

function placeLine(place: ModelPlace): string {
  const parts = [
    ['verbs', place.below.map(({ name }) => name).join(' ')],
    ['flags', place.flags.flatMap(({ names }) => names).join(' ')],
    ['repeats', place.repeats ? '1' : ''],
  ].flatMap(([name, text]) => (text === '' ? [] : [`${name}=${word(text ?? '')}`]));
  const takes = place.takes.length === 0 ? [] : [`takes=(${place.takes.map(word).join(' ')})`];
  return [...parts, ...takes].join(' ') || ':';
}
