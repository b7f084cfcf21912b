import { ruled } from '../../command-line/parse.ts';
import { unlessNoted } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import { type Defaults, type Guards, SANDBOX, withProfile } from '../../config/file.ts';
import { usageError } from '../../errors.ts';
import { commandWords } from '../../rules/command-words.ts';
import { kopecksText, money } from '../../rules/money.ts';
import { anyName } from '../../rules/names.ts';
import { wholeNumber } from '../../rules/numbers.ts';
import { broken, kept, type Rule, type Verdict } from '../../rules/rule.ts';
import { existingProfile, profileView, shownProfile } from './profile.ts';

export const set = verb({
  summary: 'Set guards, defaults and notifications of a profile',
  view: profileView,
  notes:
    'create and reorder check guards before sending a request. If a guard forbids the request, they exit ' +
    'with 2 and the code "guard"; --yes does not override a guard. Requests with an unknown ' +
    'outcome count as instances.\n\n' +
    '--max-burn limits the total price per hour of all instances. A new instance counts at its ' +
    '--max-price, otherwise at the last known price of its offer. A request with an unknown ' +
    'outcome counts at the highest known price of its offer; without one, the command exits with 7. ' +
    'An unknown price counts as too high. The API shows the price only after the request, so gpucloud ' +
    'checks again then: if the new instance exceeds --max-burn, the command warns with the code ' +
    '"guard_exceeded" and exits with 1. --enforce-max-burn terminates that instance at once.\n\n' +
    'Guards prevent mistakes. They do not stop a hostile program, which can use the key without ' +
    'the profile.\n\n' +
    '"instances create" and "run" use --offer, --image and --ssh-key if neither a flag nor --file has ' +
    'the value, and print which defaults they use. In a terminal, prompts offer them first.\n\n' +
    '"run", "jobs" and "instances reap" start the --notify command when a job finishes, ' +
    'when an instance is terminated at its deadline or by its idle rule, and when a termination ' +
    'fails or its outcome is unknown. The command receives one JSON object on stdin and in GPUCLOUD_EVENT: event, id, name, ' +
    "message, exit_code, at. It doesn't receive the API key and must finish within 30 s. If it fails, gpucloud " +
    'prints a warning.',
  completes: { name: 'profile', '--max-instances': 'nothing', '--notify': 'nothing' },
  examples: [
    'gpucloud profiles set work --max-instances 2 --max-burn 500',
    'gpucloud profiles set work --max-burn 500 --enforce-max-burn',
    'gpucloud profiles set work --require-deadline',
    'gpucloud profiles set work --max-burn none',
    "gpucloud profiles set work --offer 'RTX 4090' --image IMAGE_ID --ssh-key me",
    'gpucloud profiles set work --notify "curl -s -d @- https://ntfy.sh/my-gpus"',
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
      .option(
        '--enforce-max-burn',
        'terminate a new instance at once if its price exceeds --max-burn',
      )
      .option('--no-enforce-max-burn', 'remove the --enforce-max-burn guard')
      .option(
        '--require-deadline',
        'refuse to rent without --terminate-after or --terminate-at, and expire --never',
      )
      .option('--no-require-deadline', 'remove the --require-deadline guard')
      .option(
        '--offer <offer>',
        'default offer, by name or ID; none removes the default',
        ruled('--offer', anyName),
      )
      .option(
        '--image <image>',
        'default image, by name or ID; none removes the default',
        ruled('--image', anyName),
      )
      .option(
        '--ssh-key <key>',
        'default SSH key, by name, ID or fingerprint; none removes the default',
        ruled('--ssh-key', anyName),
      )
      .option(
        '--notify <command>',
        'run this command, without a shell, when a job finishes or an instance is terminated automatically; none removes the command',
        ruled('--notify', orNone(commandWords)),
      ),
  async run(context, name, flags) {
    const { maxInstances, maxBurn, enforceMaxBurn, requireDeadline, notify } = flags;
    const { offer, image, sshKey: ssh_key } = flags;
    const given = {
      ...(maxInstances === undefined ? {} : { max_instances: maxInstances }),
      ...(maxBurn === undefined ? {} : { max_burn: maxBurn }),
      ...(enforceMaxBurn === undefined ? {} : { enforce_max_burn: enforceMaxBurn }),
      ...(requireDeadline === undefined ? {} : { require_deadline: requireDeadline }),
    };
    const defaults = {
      ...(offer === undefined ? {} : { offer }),
      ...(image === undefined ? {} : { image }),
      ...(ssh_key === undefined ? {} : { ssh_key }),
    };
    const changed = [
      ...(Object.keys(given).length > 0 ? ['guards'] : []),
      ...(Object.keys(defaults).length > 0 ? ['defaults'] : []),
      ...(notify === undefined ? [] : ['--notify']),
    ];
    if (changed.length === 0) {
      throw usageError(
        'nothing to set: add --max-instances, --max-burn, --enforce-max-burn, --require-deadline, --offer, --image, --ssh-key or --notify',
      );
    }
    if (name.toLowerCase() === SANDBOX) {
      throw usageError(
        `NAME "${name}": the profile "sandbox" is built in and can't be changed`,
        'to try guards and defaults, serve a sandbox and sign in to it: gpucloud sandbox serve',
      );
    }
    const after = await (await context.config()).change((file) => {
      const profile = existingProfile(file, name);
      const guards = withoutNone<Guards>({ ...profile.guards, ...given });
      if (enforceMaxBurn === true && guards.max_burn === undefined) {
        throw usageError(`--enforce-max-burn: the profile "${name}" has no --max-burn`);
      }
      return withProfile(file, name, {
        ...profile,
        guards,
        defaults: withoutNone<Defaults>({ ...profile.defaults, ...defaults }),
        ...(notify === undefined ? {} : { notify: notify === 'none' ? [] : [...notify] }),
      });
    });
    context.err.note(`Changed the ${changed.join(' and ')} of the profile "${name}".`);
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
  const count = wholeNumber(text, 0, 1_000_000);
  return count.ok ? count : broken('must be "none" or a whole number from 0 to 1000000');
}

function burn(text: string): Verdict<string> {
  const amount = money(text);
  return amount.ok && amount.value.gte(0)
    ? kept(kopecksText(amount.value))
    : broken('must be "none" or an amount of roubles per hour, such as 500');
}

function withoutNone<T extends object>(
  changed: { readonly [K in keyof T]: T[K] | 'none' },
): Partial<T> {
  const kept = Object.entries(changed).filter(([, value]) => value !== 'none' && value !== false);
  return Object.fromEntries(kept) as Partial<T>;
}
