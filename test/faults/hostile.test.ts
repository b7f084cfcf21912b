import { spawn } from 'node:child_process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FAILURES } from '../../src/errors.ts';
import { DRIVE_ID, INSTANCE_ID, SSH_KEY_ID } from '../openapi/samples.ts';
import { needs } from '../support/needs.ts';
import { outcomeOf, RUNNER } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { openTerminal } from '../support/terminal.ts';
import { type Bundle, builtBundle } from './bundle.ts';
import { type EchoService, startEcho } from './echo.ts';
import { openRig, type Rig } from './rig.ts';
import { SOAK } from './tools.ts';

/**
 * Contains OSC 52 (clipboard), OSC 8, two CSIs, DCS, ESC, C1, CR, BEL, BS, DEL, bidi and zero-width
 * characters, a tag, and a forged line.
 */
const HOSTILE = [
  '\u001b]52;c;SE9TVElMRQ==\u0007',
  '\u001b]8;;https://evil.example\u001b\\here\u001b]8;;\u001b\\',
  '\u001b[13;37H\u001b[5;95m',
  '\u001bP1$qm\u001b\\',
  '\u001bc',
  '\u009b31m\u009d52;c;SE8=\u009c',
  'A\rB\bC\u007fD\u0000',
  '\u202eevil\u202c\u2066x\u2069\u200b\u200d\ufeff',
].join('');

/** Matches forbidden characters: controls except the line end, bidi and zero-width. */
const RAW =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

/** Matches the colours, cursor moves and clears that gpucloud sends to a terminal. */
const OWN =
  /\r\u001b\[K|\u001b\[(?:\d{0,2}(?:;(?:1|2|3[0-9]|4[0-9]|5;\d+))?m|\d*[A-DGJK]|\?25[hl]|\?2004[hl]|\?2026[hl])|\r+\n|\u001b\[\d*n/g;

const READING: readonly (readonly string[])[] = [
  ['instances', 'list', '--all'],
  ['instances', 'get', INSTANCE_ID],
  ['instances', 'endpoints', INSTANCE_ID],
  ['instances', 'secrets', INSTANCE_ID],
  ['instances', 'events', INSTANCE_ID],
  ['instances', 'wait', INSTANCE_ID, '--wait-timeout', '300ms'],
  ['instances', 'open', INSTANCE_ID, '--no-input'],
  ['drives', 'list'],
  ['drives', 'get', DRIVE_ID],
  ['ssh-keys', 'list'],
  ['api-keys', 'list'],
  ['templates', 'list'],
  ['templates', 'get', 'template-id-1'],
  ['me', 'get'],
  ['billing', 'balance'],
  ['billing', 'transactions'],
  ['catalog', 'list'],
  ['doctor'],
];

const CHANGING: readonly (readonly string[])[] = [
  ['instances', 'create', 'trainer', ...HARDWARE, '--template', 'template-id-1'],
  ['instances', 'terminate', INSTANCE_ID, '-y'],
  ['instances', 'start', INSTANCE_ID],
  ['billing', 'promo', 'CODE'],
  ['ssh-keys', 'delete', 'nothing', '-y'],
];

const CODES = [0, ...Object.values(FAILURES).map(({ exit }) => exit)];

/** Matches documented paths with the IDs of the tests. */
const DOCUMENTED =
  /^\/(api-keys|instances|templates|storage\/drives|ssh-keys|users\/me|billing\/(balance|transactions|promo\/activate))(\/[0-9a-z-]{6,40}(\/[a-z]+)?)?(\?[a-z]+=[^/]*)?$/;

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

let rig: Rig;
let service: EchoService;
let env: Readonly<Record<string, string>>;
beforeEach(async () => {
  const long = `${HOSTILE}${'W'.repeat(5000)}${HOSTILE}`;
  rig = await openRig(bundle.path);
  service = await startEcho(
    (value) => (value.length % 2 === 0 ? `${HOSTILE}${value}${HOSTILE}` : `${value}${long}`),
    () => long,
  );
  env = { GPUCLOUD_BASE_URL: service.url, COLUMNS: '100' };
});
afterEach(async () => {
  await service.close();
  await rig.close();
});

/** Returns the lines with forbidden characters, escaped. */
function found(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => RAW.test(line))
    .map((line) => JSON.stringify(line.slice(Math.max(0, line.search(RAW) - 40)).slice(0, 160)));
}

/** Runs commands in a terminal one by one, and returns all output. */
async function inTerminal(commands: readonly (readonly string[])[]): Promise<string> {
  const words = commands.map((argv) => argv.map((word) => `'${word}'`).join(' '));
  const program = `'${RUNNER}' '${bundle.path}'`;
  const line = ['stty cols 100 rows 30', ...words.map((argv) => `${program} ${argv}`)].join('; ');
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env: { ...rig.env, ...env, TERM: 'xterm-256color', SHELL: '/bin/bash' },
    cwd: rig.home,
  });
  return (await outcomeOf(child)).stdout;
}

