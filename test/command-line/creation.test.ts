import { expect, test } from 'vitest';
import { sendOnce, writeCreated, writeSecret } from '../../src/command-line/creation.ts';
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

test.each<[string, unread: boolean, thrown?: Error]>([
  ['a closed pipe', true],
  ['a full disk', false, new CliError('interrupted', 'the disk is full')],
  ['an internal error', true, new TypeError('x')],
])('names the key whose secret is lost after %s', async (_what, unread, thrown) => {
  const out = { unread } as Context['out'];
  const write = async () => {
    if (thrown !== undefined) throw thrown;
  };
  const lost = writeSecret({ label: 'ci', id: ID }, { out }, write);
  const error: unknown = await lost.catch((failure: unknown) => failure);
  if (!(error instanceof CliError)) throw new Error('it ended without an error of ours');
  expect({ ...error, message: error.message }).toMatchSnapshot();
});

/** Sends `count` requests at once, with Ctrl-C before or after they leave. */
async function interrupt(count: number, bills: boolean, when: 'before' | 'after' | 'fault') {
  const [first, second] = [new AbortController(), new AbortController()];
  const warnings: string[] = [];
  const context = {
    interrupts: { first: first.signal, second: second.signal },
    creating: new Set<string>(),
    host: CONTEXT.host,
    err: { warn: (_code: string, text: string) => void warnings.push(text) },
  };
  let left = 0;
  const whats = Array.from({ length: count }, (_, at) => `box-${at + 1}`);
  const results = await Promise.all(
    whats.map((what) =>
      sendOnce({ what, bills }, context, async ({ onSending }) => {
        if (when === 'before') first.abort(new CliError('interrupted', 'Interrupted.'));
        onSending?.();
        left += 1;
        await Promise.resolve();
        if (when === 'fault') second.abort(new TypeError('x'));
        first.abort(new CliError('interrupted', 'Interrupted.'));
        return what;
      }).catch(({ message }: Error) => message),
    ),
  );
  return { results, left, warnings, creating: [...context.creating] };
}

const NOTHING = 'Interrupted. Nothing was sent, so nothing was created.';
const AGAIN = 'Interrupt again to stop waiting;';
test.each([
  ['before', 1, true, [NOTHING], 0, []],
  ['fault', 1, true, ['box-1'], 1, []],
  [
    ...(['after', 1, true, ['box-1'], 1] as const),
    [
      `Waiting for the response: box-1 may already exist and be billing. ${AGAIN} its outcome stays unknown.`,
    ],
  ],
  [
    ...(['after', 2, false, ['box-1', 'box-2'], 2] as const),
    [
      `Waiting for the responses: box-1, box-2 may already exist. ${AGAIN} their outcomes stay unknown.`,
    ],
  ],
] as const)(
  'warns once if Ctrl-C arrives %s %d requests leave, and not at a fault (bills: %s)',
  async (when, count, bills, results, left, warnings) => {
    expect(await interrupt(count, bills, when)).toEqual({ results, left, warnings, creating: [] });
  },
);
