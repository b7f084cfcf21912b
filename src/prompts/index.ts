import { CliError } from '../errors.ts';
import { lacksRoubleSign, withoutRoubleSign } from '../output/table/rouble.ts';
import { wrapped } from '../output/width.ts';
import { clean } from '../rules/clean.ts';
import { asker } from './inquirer.ts';
import { lineAsker } from './lines.ts';
import type { Check, Choice, Prompts, PromptsOptions } from './prompts.ts';
import { shown as shortened } from './words.ts';

/**
 * Asks on stderr, so that stdout holds only the result. Asks line by line on a terminal that can't
 * move its cursor (`TERM=dumb`).
 */
export function createPrompts(options: PromptsOptions): Prompts {
  const { env } = options;
  const byLines = env.TERM === 'dumb';
  const signed = lacksRoubleSign(env) ? withoutRoubleSign : (text: string) => text;
  const shown = (text: string) => signed(shortened(text));
  const cleaned = ({ name, about = [] }: Choice<unknown>): Choice<unknown> => ({
    name: shown(name),
    about: about.map(shown),
    value: undefined,
  });
  const ask = byLines ? lineAsker(options) : asker(options);

  return {
    print(line) {
      const text = signed(clean(line));
      // An indented line already has its layout.
      const folded = line.startsWith(' ') ? text : wrapped(text, options.stderr.columns);
      options.stderr.write(`${folded}\n`);
    },

    async text(question, { initial, check } = {}) {
      const message = shown(question);
      const form = { form: 'text', message, initial, check: cleanCheck(check) } as const;
      return String(await ask(form));
    },

    async secret(question, check) {
      const form = { form: 'secret', message: shown(question), check: cleanCheck(check) } as const;
      return String(await ask(form));
    },

    async confirm(question, initial) {
      return (await ask({ form: 'confirm', message: shown(question), initial })) === true;
    },

    async choose(question, choices, { initial } = {}) {
      const message = shown(question);
      const place = await ask({ form: 'choose', message, choices: choices.map(cleaned), initial });
      return valueAt(choices, place);
    },

    async chooseSeveral(question, choices, { least = 0 } = {}) {
      const places = await ask({
        form: 'several',
        message: shown(question),
        choices: choices.map((choice) => ({ ...cleaned(choice), checked: choice.checked })),
        least,
      });
      return (places as number[]).map((place) => valueAt(choices, place));
    },
  };
}

function valueAt<T>(choices: readonly Choice<T>[], place: unknown): T {
  const chosen = choices[Number(place)];
  if (chosen === undefined) throw new CliError('interrupted', 'No choice made.');
  return chosen.value;
}

function cleanCheck(check: Check | undefined): Check | undefined {
  return (
    check &&
    ((text) => {
      const broken = check(text);
      return broken && clean(broken);
    })
  );
}
