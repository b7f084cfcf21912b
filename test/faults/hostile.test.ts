import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEcho } from '../contract/echo.ts';
import { INSTANCE_ID } from '../openapi/samples.ts';
import { needs } from '../support/needs.ts';
import { outcomeOf, PROGRAM, RUNNER } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Service, startService } from '../support/service.ts';
import { openTerminal } from '../support/terminal.ts';
import { openRig, type Rig } from './rig.ts';

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

/** A list, a detail view, a live view, values alone, a rental and a log. */
const COMMANDS: readonly (readonly string[])[] = [
  ['instances', 'list', '--all'],
  ['instances', 'get', INSTANCE_ID],
  ['instances', 'wait', INSTANCE_ID, '--wait-timeout', '300ms'],
  ['instances', 'secrets', INSTANCE_ID],
  ['instances', 'create', 'trainer', ...HARDWARE, '--template', 'template-id-1'],
  ['instances', 'events', INSTANCE_ID],
];

let rig: Rig;
let service: Service;
let env: Readonly<Record<string, string>>;
beforeEach(async () => {
  const long = `${HOSTILE}${'W'.repeat(5000)}${HOSTILE}`;
  rig = await openRig(PROGRAM);
  const echo = createEcho(
    (value) => (value.length % 2 === 0 ? `${HOSTILE}${value}${HOSTILE}` : `${value}${long}`),
    () => long,
  );
  service = await startService(echo.handler);
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
  const program = `'${RUNNER}' '${PROGRAM}'`;
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
    const text = await inTerminal(COMMANDS);
    expect(text.length).toBeGreaterThan(5000);
    expect(text).not.toMatch(/\u001b\[(5;95m|13;37H)/);
    expect(found(text.replace(OWN, '\n'))).toEqual([]);
  });

  test('prints no control characters in a prompt', { timeout: 120_000 }, async () => {
    // `track` adds the instance's name to the journal.
    await rig.gpucloud(['instances', 'track', INSTANCE_ID], { env });
    const terminal = openTerminal({
      program: RUNNER,
      args: [PROGRAM, 'instances', 'terminate', INSTANCE_ID],
      env: { ...rig.env, ...env },
      cwd: rig.home,
      columns: 120,
      rows: 60,
    });
    try {
      await terminal.shows(/Terminate .*trainer-sample/);
      terminal.type('\r');
      await terminal.ended();
      const text = terminal.written().replace(OWN, '\n');
      // The prompt contains the hostile name without its control characters.
      expect(text).toContain('evil');
      expect(found(text)).toEqual([]);
    } finally {
      await terminal.close();
    }
  });
});
