import { expect, test } from 'vitest';
import { sendOnce, writeCreated } from '../../src/command-line/creation.ts';
import type { Context } from '../../src/context.ts';
import { CliError, unforeseenIn } from '../../src/errors.ts';
import { report } from '../../src/report.ts';

const ID = '11111111-2222-4333-8444-555555555555';
const MADE = { what: 'The instance', id: ID, remedy: 'end it' };

const CONTEXT = { host: {}, err: {} } as unknown as Context;

async function failureOf(thrown: unknown): Promise<CliError> {
  const written = writeCreated(MADE, CONTEXT, () => Promise.reject(thrown));
  const error: unknown = await written.catch((failure: unknown) => failure);
  if (!(error instanceof CliError)) throw new Error('it ended without an error of ours');
  return error;
}

test.each([
  [
    'a full disk',
    new CliError('storage', 'could not write the result: ENOSPC'),
    `The instance ${ID} was created, but could not write the result: ENOSPC`,
  ],
  [
    'a second Ctrl-C',
    new CliError('interrupted', 'Interrupted.'),
    `The instance ${ID} was created. Interrupted.`,
  ],
  [
    'an internal error',
    new TypeError('x is not a function'),
    `The instance ${ID} was created. Unexpected failure: TypeError: x is not a function`,
  ],
])(
  "reports the new resource's ID after %s while writing the result",
  async (_what, thrown, words) => {
    const error = await failureOf(thrown);
    expect(error.message).toBe(words);
    expect(error).toMatchObject({ resource: ID, mayBeBilling: true });
    expect(error.failure).toBe(thrown instanceof CliError ? thrown.failure : 'refused');
    expect(report(error, { json: false, profile: undefined, debug: false })).toContain(ID);
  },
);

test("prefers the error's hint to the command that terminates the instance", async () => {
  const full = new CliError('storage', 'the disk is full', { hint: 'make room' });
  expect((await failureOf(full)).hint).toBe('make room');
  expect((await failureOf(new CliError('interrupted', 'Interrupted.'))).hint).toBe('end it');
});

test('keeps an internal error, so that --debug shows its stack', async () => {
  const fault = new TypeError('x');
  expect(unforeseenIn(await failureOf(fault))).toBe(fault);
});

test('does not throw if the result was written', async () => {
  await expect(writeCreated(MADE, CONTEXT, async () => undefined)).resolves.toBe(undefined);
});

test('sends nothing if Ctrl-C arrives before the request', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const warnings: string[] = [];
  let hasLeft = false;
  const sending = sendOnce(
    { what: 'trainer', bills: true },
    {
      interrupts: { first: first.signal, second: second.signal },
      creating: new Set(),
      host: CONTEXT.host,
      err: { warn: (_code, text) => void warnings.push(text) },
    },
    async ({ onSending }) => {
      first.abort(new CliError('interrupted', 'Interrupted.'));
      onSending?.();
      hasLeft = true;
    },
  );
  await expect(sending).rejects.toThrow('Nothing was sent, so nothing was created.');
  expect({ hasLeft, warnings }).toEqual({ hasLeft: false, warnings: [] });
});
