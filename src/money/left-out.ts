/** Why a transaction is missing in a sum, or counted with a doubt. */
const REASONS = {
  amount: 'Not counted, amount not readable',
  time: 'Not counted, time not readable',
  direction: 'Not counted, direction not known',
  sign: 'Counted with its sign, though amounts should be absolute',
} as const;

const NAMED = 3;

/** What a sum leaves out: everything is counted and a few are named, however long the history is. */
export interface LeftOut {
  /** A transaction of a status that moves no money. */
  status(word: string | null | undefined): void;
  add(reason: keyof typeof REASONS, name: string): void;
  /** Lines for statuses, which are normal. */
  notes(): string[];
  /** Lines for what the service should not send. */
  warnings(): string[];
}

export function createLeftOut(): LeftOut {
  const statuses = new Map<string, number>();
  const doubts = new Map<keyof typeof REASONS, { names: string[]; count: number }>();
  return {
    status(status) {
      const word = status ?? 'without a status';
      statuses.set(word, (statuses.get(word) ?? 0) + 1);
    },
    add(reason, name) {
      const doubt = doubts.get(reason) ?? { names: [], count: 0 };
      doubts.set(reason, doubt);
      doubt.count += 1;
      if (doubt.names.length < NAMED) doubt.names.push(name);
    },
    notes() {
      const counts = [...statuses].map(([word, count]) => `${count} ${word}`).join(', ');
      return counts === '' ? [] : [`Not counted, since only COMPLETED counts: ${counts}.`];
    },
    warnings() {
      return Object.entries(REASONS).flatMap(([reason, text]) => {
        const doubt = doubts.get(reason as keyof typeof REASONS);
        if (doubt === undefined) return [];
        const more = doubt.count > NAMED ? `, and ${doubt.count - NAMED} more` : '';
        return [`${text}: ${doubt.count}: ${doubt.names.join(', ')}${more}.`];
      });
    },
  };
}
