import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';
import { journalIn } from '../support/journal.ts';

const HOUR = 3_600_000;
const EVENT = {
  ...{ version: 1 as const, key: 'ended-1', event: 'job_ended' as const, id: null },
  ...{ name: 'trainer', message: 'Done.', exit_code: 0, at: '2026-01-15T12:00:00.000Z' },
  sent_at: null,
};

let state: string;
let clock: ReturnType<typeof manualClock>;
beforeEach(async () => {
  state = await temporaryFolder();
  clock = manualClock();
});

const journal = () => journalIn(state, { clock });
const path = () => join(state, 'journal', '@sandbox', 'user-1', 'events', 'ended-1.json');
const stored = async () =>
  JSON.parse(await readFile(path(), 'utf8').catch(() => 'null')) as typeof EVENT | null;

/** Sends the event. Returns what was sent, what was stored by then, and the fault. */
async function sending(accepts: boolean) {
  const sent: unknown[] = [];
  const fault = await journal().sendEvent(EVENT, async (event) => {
    sent.push(event, await stored());
    return accepts;
  });
  return { sent, fault: fault && Reflect.get(Object(fault), 'code') };
}

test('sends an event once, stored before it is sent and marked afterwards', async () => {
  expect(await sending(true)).toEqual({ sent: [EVENT, EVENT], fault: undefined });
  expect(await stored()).toEqual({ ...EVENT, sent_at: EVENT.at });
  expect(await journal().unsentEvents()).toEqual([]);
  expect(await sending(true)).toEqual({ sent: [], fault: undefined });
});

test('repeats an event that no command accepted for a day, and forgets it after 30', async () => {
  expect(await sending(false)).toEqual({ sent: [EVENT, EVENT], fault: undefined });
  expect(await sending(false)).toEqual({ sent: [EVENT, EVENT], fault: undefined });
  clock.advance(24 * HOUR - 1);
  expect(await journal().unsentEvents()).toEqual([EVENT]);
  clock.advance(1);
  expect(await journal().unsentEvents()).toEqual([]);
  expect(await sending(true)).toEqual({ sent: [], fault: undefined });
  clock.advance(29 * 24 * HOUR);
  await journal().unsentEvents();
  expect(await stored()).toEqual(EVENT);
  clock.advance(1);
  await journal().unsentEvents();
  expect(await stored()).toBeNull();
});

test('sends an event that can not be stored, and returns why', async () => {
  await mkdir(path(), { recursive: true });
  expect(await sending(true)).toEqual({ sent: [EVENT, null], fault: 'EISDIR' });
  await rm(dirname(path()), { recursive: true });
  await writeFile(dirname(path()), '');
  const fault = `${dirname(path())} is not a folder`;
  expect(await sending(true)).toEqual({ sent: [EVENT, null], fault });
});

test('leaves an event to the process that is sending it', async () => {
  const both: unknown[] = [];
  await journal().sendEvent(EVENT, async () => {
    both.push(await sending(true));
    return true;
  });
  expect(both).toEqual([{ sent: [], fault: undefined }]);
});
