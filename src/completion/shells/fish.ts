import { flagWords, HEAD, type Model, type Named } from '../model.ts';
import { ENGINE } from './fish-engine.ts';
import { fishQuoted } from './quote.ts';

export function fishScript(model: Model): string {
  return `# fish completion for gpucloud
${HEAD.map((line) => `# ${line}`).join('\n')}

${tables(model)}
${ENGINE}`;
}

/** Returns a line of fish that prints each word with its description. */
function printed(words: readonly Named[]): string {
  const pairs = words.map(({ name, help }) => `${fishQuoted(name)} ${fishQuoted(help)}`);
  return `printf '%s\\t%s\\n' ${pairs.join(' ')}`;
}

/** Returns a branch of a switch, or nothing for an empty branch. */
function branch(path: string, line: string | undefined): string[] {
  return line === undefined ? [] : [`        case ${fishQuoted(path)}`, `            ${line}`];
}

function tables({ shared, places, values }: Model): string {
  const some = (words: readonly Named[]) => (words.length === 0 ? undefined : printed(words));
  const steps = places.flatMap(({ path, steps: below }) =>
    below.flatMap(({ words, to, topics }) => [
      `        case ${words.map((word) => fishQuoted(`${path}:${word}`)).join(' ')}`,
      // After "help", completes the words of a command.
      `            echo ${fishQuoted(topics === undefined ? to : 'help')}`,
    ]),
  );
  const topics = places.flatMap(({ steps: below }) => below.flatMap((step) => step.topics ?? []));
  const verbs = places.flatMap(({ path, below }) => branch(path, some(below)));
  const own = places.flatMap(({ path, flags }) => branch(path, some(flagWords(flags))));
  const takes = places.flatMap(({ path, takes: offers, repeats }) =>
    branch(
      path,
      offers.length === 0
        ? undefined
        : `printf '%s\\n' ${offers
            // A leading plus marks a repeatable argument.
            .map((offer, at) =>
              fishQuoted(repeats && at === offers.length - 1 ? `+${offer}` : offer),
            )
            .join(' ')}`,
    ),
  );
  const offers = values.flatMap(({ keys, offer }) => [
    `        case ${keys.map(fishQuoted).join(' ')}`,
    `            echo ${fishQuoted(offer)}`,
  ]);
  return `# Where the word leads from a place.
function __gpucloud_step -a place word
    switch "$place:$word"
${steps.join('\n')}
        case '*'
            return 1
    end
end

function __gpucloud_verbs -a place
    switch "$place"
${verbs.join('\n')}
    end
end

function __gpucloud_topics
    ${topics.length === 0 ? 'true' : `printf '%s\\n' ${topics.map(fishQuoted).join(' ')}`}
end

function __gpucloud_flags -a place
    switch "$place"
${own.join('\n')}
    end
    ${printed(flagWords(shared))}
end

function __gpucloud_takes -a place
    switch "$place"
${takes.join('\n')}
    end
end

# Finds the value of a flag at a place; fails for a switch. A leading "=" marks an optional value.
function __gpucloud_value -a place flag
    switch "$place:$flag"
${offers.join('\n')}
        case '*'
            return 1
    end
end
`;
}
