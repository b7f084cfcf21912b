import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { chosenCommand, knownWords } from '../../src/start/words.ts';

// The build puts the words of the tree in.
beforeAll(() => {
  vi.stubGlobal('GPUCLOUD_GROUPS', 'instances i sandbox');
  vi.stubGlobal('GPUCLOUD_WORDS', '--json --output -o get json list serve');
});
afterAll(() => vi.unstubAllGlobals());

test.each([
  [['instances', 'get', 'box'], 'instances-get'],
  [['--json', 'i', 'list'], 'i-list'],
  [['instances', '--json'], 'instances'],
  [['instances', 'a-key'], 'instances'],
  [['--profile', 'sandbox', 'instances', 'get'], 'instances-get'],
  [['sandbox', 'serve'], 'sandbox-serve'],
  [['get', 'a-key'], ''],
  [[], ''],
])('%j is of the command "%s"', (argv, command) => {
  expect(chosenCommand(argv)).toBe(command);
});

test('no word that is not of the tree is kept, nor several of them that were typed as one', () => {
  expect(
    knownWords(['get', 'svc_sk_1', '--json', '--output=svc_sk_2', '-o', 'json', '--x=y']),
  ).toEqual(['run', 'get', '--json', '--output', '-o', 'json']);
  expect(knownWords(['', ' ', 'get json', 'json list', ' get', 'ge', 'et', '-'])).toEqual(['run']);
});
