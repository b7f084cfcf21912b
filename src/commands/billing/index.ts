import type { Group } from '../../command-line/group.ts';
import { ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import { promoCode } from '../../rules/names.ts';
import { runway } from './runway.ts';
import { spend } from './spend.ts';
import { transactions } from './transactions.ts';
import { balanceView, promoView } from './view.ts';

export const billing: Group = {
  verbs: {
    balance: verb({
      summary: 'Show the wallet balance',
      tool: { allow: 'read' },
      view: balanceView,
      notes:
        'The wallet balance may include funds reserved for running instances. The API also has ' +
        '/billing/balance, but does not document its fields: "gpucloud api GET ' +
        '/billing/balance" prints it.',
      examples: ['gpucloud billing balance', 'gpucloud billing balance --json | jq -r .balance'],
      takes: (command) => command,
      run: async (context) => {
        await context.out.item(await (await context.api()).users.me(), balanceView);
      },
    }),
    transactions: () => transactions,
    spend: () => spend,
    runway: () => runway,
    promo: verb({
      summary: 'Apply a promo code',
      tool: { allow: 'all' },
      view: promoView,
      examples: ['gpucloud billing promo WELCOME500'],
      takes: (command) => command.argument('<code>', 'promo code', ruled('CODE', promoCode)),
      run: async (context, code) => {
        const bonus = await (await context.api()).billing.activatePromo({ code });
        context.err.note('Promo code applied.');
        await context.out.item(bonus, promoView);
      },
    }),
  },
  examples: [
    'gpucloud billing balance',
    'gpucloud billing transactions',
    'gpucloud billing spend',
    'gpucloud billing runway',
  ],
};
