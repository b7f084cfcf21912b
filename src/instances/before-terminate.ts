import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { KnownInstance } from '../journal/index.ts';
import { momentOf } from '../money/ledger.ts';
import { restOfHour } from '../money/paid-hour.ts';
import { spanText } from '../output/time.ts';
import { kopecksText, money } from '../rules/money.ts';
import { instanceStatus, isTerminated } from '../rules/statuses.ts';
import { readBriefly } from './read-briefly.ts';
import type { Target } from './resolve.ts';
import { serviceNow } from './service-time.ts';

const AT_ONCE = 8;

/**
 * Asks about each machine by name, with what is known here of its price. Where a person is there to
 * be asked, the machines are read first and told with their age and what comes back; undefined where
 * all of them turn out to be terminated. One on its way there may come back, with its data.
 */
export async function terminateQuestion(
  targets: readonly Target[],
  context: Context,
): Promise<string | undefined> {
  if (targets.length === 0) {
    return 'Terminate the machines that stdin names?';
  }
  const machines = await knownMachines(context);
  if ((await context.prompts()) !== undefined) {
    const all = await eachBounded(targets, AT_ONCE, (target) => told(target, context));
    if (all.every((one) => one?.isOver === true)) return undefined;
    for (const one of all) if (one !== undefined) context.err.note(one.line);
  }
  const described = targets.map(({ id, name }) => {
    const last = machines.find((machine) => machine.id === id)?.last;
    const price = money(last?.price_per_hour ?? '');
    const cost = price.ok ? `, ${kopecksText(price.value)} RUB an hour` : '';
    return name === id ? id : `${name} (${id}${cost})`;
  });
  return `Terminate ${described.join(' and ')} with all data on ${targets.length === 1 ? 'its disk' : 'their disks'}?`;
}

interface Told {
  readonly line: string;
  readonly isOver: boolean;
}

/** `trainer: ACTIVE, 89.90 RUB an hour, 2 h old; about 79.41 RUB …`; undefined where it can't be read. */
async function told(target: Target, context: Context): Promise<Told | undefined> {
  // Whoever wants to end a machine must not fail for a reading; the question says what is known.
  const machine = await readBriefly(target, context);
  if (machine === undefined) return undefined;
  const { price_per_hour_snapshot: price, paid_until } = machine;
  const now = await serviceNow(context);
  const amount = money(price ?? '');
  const created = momentOf(machine);
  const facts = [
    machine.status,
    amount.ok ? `${kopecksText(amount.value)} RUB an hour` : 'price not told',
    created === undefined ? '' : `rented ${spanText(Math.max(0, now - created) / 1000)} ago`,
  ].filter((fact) => fact !== '');
  const rest = restOfHour(price, momentOf({ created_at: paid_until }), now);
  // Whether the service holds a reservation is documented for what certainly bills.
  const back =
    rest === undefined || instanceStatus(machine.status).bills !== 'yes'
      ? ''
      : `; about ${kopecksText(rest.amount)} RUB come back for the ${spanText(rest.left / 1000)} that are left of its hour`;
  const line = `${machine.name ?? target.name}: ${facts.join(', ')}${back}.`;
  return { line, isOver: isTerminated(machine.status) };
}

/** Whoever wants to end a machine must not fail for a journal that can't be read. */
async function knownMachines(context: Context): Promise<readonly KnownInstance[]> {
  try {
    return (await (await context.journal()).read()).instances;
  } catch (error) {
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
    return [];
  }
}
