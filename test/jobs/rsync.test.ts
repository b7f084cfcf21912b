import { describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { copyIn } from '../../src/jobs/files/copy-in.ts';
import { isRsyncHere } from '../../src/jobs/files/rsync.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { startPiped as startHere } from '../../src/system/programs.ts';

/** Starts a copy whose rsync is a shell script. */
function copying(
  script: string,
  ssh: Partial<RemoteShell['ssh']> = {},
  stop = new AbortController(),
) {
  const changed: string[] = [];
  const progress: (number | undefined)[][] = [];
  const argv: string[][] = [];
  const before: string[] = [];
  const startPiped: Context['startPiped'] = ({ file, args }) => {
    argv.push([file, ...args]);
    return startHere({ file: 'sh', args: ['-c', script], env: process.env }, 'linux');
  };
  const shell = {
    ssh: { words: ['ssh', '-p', '22'], user: 'root', host: '192.0.2.1', ...ssh },
    async run(made: string) {
      before.push(made);
      return { code: 0, stdout: '', stderr: '' };
    },
  } as unknown as RemoteShell;
  const folder = { path: 'data', kind: 'folder', size: 0 } as const;
  const file = { path: 'data/a\nb', kind: 'file', size: 200 } as const;
  const entries = [folder, file];
  const ended = copyIn(
    {
      folder: '/home/me',
      entries,
      count: 1,
      bytes: 200,
      special: [],
      leftOut: [],
      rules: undefined,
    },
    {
      shell,
      signal: stop.signal,
      hasRsync: true,
      isAgain: false,
      startPiped,
      clock: {} as Context['clock'],
      onChanged: (what) => changed.push(what),
      onProgress: (...of) => progress.push(of),
    },
  );
  return { ended, changed, progress, argv, before };
}

const GONE = 'rsync: [sender] link_stat "/x/a" failed: No such file or directory (2)';
const VANISHED = 'file has vanished: "/x/c"';
const DENIED = 'rsync: [sender] send_files failed to open "/x/b": Permission denied (13)';
const SUMMARY = 'rsync error: some files/attrs were not transferred (code 23) at main.c(1338)';
const printing = (...lines: string[]) => lines.map((line) => `echo '${line}' >&2; `).join('');

describe('copying to an instance with rsync', () => {
  test('creates the folder with rsync, then sends only the listed files', async () => {
    const { ended, argv, before, changed, progress } = copying('tr "\\0" ";" >&2');
    await ended;
    expect(before).toEqual([expect.stringContaining('mkdir -p gpucloud-run/work')]);
    expect(argv).toEqual([
      [
        ...['rsync', '--links', '--perms', '--times', '--info=progress2', '-e', 'ssh -p 22'],
        ...['--dirs', '--force', '--files-from=-', '--from0', '--'],
        ...['/home/me/', 'root@192.0.2.1:gpucloud-run/work'],
      ],
    ]);
    expect({ changed, progress }).toEqual({ changed: [], progress: [] });
    // The script prints its input as the error.
    const failed = copying('tr "\\0\\n" ";," >&2; exit 1').ended;
    await expect(failed).rejects.toThrow('Could not copy files in: data;data/a,b;');
  });

  test('quotes ssh arguments for rsync and brackets an IPv6 address', async () => {
    const words = ['ssh', '-i', "/home/o'neil/my key", '-F/dev/null'];
    const { ended, argv } = copying('exit 0', { words, host: '2001:db8::1' });
    await ended;
    const [given = []] = argv;
    expect(given[given.indexOf('-e') + 1]).toBe(`ssh -i '/home/o''neil/my key' -F/dev/null`);
    expect(given.at(-1)).toBe('root@[2001:db8::1]:gpucloud-run/work');
  });

  test("reports the bytes from rsync's progress, and the exact total of the files", async () => {
    const { ended, progress } = copying(
      `printf '     32,768   0%%    0.00kB/s\\r'; sleep 0.1; printf '  5,000,000  25%%   4.84MB/s    0:00:04\\r'`,
    );
    await ended;
    expect(progress).toEqual([
      [32_768, 200],
      [5_000_000, 200],
    ]);
  });

  test.each([
    ['that vanished during the copy', printing(DENIED), 24],
    ['that vanished before the copy', printing(GONE, GONE, SUMMARY), 23],
    ['of which one vanished before the copy', printing(GONE, SUMMARY), 23],
    ['that vanished before and during the copy', printing(GONE, VANISHED, SUMMARY), 23],
  ])('copies with rsync and only warns about files %s', async (_when, script, code) => {
    const { ended, changed } = copying(`${script}exit ${code}`);
    await ended;
    expect(changed).toEqual(['some files vanished']);
  });

  test.each([
    ['an unreadable file', printing('Use rsync: fast', DENIED, SUMMARY), 23, DENIED, false],
    [
      'an unreadable file after one that vanished before the copy',
      printing('Use rsync: fast', GONE, VANISHED, DENIED, SUMMARY),
      23,
      `${DENIED}; ${GONE}`,
      false,
    ],
    [
      'an unreadable file before one that vanished during the copy',
      printing(DENIED, VANISHED, SUMMARY),
      23,
      `${DENIED}; ${VANISHED}`,
      false,
    ],
    ['another message', printing(`x${GONE}`), 23, `x${GONE}`, false],
    ['another name', printing(`${GONE} x`, SUMMARY), 23, `${GONE} x`, false],
    ['no message', '', 23, 'exit code 23', false],
    ['only a summary', printing(SUMMARY), 23, SUMMARY, false],
    ['vanished files, but another exit code', printing(GONE, SUMMARY), 1, GONE, false],
    [
      'a full disk',
      printing('rsync: write failed: No space left on device (28)'),
      11,
      'No space',
      false,
    ],
    [
      'a full disk, whose receiver closed the connection',
      printing(
        'rsync: [sender] write error: Broken pipe (32)',
        'rsync: [receiver] write failed on "/x": No space left on device (28)',
        'rsync: [receiver] write failed on "/y": No space left on device (28)',
      ),
      12,
      'rsync: [receiver] write failed on "/x": No space left',
      false,
    ],
    [
      'a lost connection',
      printing('client_loop: send disconnect: Broken pipe'),
      12,
      'Broken pipe',
      true,
    ],
    ['a failed socket', printing('rsync error: error in socket IO'), 10, 'socket', true],
    ['a timeout', printing('rsync error: timeout'), 30, 'timeout', true],
    ['a timeout of the daemon', printing('rsync error: timeout'), 35, 'timeout', true],
    ['a protocol error', printing('rsync error: protocol'), 2, 'protocol', false],
    ['a failed ssh', printing('ssh: connect: refused'), 255, 'refused', true],
    ['a new host key', printing('Host key verification failed.'), 255, 'Host key', false],
  ])('fails an rsync copy after %s', async (_why, script, code, reason, retryable) => {
    const { ended, changed } = copying(`${script}exit ${code}`);
    const fault = await ended.catch((error: unknown) => error);
    expect(fault).toMatchObject({ failure: 'refused', retryable });
    expect(String(fault)).toContain(`Could not copy files in: `);
    expect(String(fault)).toContain(reason);
    expect(changed).toEqual([]);
  });

  test('rejects on an interrupt during rsync or before its start', async () => {
    const stop = new AbortController();
    const { ended } = copying('exec sleep 60', {}, stop);
    setTimeout(() => stop.abort(new CliError('terminated', 'Terminated.')), 100);
    await expect(ended).rejects.toThrow('Terminated.');
    await expect(copying('exec sleep 60', {}, stop).ended).rejects.toThrow('Terminated.');
  });
});

test.each([
  ['linux', 'rsync  version 3.1.0  protocol version 31\n', true],
  ['linux', 'rsync  version v3.2.7  protocol version 31\n', true],
  ['linux', 'rsync  version 4.0.0  protocol version 32\n', true],
  ['linux', 'rsync  version 3.0.9  protocol version 30\n', false],
  ['darwin', 'rsync  version 2.6.9  protocol version 29\n', false],
  ['darwin', 'openrsync: protocol version 29\nrsync version 2.6.9 compatible\n', false],
  ['win32', 'rsync  version 3.2.7  protocol version 31\n', false],
  ['linux', undefined, false],
])('checks on %s whether rsync is usable: %j', async (platform, version, isUsable) => {
  const start: Context['start'] = async ({ hear }) => {
    if (version !== undefined) hear?.(version, 'stdout');
    const ended = version === undefined ? Promise.reject(new Error('ENOENT')) : Promise.resolve(0);
    return { ended, isLate: false, kill: () => undefined };
  };
  const host = { platform } as Context['host'];
  expect(await isRsyncHere({ start, host })).toBe(isUsable);
});
