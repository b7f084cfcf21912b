import type { SshKey } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { paragraph } from '../../output/width.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { shown } from '../../prompts/words.ts';
import { inRoubles, type Money, money, roublesText } from '../../rules/money.ts';
import { type DeadlineFlags, wantedText } from '../deadlines/deadline.ts';
import type { MadeRequest } from '../request/body.ts';
import type { Given } from '../request/given.ts';
import { knownPrice } from '../request/hardware.ts';

/** The values given before the questions. */
export interface Wish {
  readonly given: Given;
  readonly maxPrice: Money | undefined;
  readonly ends: DeadlineFlags;
  readonly dryRun: boolean;
  /** The command line around the flags of the request. */
  readonly command: {
    start(name: string | undefined): readonly string[];
    readonly end: readonly (readonly string[])[];
  };
  /**
   * For `run`, which needs a key: picks those that can sign in from here. `run` asks for neither a
   * template nor a drive.
   */
  readonly usableKeys?: (keys: readonly SshKey[]) => Promise<readonly SshKey[]>;
}

export interface Row {
  readonly label: string;
  readonly text: string;
}

export function moneyRows(
  { offer }: MadeRequest,
  { maxPrice, ends }: Wish,
  balance: string | undefined,
  { clock }: Context,
): Row[] {
  const [have, hour] = [money(balance ?? ''), money(offer.known?.price_per_hour ?? '')];
  // The service reserves an hour before anything runs.
  const isShort = have.ok && hour.ok && have.value.lt(hour.value);
  const lacks = isShort ? ', less than the last known price of an hour' : '';
  const deadline = wantedText(ends);
  const unknown = `unknown until created${maxPrice ? '' : '; --max-price RUB sets a limit'}`;
  const rows = {
    Price: knownPrice(offer, clock.now()) ?? unknown,
    Limit: maxPrice && `terminated at once above ${inRoubles(maxPrice)} per hour`,
    Deadline: deadline && `terminated ${deadline}`,
    Balance: balance && `${roublesText(balance)}${lacks}`,
  };
  return Object.entries(rows).flatMap(([label, text]) => (text ? [{ label, text }] : []));
}

/** A longer line is hard to read, however wide the terminal is. */
const WIDEST = 100;
const USUAL = 80;
/** Narrower columns break too often to be readable. */
const NARROWEST = 20;

/** Labels and texts in two columns, each text wrapped within its own. */
export function printRows(
  rows: readonly Row[],
  prompts: Prompts,
  columns: number | undefined,
): void {
  const edge = Math.max(...rows.map(({ label }) => label.length)) + 4;
  const room = Math.max(Math.min(columns || USUAL, WIDEST) - edge - 1, NARROWEST);
  for (const { label, text } of rows) {
    for (const [at, line] of paragraph(shown(text), room).entries()) {
      prompts.print(`  ${(at === 0 ? label : '').padEnd(edge - 2)}${line}`);
    }
  }
}
