import { flagWords, HEAD, type Model, type Named } from '../model.ts';
import type { Flag } from '../tree.ts';
import { quoted } from './quote.ts';
import { ENGINE } from './zsh-engine.ts';

export function zshScript(model: Model): string {
  return `#compdef gpucloud
# zsh completion for gpucloud
${HEAD.map((line) => `# ${line}`).join('\n')}

${tables(model)}
${ENGINE}`;
}

/** Formats `word:description` pairs for _describe. */
function describedAll(words: readonly Named[]): string {
  return words.map(({ name, help }) => quoted(`${name.replaceAll(':', '\\:')}:${help}`)).join(' ');
}

function flagList(flags: readonly Flag[]): string {
  return describedAll(flagWords(flags));
}

function tables({ shared, places, values }: Model): string {
  const steps = places.flatMap(({ path, steps: below }) =>
    below.map(
      ({ words, to, topics }) =>
        `    ${words.map((word) => quoted(`${path}:${word}`)).join('|')}) ${
          // After "help", completes the words of a command.
          topics === undefined
            ? `place=${quoted(to)}`
            : `place= helping=(${topics.map(quoted).join(' ')})`
        } ;;`,
    ),
  );
  const nodes = places.map((place) => {
    const lists = [
      ['verbs', describedAll(place.below)],
      ['flags', flagList(place.flags)],
      ['takes', place.takes.map(quoted).join(' ')],
    ].flatMap(([name, text]) => (text === '' ? [] : [`      ${name}=(${text})`]));
    const marks = place.repeats ? ['      repeats=1'] : [];
    return [`    ${quoted(place.path)})`, ...lists, ...marks].join('\n').concat(' ;;');
  });
  const offers = values.map(({ keys, offer }) => {
    const patterns = keys.map((key) => (key.startsWith('*') ? key : quoted(key)));
    return `    ${patterns.join('|')}) offer=${quoted(offer)} ;;`;
  });
  return `# Goes from "place" on by the word $1.
__gpucloud_step() {
  case $place:$1 in
${steps.join('\n')}
    *) return 1 ;;
  esac
}

# Reads the verbs and flags of "place".
__gpucloud_place() {
  verbs=() flags=() takes=() repeats=
  case $place in
${nodes.join('\n')}
  esac
  flags+=(${flagList(shared)})
}

# Finds the value of the flag $1 at "place"; fails for a switch. A leading "=" marks an optional value.
__gpucloud_value() {
  case $place:$1 in
${offers.join('\n')}
    *) return 1 ;;
  esac
}
`;
}
