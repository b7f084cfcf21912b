import { constants, type Stats } from 'node:fs';
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rmdir,
  stat,
  symlink,
  truncate,
  unlink,
  utimes,
} from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorCode } from '../../system/error-code.ts';
import { inHome } from './home-path.ts';
import { type FileEntry, type SFTPWrapper, utils } from './ssh2.ts';

/** Bytes of one read; a client requests the rest in further reads. */
const MOST = 256 * 1024;

/** Maximum names in one response. */
const NAMES_AT_ONCE = 100;

interface Attributes {
  readonly mode?: number | undefined;
  readonly size?: number | undefined;
  readonly atime?: number | undefined;
  readonly mtime?: number | undefined;
}

interface Internals {
  readonly _protocol: { exitStatus(channel: number, code: number): void };
  readonly outgoing: { readonly id: number; readonly state: string };
}

type Opened = { readonly file: FileHandle } | { readonly folder: string; names: string[] };

/**
 * Serves the files of the home folder to scp and sftp, with the rights of this computer's user.
 * Ignores owners.
 */
export function serveSftp(sftp: SFTPWrapper, home: string): void {
  const { STATUS_CODE: code } = utils.sftp;
  const opened = new Map<number, Opened>();
  let last = 0;
  const at = (path: string) => inHome(home, path);
  /** Names a link itself, not its target. */
  const linkAt = (path: string) => inHome(home, path, false);

  function keep(request: number, one: Opened): void {
    last += 1;
    opened.set(last, one);
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(last);
    sftp.handle(request, handle);
  }
  function fileOf(handle: Buffer): FileHandle {
    const one = opened.get(handle.readUInt32BE());
    if (one === undefined || !('file' in one)) throw new Error('unknown file handle');
    return one.file;
  }
  let turn: Promise<unknown> = Promise.resolve();
  /**
   * Runs work that responds, and responds with its fault. Responds in order, since scp truncates a
   * file if responses arrive out of order.
   */
  function reply(request: number, work: () => Promise<void>): void {
    turn = turn.then(work).catch((error: Error) => {
      const why = WHY[errorCode(error) ?? ''] ?? 'FAILURE';
      sftp.status(request, code[why], error.message);
    });
  }
  /** Runs work, and responds with OK or its fault. */
  const change = (request: number, work: () => Promise<void>) =>
    reply(request, async () => {
      await work();
      sftp.status(request, code.OK);
    });

  sftp.on('OPEN', (request, path, flags, { mode }) =>
    reply(request, async () => {
      keep(request, { file: await open(await at(path), flagsOf(flags), mode ?? 0o666) });
    }),
  );
  sftp.on('READ', (request, handle, offset, length) =>
    reply(request, async () => {
      const buffer = Buffer.alloc(Math.min(length, MOST));
      const { bytesRead } = await fileOf(handle).read(buffer, 0, buffer.length, offset);
      if (bytesRead === 0) sftp.status(request, code.EOF);
      else sftp.data(request, buffer.subarray(0, bytesRead));
    }),
  );
  sftp.on('WRITE', (request, handle, offset, data) =>
    change(request, async () => {
      for (let from = 0; from < data.length; ) {
        const left = data.length - from;
        from += (await fileOf(handle).write(data, from, left, offset + from)).bytesWritten;
      }
    }),
  );
  sftp.on('CLOSE', (request, handle) =>
    change(request, async () => {
      const number = handle.readUInt32BE();
      const one = opened.get(number);
      opened.delete(number);
      if (one !== undefined && 'file' in one) await one.file.close();
    }),
  );
  const answerStat = (request: number, read: () => Promise<Stats>) =>
    reply(request, async () => {
      sftp.attrs(request, attributesOf(await read()));
    });
  sftp.on('STAT', (request, path) => answerStat(request, async () => stat(await at(path))));
  sftp.on('LSTAT', (request, path) => answerStat(request, async () => lstat(await linkAt(path))));
  sftp.on('FSTAT', (request, handle) => answerStat(request, () => fileOf(handle).stat()));
  sftp.on('SETSTAT', (request, path, { mode, size, atime, mtime }: Attributes) =>
    change(request, async () => {
      const file = await at(path);
      if (size !== undefined) await truncate(file, size);
      if (mode !== undefined) await chmod(file, mode & 0o7777);
      if (atime !== undefined && mtime !== undefined) await utimes(file, atime, mtime);
    }),
  );
  sftp.on('FSETSTAT', (request, handle, { mode, size, atime, mtime }: Attributes) =>
    change(request, async () => {
      const file = fileOf(handle);
      if (size !== undefined) await file.truncate(size);
      if (mode !== undefined) await file.chmod(mode & 0o7777);
      if (atime !== undefined && mtime !== undefined) await file.utimes(atime, mtime);
    }),
  );
  sftp.on('OPENDIR', (request, path) =>
    reply(request, async () => {
      const folder = await at(path);
      keep(request, { folder, names: ['.', '..', ...(await readdir(folder))] });
    }),
  );
  sftp.on('READDIR', (request, handle) =>
    reply(request, async () => {
      const one = opened.get(handle.readUInt32BE());
      if (one === undefined || !('folder' in one)) throw new Error('unknown folder handle');
      const names = one.names.splice(0, NAMES_AT_ONCE);
      if (names.length === 0) {
        sftp.status(request, code.EOF);
        return;
      }
      const rows = names.map(async (filename) => {
        const stats = await lstat(join(one.folder, filename)).catch(() => undefined);
        return stats === undefined ? [] : [{ filename, ...shown(filename, stats) }];
      });
      sftp.name(request, (await Promise.all(rows)).flat());
    }),
  );
  const answerPath = (request: number, find: () => Promise<string>) =>
    reply(request, async () => {
      const filename = await find();
      // ssh2 needs no attributes here.
      sftp.name(request, [{ filename, longname: filename } as FileEntry]);
    });
  sftp.on('REALPATH', (request, path) =>
    // Resolves a path even if it does not exist yet.
    answerPath(request, async () => {
      const wanted = resolve(await realpath(home), path);
      return realpath(wanted).catch(() => wanted);
    }),
  );
  sftp.on('READLINK', (request, path) =>
    answerPath(request, async () => readlink(await linkAt(path))),
  );
  sftp.on('SYMLINK', (request, path, target) =>
    change(request, async () => symlink(target, await linkAt(path))),
  );
  sftp.on('MKDIR', (request, path, { mode }) =>
    change(request, async () => mkdir(await linkAt(path), mode)),
  );
  sftp.on('RMDIR', (request, path) => change(request, async () => rmdir(await linkAt(path))));
  sftp.on('REMOVE', (request, path) => change(request, async () => unlink(await linkAt(path))));
  sftp.on('RENAME', (request, from, to) =>
    change(request, async () => rename(await linkAt(from), await linkAt(to))),
  );
  // scp and sftp wait for an exit status and the channel's end. ssh2 sends neither, and has no
  // method for the exit status.
  sftp.on('end', () => {
    const { _protocol: protocol, outgoing } = sftp as unknown as Internals;
    if (outgoing.state === 'open') protocol.exitStatus(outgoing.id, 0);
    sftp.end();
  });
  sftp.on('close', () => {
    for (const one of opened.values()) if ('file' in one) void one.file.close();
  });
}

