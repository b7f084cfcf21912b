/** Why a transaction is not counted, or counted with a doubt. */
const REASONS = {
  amount: 'Not counted: unreadable amount',
  time: 'Not counted: unreadable time',
  direction: 'Not counted: unknown direction',
  sign: 'Counted with a minus sign: negative amount',
} as const;

const NAMED = 3;

/** Transactions missing in a sum: all are counted, a few are named. */
export interface LeftOut {
  /** Adds a transaction whose status moves no money. */
  status(word: string | null | undefined): void;
  add(reason: keyof typeof REASONS, name: string): void;
  /** Lines about statuses; these are normal. */
  notes(): string[];
  /** Lines about invalid transactions. */
  warnings(): string[];
}

export function createLeftOut(): LeftOut {
  const statuses = new Map<string, number>();
  const doubts = new Map<keyof typeof REASONS, { names: string[]; count: number }>();
  return {
    status(status) {
      const word = status ?? 'no status';
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
      return counts === '' ? [] : [`Not counted (only COMPLETED counts): ${counts}.`];
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
