import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import { balanceView } from './view.ts';

export function registerBalance(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: balanceView,
    notes:
      'The wallet balance is what the profile tells; it may include funds that are held for running\n' +
      'machines. --raw asks /billing/balance, which the API document names without giving its shape,\n' +
      'and prints the JSON that comes, as it is.',
    examples: ['gpucloud billing balance', 'gpucloud billing balance --json | jq -r .balance'],
  })
    .option('--raw', 'the answer of /billing/balance as it is')
    .action(({ raw }, command) => balance(raw === true, frame.context(command)));
}

export async function balance(raw: boolean, context: Context): Promise<void> {
  if (raw) {
    await rawBalance(context);
    return;
  }
  const user = await (await context.api()).users.me();
  await context.out.item(user, balanceView);
  if (context.out.format === 'table' && user.reserved_balance == null) {
    context.err.note(
      'This is the wallet balance. How much of it running machines hold is told only in the answer to a change of the profile ("gpucloud me update --name NAME"), or perhaps by --raw.',
    );
  }
}

async function rawBalance(context: Context): Promise<void> {
  const { format } = context.out;
  const isAsked = context.flags.query !== undefined;
  const hasForm = isAsked || format === 'table' || format === 'json';
  if (!hasForm || context.flags.columns !== undefined) {
    throw usageError(
      '--raw prints JSON as the service sent it: it goes with no --columns and no -o but json',
    );
  }
  const { readRawBalance } = await import('./raw-balance.ts');
  const { refusedKeyRemedy } = await import('../../config/remedies.ts');
  const api = await context.api();
  const json = await readRawBalance(api, refusedKeyRemedy(await context.settings()));
  context.err.note(
    'The API document names /billing/balance and does not give its shape: this is what the service answered.',
  );
  if (isAsked) {
    const { parseExactly } = await import('../../api/response/exact.ts');
    await context.out.item(parseExactly(json), rawView);
    return;
  }
  await context.out.text(json);
}

/** Only a query gets to see it. */
const rawView: View<unknown> = { columns: [], id: () => null, empty: '' };
