import type { Group } from '../../cli/group.ts';

/** The verbs of `gpucloud billing`, in the order of the help. */
export const billing: Group = {
  verbs: [
    {
      name: 'balance',
      summary: 'Show the wallet balance',
      load: async () => (await import('./balance.ts')).registerBalance,
    },
    {
      name: 'transactions',
      summary: 'List deposits, charges, bonuses and refunds',
      load: async () => (await import('./transactions.ts')).registerTransactions,
    },
    {
      name: 'spend',
      summary: 'What was spent by day, week or month',
      load: async () => (await import('./spend.ts')).registerSpend,
    },
    {
      name: 'runway',
      summary: 'How long the balance lasts at the present rate',
      load: async () => (await import('./runway.ts')).registerRunway,
    },
    {
      name: 'promo',
      usage: '<code>',
      summary: 'Activate a promo code: its bonus is credited at once',
      load: async () => (await import('./promo.ts')).registerPromo,
    },
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
