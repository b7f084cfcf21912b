import type { RawAnswer } from '../api/index.ts';
import { type Moment, timeOf } from '../cli/moment.ts';
import type { Clock } from '../clock.ts';

/** The moment from which on events are asked for. */
export interface Beginning {
  /** To be given each answer of the service: the first one tells how late it is there. */
  onAnswer(answer: RawAnswer): Promise<void>;
  /** Milliseconds since 1970; the same each time. Asked for once an answer has come. */
  time(): number;
}

/**
 * What `--since 10m` means to the service, whose clock wrote the times of the events. Its Date
 * header tells it to the second; without one the clock of this computer has to do.
 */
export function beginningAt(moment: Moment, clock: Pick<Clock, 'now'>): Beginning {
  let serviceNow: number | undefined;
  let time: number | undefined;
  return {
    async onAnswer({ headers }) {
      const told = Date.parse(headers.date ?? '');
      if (serviceNow === undefined && !Number.isNaN(told)) serviceNow = told;
    },
    time() {
      time ??= timeOf(moment, serviceNow ?? clock.now());
      return time;
    },
  };
}
