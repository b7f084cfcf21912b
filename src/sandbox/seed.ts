import { randomUUID } from 'node:crypto';
import { SANDBOX_PASSWORD } from './service/account.ts';
import { builtInToken, hashOf } from './service/api-keys.ts';
import { roubles, topUp } from './service/ledger.ts';
import type { State } from './store/state.ts';

const OPENING_DEPOSIT = '10000.00';
const OPENING_BONUS = '500.00';

export interface SeedOptions {
  /** The opening balance in roubles, as a decimal. Defaults to a deposit of 10000.00 and a bonus. */
  balance?: string | undefined;
  /** Virtual milliseconds per real millisecond. */
  speed?: number | undefined;
  /** Key of the replaced account, so that a running server's key stays valid. */
  token?: string | undefined;
}

/** Creates an account whose virtual clock starts at the real time. */
export function freshState(now: number, options: SeedOptions = {}): State {
  const state: State = {
    version: 1,
    clock: { realAnchor: now, virtualAnchor: now, speed: options.speed ?? 1 },
    account: {
      id: randomUUID(),
      name: 'Sandbox User',
      passwordHash: hashOf(SANDBOX_PASSWORD),
      available: '0.00',
      promoCodes: [],
      createdAt: now,
      updatedAt: now,
    },
    apiKeys: [],
    sshKeys: [],
    instances: [],
    drives: [],
    transactions: [],
    faults: [],
    machinesMade: 0,
  };
  builtInToken(state, now, options.token);
  topUp(state, 'DEPOSIT', roubles(options.balance ?? OPENING_DEPOSIT), 'Opening balance', now);
  if (options.balance === undefined) {
    topUp(state, 'BONUS', roubles(OPENING_BONUS), 'Gift for a new account', now);
  }
  return state;
}
