import type { Group } from '../../cli/group.ts';

/** The sandbox works whichever profile is in force, and needs no key. */
export const sandbox: Group = {
  verbs: [
    {
      name: 'tour',
      summary: 'Rent, look at, pay for and end a machine in two minutes, for free',
      load: async () => (await import('./tour.ts')).registerTour,
    },
    {
      name: 'catalog',
      summary: 'Show the offers and images of the sandbox, with their ids and prices',
      load: async () => (await import('./catalog.ts')).registerCatalog,
    },
    {
      name: 'status',
      summary: 'Show the time, the money and the machines of the sandbox',
      load: async () => (await import('./status.ts')).registerStatus,
    },
    {
      name: 'advance',
      usage: '<duration>',
      summary: 'Turn the clock of the sandbox ahead',
      load: async () => (await import('./advance.ts')).registerAdvance,
    },
    {
      name: 'deposit',
      usage: '<amount>',
      summary: 'Top up the balance of the sandbox with play money',
      load: async () => (await import('./deposit.ts')).registerDeposit,
    },
    {
      name: 'fault',
      usage: '<name>',
      summary: 'Order a failure, to see how programs and people bear it',
      load: async () => (await import('./fault.ts')).registerFault,
    },
    {
      name: 'reset',
      summary: 'Start the sandbox afresh',
      load: async () => (await import('./reset.ts')).registerReset,
    },
    {
      name: 'serve',
      summary: 'Serve the sandbox on 127.0.0.1 for other programs',
      load: async () => (await import('./serve.ts')).registerServe,
    },
  ],
  examples: [
    'gpucloud sandbox tour',
    'gpucloud sandbox catalog',
    'gpucloud sandbox status',
    'gpucloud sandbox advance 10m',
  ],
};
