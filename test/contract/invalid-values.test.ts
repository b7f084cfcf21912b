import { afterEach, expect, test } from 'vitest';
import { FAILURES } from '../../src/errors.ts';
import { DRIVE_ID, INSTANCE_ID } from '../openapi/samples.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { createEcho } from './echo.ts';

/** Controls and characters that reverse a line. */
const HOSTILE = '\u001b]52;c;SE9TVElMRQ==\u0007\u001b[13;37HA\rB\u0000\u202eevil\u200b';

/** Matches forbidden characters: controls except the line end, bidi and zero-width. */
const RAW =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

const COMMANDS: readonly (readonly string[])[] = [
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

/** Returns the lines with forbidden characters, escaped. */
function found(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => RAW.test(line))
    .map((line) => JSON.stringify(line.slice(Math.max(0, line.search(RAW) - 40)).slice(0, 160)));
}

const BENT: readonly (readonly [string, (value: string) => string])[] = [
  ['control characters', (value) => `${HOSTILE}${value}`],
  ['a path', (value) => `../../${value}/..`],
  ['an empty text', () => ''],
  ['a very long text', () => '9'.repeat(5000)],
  ['an infinite number', () => '1e999999'],
  ['a time out of range', () => '+275761-01-01T00:00:00.000Z'],
];

let world: World;
afterEach(() => world.close());

/**
 * Changes IDs, times, amounts and all other strings. None may reach a terminal raw, and each
 * command must exit with a documented code.
 */
test.each(BENT)(
  'exits with a documented code, and prints no invalid value: %s',
  async (_what, bend) => {
    world = await createWorld({ handler: createEcho(bend, () => 'no', undefined, 'none').handler });
    for (const argv of COMMANDS) {
      const { code, requests, ...texts } = await world.cli(argv);
      // The random name of the folder may contain any word, such as NaN.
      const [stdout, stderr] = [texts.stdout, texts.stderr].map((text) =>
        text.replaceAll(world.home, 'HOME'),
      ) as [string, string];
      expect({ argv, found: found(stdout + stderr) }).toEqual({ argv, found: [] });
      expect({ argv, stderr }).not.toMatchObject({
        stderr: expect.stringMatching(/unexpected happened|TypeError|RangeError|undefined|NaN/),
      });
      expect({ argv, code, stdout }).not.toMatchObject({
        stdout: expect.stringMatching(/Invalid Date|NaN|undefined|Infinity/),
      });
      expect(CODES).toContain(code);
      // No path may contain an invalid ID.
      for (const { path } of requests) {
        expect({ argv, path }).toEqual({ argv, path: expect.stringMatching(DOCUMENTED) });
      }
    }
  },
);
