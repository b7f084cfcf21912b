import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { parseFetch } from '../../src/jobs/files/copy-out.ts';
import { withProfile } from '../../src/output/shell-line.ts';
import { type Copy, parseCopy } from '../../src/ssh/copy.ts';
import { notStarted, troubleIn } from '../../src/ssh/ssh-process.ts';
import { parsePorts } from '../../src/ssh/tunnel-ports.ts';

/** Returns the failure, message and hint of the error that `work` throws. */
function refusal(work: () => unknown) {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [error.failure, error.message, error.hint && withProfile(error.hint, undefined)];
  }
}

describe('a Windows path', () => {
  test.each(['C:\\data', 'c:/data', 'D:file', '\\\\server\\share\\a:b', '.\\a:b'])(
    'parses %s as a local path',
    (path) => {
      const there = { instance: 'box', sources: [path], target: '/tmp', from: 'here' };
      expect(parseCopy([path, 'box:/tmp'], 'win32')).toEqual(there);
      const here = { instance: 'box', sources: ['/tmp'], target: path, from: 'instance' };
      expect(parseCopy(['box:/tmp', path], 'win32')).toEqual(here);
    },
  );

  test('keeps a Windows drive letter in the LOCAL of --fetch', () => {
    expect(parseFetch('results:C:\\out')).toEqual({ remote: 'results', local: 'C:\\out' });
    expect(parseFetch('out/*.csv:D:\\tables')).toEqual({
      remote: 'out/*.csv',
      local: 'D:\\tables/',
    });
  });
});

const ENTER =
  'copy the file to this computer first, or copy it on the instance: gpucloud instances ssh NAME';

test.each<[readonly string[], Copy | string, string?]>([
  [['a', 'b:c'], { instance: 'b', from: 'here', sources: ['a'], target: 'c' }],
  [['a', './x:y', 'b:'], { instance: 'b', from: 'here', sources: ['a', './x:y'], target: '' }],
  [['b:c', 'd'], { instance: 'b', from: 'instance', sources: ['c'], target: 'd' }],
  [['b:c:d', 'b:', '.'], { instance: 'b', from: 'instance', sources: ['c:d', ''], target: '.' }],
  [['x', 'C:data'], { instance: 'C', from: 'here', sources: ['x'], target: 'data' }],
  [[], 'PATH "": needs at least two paths: source and target'],
  [['a'], 'PATH "a": needs at least two paths: source and target'],
  [['b:a'], 'PATH "b:a": needs at least two paths: source and target'],
  [['a', 'b'], 'PATH "a b": one path must be on an instance: INSTANCE:PATH'],
  [['a', 'b:c', 'd'], 'PATH "a b:c d": all sources must be on the same instance'],
  [['a:b', 'c:d', 'e'], 'PATH "a:b c:d e": all sources must be on the same instance'],
  [
    ['a', 'b:c', 'b:d'],
    'PATH "a b:c b:d": the source of a copy to an instance must be on this computer',
    ENTER,
  ],
  [['', 'b:c'], 'PATH "": must not be empty'],
  [['a', 'u@b:c'], 'PATH "u@b:c": must not contain a user', 'set the user with --user'],
])('copies %j as %j', (paths, expected, hint) => {
  const parse = () => parseCopy(paths, 'linux');
  if (typeof expected === 'string') expect(refusal(parse)).toEqual(['usage', expected, hint]);
  else expect(parse()).toEqual(expected);
});

test.each<[string | undefined, object | string]>([
  [undefined, { local: undefined, remote: undefined }],
  ['8888', { local: undefined, remote: 8888 }],
  ['0:8888', { local: 0, remote: 8888 }],
  ['a9000:jupyter', { local: undefined, remote: 'a9000:jupyter' }],
  ['65535:1', { local: 65_535, remote: 1 }],
  ['9000:jupyter', { local: 9000, remote: 'jupyter' }],
  ['jupyter', { local: undefined, remote: 'jupyter' }],
  ['a:b', { local: undefined, remote: 'a:b' }],
  ['1:2:3', { local: 1, remote: '2:3' }],
  [':80', { local: undefined, remote: ':80' }],
  ['80x', { local: undefined, remote: '80x' }],
  ['', 'PORTS "": must be [LOCAL:]REMOTE, with a port or an endpoint name'],
  ['80:', 'PORTS "80:": must be [LOCAL:]REMOTE, with a port or an endpoint name'],
  ['65536:1', 'PORTS "65536": the local port must be a whole number from 0 to 65535'],
  ['1:0', 'PORTS "0": must be a whole number from 1 to 65535'],
  ['65536', 'PORTS "65536": must be a whole number from 1 to 65535'],
])('parses the ports %j', (text, expected) => {
  const parse = () => parsePorts(text);
  if (typeof expected === 'string') expect(refusal(parse)).toEqual(['usage', expected, undefined]);
  else expect(parse()).toEqual(expected);
});

test.each([
  ['Host key verification failed.', 'hostKey'],
  ['@  WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!  @', 'hostKey'],
  ['x\nHost key verification failed.', 'hostKey'],
  ['It says: Host key verification failed.', undefined],
  ['root@192.0.2.1: Permission denied (publickey).', 'keys'],
  ['rm: x: Permission denied', undefined],
  ['Received disconnect: Too many authentication failures', 'keys'],
  ...[
    'Connection refused',
    'Connection timed out',
    'No route to host',
    'Network is unreachable',
    'Could not resolve hostname box',
    'kex_exchange_identification: read',
    'Connection reset by 192.0.2.1',
    'Connection closed by 192.0.2.1',
  ].map((line) => [`ssh: ${line}`, 'unreachable'] as const),
  ['Connection refused\nPermission denied (publickey).', 'keys'],
  ['', undefined],
] as const)('finds in %j the trouble %j', (output, trouble) => {
  expect(troubleIn(output)).toBe(trouble);
});

test.each([
  ['EACCES', 'Could not start ssh (EACCES).', undefined],
  [
    'ENOENT',
    'ssh is not on PATH: gpucloud connects with OpenSSH.',
    'install an OpenSSH client (openssh-client on Debian and Ubuntu, an optional feature on Windows); check it: gpucloud doctor',
  ],
])('says why ssh did not start: %s', (code, message, hint) => {
  const cause = Object.assign(new Error('spawn'), { code });
  const fail = () => {
    throw notStarted('ssh', cause);
  };
  expect(refusal(fail)).toEqual(['refused', message, hint]);
});
