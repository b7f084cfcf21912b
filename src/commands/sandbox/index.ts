import type { Group } from '../kit/group.ts';

/** The sandbox works whichever profile is in force, and needs no key. */
export const sandbox: Group = {
  verbs: {
    tour: async () => (await import('./tour.ts')).registerTour,
    catalog: async () => (await import('./catalog.ts')).registerCatalog,
    status: async () => (await import('./status.ts')).registerStatus,
    advance: async () => (await import('./advance.ts')).registerAdvance,
    deposit: async () => (await import('./deposit.ts')).registerDeposit,
    fault: async () => (await import('./fault.ts')).registerFault,
    reset: async () => (await import('./reset.ts')).registerReset,
    serve: async () => (await import('./serve.ts')).registerServe,
  },
};