describe('a response with control characters', () => {
  test("prints no control characters in a terminal, except gpucloud's own", {
    timeout: 180_000,
    ...needs('script'),
  }, async () => {
    const text = await inTerminal([...READING, ...CHANGING]);
    expect(text.length).toBeGreaterThan(5000);
    expect(text).not.toMatch(/\u001b\[(5;95m|13;37H)/);
    expect(found(text.replace(OWN, '\n'))).toEqual([]);
  });

  test.for([
    // `track` added the instance's name to the journal.
    { argv: ['instances', 'terminate', INSTANCE_ID], asks: [/Terminate .*trainer-sample/] },
    {
      argv: ['ssh-keys', 'delete', SSH_KEY_ID],
      asks: [/\? Delete the SSH key laptop-sample.*\(y\/N\)/s],
    },
  ])(
    'prints no control characters in the prompts of $argv',
    { timeout: 120_000 },
    async ({ argv, asks }) => {
      await rig.gpucloud(['instances', 'track', INSTANCE_ID], { env });
      const terminal = openTerminal({
        program: RUNNER,
        args: [bundle.path, ...argv],
        env: { ...rig.env, ...env },
        cwd: rig.home,
        columns: 120,
        rows: 60,
      });
      try {
        for (const ask of asks) {
          await terminal.shows(ask);
          terminal.type('\r');
        }
        await terminal.ended();
        const text = terminal.written().replace(OWN, '\n');
        // The prompt contains the hostile name without its control characters.
        expect(text).toContain('evil');
        expect(found(text)).toEqual([]);
      } finally {
        await terminal.close();
      }
    },
  );
});

/**
 * Changes IDs, times, amounts and all other strings. None may reach a terminal raw, and each
 * command must exit with a documented code.
 */
describe('invalid IDs, times and amounts in responses', () => {
  const BENT: readonly (readonly [string, (value: string) => string])[] = [
    ['control characters', (value) => `${HOSTILE}${value}`],
    ['a path', (value) => `../../${value}/..`],
    ['an empty text', () => ''],
    ['a very long text', () => '9'.repeat(5000)],
    ['an infinite number', () => '1e999999'],
    ['a time out of range', () => '+275761-01-01T00:00:00.000Z'],
  ];

  test.for(SOAK ? BENT : BENT.slice(0, 3))(
    'exits with a documented code, and prints no invalid value: %s',
    { timeout: 300_000 },
    async ([_what, bend], task) => {
      const bending = await startEcho(bend, () => 'no', undefined, 'none');
      task.onTestFinished(() => bending.close());
      const at = { GPUCLOUD_BASE_URL: bending.url, COLUMNS: '100' };
      const commands = [...READING, ...CHANGING].filter((_argv, index) => SOAK || index % 8 === 0);
      for (const argv of [...commands, ['instances', 'list', '--all', '--json']]) {
        const before = bending.requests.length;
        const { code, stdout, stderr } = await rig.gpucloud(argv, { env: at });
        expect({ argv, found: found(stdout + stderr) }).toEqual({ argv, found: [] });
        expect({ argv, stderr }).not.toMatchObject({
          stderr: expect.stringMatching(/unexpected happened|TypeError|RangeError|undefined|NaN/),
        });
        expect({ argv, code, stdout }).not.toMatchObject({
          stdout: expect.stringMatching(/Invalid Date|NaN|undefined|Infinity/),
        });
        expect(CODES).toContain(code);
        // No path may contain an invalid ID.
        for (const { path } of bending.requests.slice(before)) {
          expect({ argv, path }).toEqual({ argv, path: expect.stringMatching(DOCUMENTED) });
        }
      }
    },
  );
});
