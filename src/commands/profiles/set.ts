import { ruled } from '../../cli/parse.ts';
import { unlessNoted } from '../../cli/several.ts';
import { action } from '../../cli/verb.ts';
import { type Guards, withProfile } from '../../config/file.ts';
import { SANDBOX } from '../../config/names.ts';
import { usageError } from '../../errors.ts';
import { kopecksText, money } from '../../rules/money.ts';
import { wholeNumber } from '../../rules/numbers.ts';
import { broken, kept, type Rule, type Verdict } from '../../rules/rule.ts';
import { existingProfile, profileView, shownProfile } from './profile.ts';

export const set = action({
  view: profileView,
  notes:
    'create and reorder check the guards before they send anything. They exit with 2 and the ' +
    'code "guard"; --yes does not override a guard. Requests of unknown outcome count.\n\n' +
    '--max-burn adds up the known prices of all instances. A new one counts with its ' +
    '--max-price, or else with the last known price of its offer. An unknown price counts as ' +
    'too high.\n\n' +
    'Guards protect from mistakes, not from a program that wants to rent: it can use the key ' +
    'without the profile.',
  completes: { name: 'profile', '--max-instances': 'nothing' },
  examples: [
    'gpucloud profiles set work --max-instances 2 --max-burn 500',
    'gpucloud profiles set work --require-deadline',
    'gpucloud profiles set work --max-burn none',
  ],
  takes: (command) =>
    command
      .argument('<name>', 'the profile')
      .option(
        '--max-instances <number>',
        'refuse to rent more instances than this; none removes the guard',
        ruled('--max-instances', orNone(instanceCount)),
      )
      .option(
        '--max-burn <rub>',
        'refuse to rent beyond this many roubles per hour; none removes the guard',
        ruled('--max-burn', orNone(burn)),
      )
      .option('--require-deadline', 'refuse to rent without --terminate-after or --terminate-at')
      .option('--no-require-deadline', 'remove that guard'),
  async run(context, name, { maxInstances, maxBurn, requireDeadline }) {
    const given = {
      ...(maxInstances === undefined ? {} : { max_instances: maxInstances }),
      ...(maxBurn === undefined ? {} : { max_burn: maxBurn }),
      ...(requireDeadline === undefined ? {} : { require_deadline: requireDeadline }),
    };
    if (Object.keys(given).length === 0) {
      throw usageError('nothing to set: give --max-instances, --max-burn or --require-deadline');
    }
    if (name.toLowerCase() === SANDBOX) {
      throw usageError(
        `NAME "${name}": the profile "sandbox" is built in and takes no guards`,
        'to try guards, serve a sandbox and sign in to it: gpucloud sandbox serve',
      );
    }
    const after = await (await context.config()).change((file) => {
      const profile = existingProfile(file, name);
      const guards = { ...profile.guards, ...given };
      return withProfile(file, name, { ...profile, guards: withoutNone(guards) });
    });
    context.err.note(`Changed the guards of the profile "${name}".`);
    await unlessNoted(context, () =>
      context.out.item(shownProfile(after, name, context), profileView),
    );
  },
});

/** `none` removes a guard. */
function orNone<T>(rule: Rule<T>): Rule<T | 'none'> {
  return (text) => (text === 'none' ? kept(text) : rule(text));
}

function instanceCount(text: string): Verdict<number> {
  return wholeNumber(text, 0, 1_000_000, 'the value, unless it is "none",');
}

function burn(text: string): Verdict<string> {
  const amount = money(text);
  return amount.ok && amount.value.gte(0)
    ? kept(kopecksText(amount.value))
    : broken('must be "none" or an amount of roubles per hour, such as 500');
}

type Changed = { readonly [K in keyof Guards]: Guards[K] | 'none' };

function withoutNone(guards: Changed): Guards {
  return Object.fromEntries(
    Object.entries(guards).filter(([, guard]) => guard !== 'none' && guard !== false),
  );
}
