import type { Group } from '../../cli/group.ts';
import { ruled } from '../../cli/parse.ts';
import { verb } from '../../cli/verb.ts';
import { promoCode } from '../../rules/names.ts';
import { balanceView, promoView } from './view.ts';

/** The verbs of `gpucloud billing`, in the order of the help. */
export const billing: Group = {
  verbs: [
    verb('balance', {
      summary: 'Show the wallet balance',
      view: balanceView,
      notes:
        'The wallet balance is what the profile tells; it may include funds that are held for running\n' +
        'machines. The API document also names /billing/balance, without its shape; to print what comes:\n' +
        'gpucloud api GET /billing/balance.',
      examples: ['gpucloud billing balance', 'gpucloud billing balance --json | jq -r .balance'],
      takes: (command) => command,
      run: async (context) => {
        const user = await (await context.api()).users.me();
        await context.out.item(user, balanceView);
        if (context.out.format === 'table' && user.reserved_balance == null) {
          context.err.note(
            'This is the wallet balance. How much of it running machines hold is told only in the answer to a change of the profile ("gpucloud me update --name NAME"), or perhaps by "gpucloud api GET /billing/balance".',
          );
        }
      },
    }),
    {
      name: 'transactions',
      summary: 'List deposits, charges, bonuses and refunds',
      load: async () => (await import('./transactions.ts')).transactions,
    },
    {
      name: 'spend',
      summary: 'What was spent by day, week or month',
      load: async () => (await import('./spend.ts')).spend,
    },
    {
      name: 'runway',
      summary: 'How long the balance lasts at the present rate',
      load: async () => (await import('./runway.ts')).runway,
    },
    verb('promo', {
      summary: 'Activate a promo code: its bonus is credited at once',
      view: promoView,
      examples: ['gpucloud billing promo WELCOME500'],
      takes: (command) => command.argument('<code>', 'the promo code', ruled('CODE', promoCode)),
      run: async (context, code) => {
        const bonus = await (await context.api()).billing.activatePromo({ code });
        context.err.note('Promo code applied.');
        await context.out.item(bonus, promoView);
      },
    }),
  ],
  examples: [
    'gpucloud billing balance',
    'gpucloud billing transactions',
    'gpucloud billing spend',
    'gpucloud billing runway',
  ],
  undocumented: {
    deposit:
      'top up where you signed up; a promo code is activated with "gpucloud billing promo CODE", and the sandbox is topped up with "gpucloud sandbox deposit"',
  },
};