/** ssh2's own translation can't open a file for writing without truncating it, as scp requests. */
function flagsOf(flags: number): number {
  const { OPEN_MODE: mode } = utils.sftp;
  const has = (one: number) => (flags & one) !== 0;
  const access = has(mode.READ) ? constants.O_RDWR : constants.O_WRONLY;
  return (
    (has(mode.WRITE) ? access : constants.O_RDONLY) |
    (has(mode.APPEND) ? constants.O_APPEND : 0) |
    (has(mode.CREAT) ? constants.O_CREAT : 0) |
    (has(mode.TRUNC) ? constants.O_TRUNC : 0) |
    (has(mode.EXCL) ? constants.O_EXCL : 0)
  );
}

const WHY: Readonly<Record<string, 'NO_SUCH_FILE' | 'PERMISSION_DENIED'>> = {
  ENOENT: 'NO_SUCH_FILE',
  ENOTDIR: 'NO_SUCH_FILE',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
};

function attributesOf({ mode, uid, gid, size, atimeMs, mtimeMs }: Stats) {
  const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000);
  return { mode, uid, gid, size, atime: seconds(atimeMs), mtime: seconds(mtimeMs) };
}

function shown(name: string, stats: Stats) {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-';
  const longname = `${kind} ${String(stats.size).padStart(12)} ${name}`;
  return { longname, attrs: attributesOf(stats) };
}
