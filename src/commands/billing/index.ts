import type { Group } from '../kit/group.ts';

/** The verbs of `gpucloud billing`, in the order of the help. */
export const billing: Group = {
  verbs: {
    balance: async () => (await import('./balance.ts')).registerBalance,
    transactions: async () => (await import('./transactions.ts')).registerTransactions,
    spend: async () => (await import('./spend.ts')).registerSpend,
    runway: async () => (await import('./runway.ts')).registerRunway,
    promo: async () => (await import('./promo.ts')).registerPromo,
  },
  undocumented: {
    deposit:
      'top up where you signed up; a promo code is activated with "gpucloud billing promo CODE", and the sandbox is topped up with "gpucloud sandbox deposit"',
  },
};
