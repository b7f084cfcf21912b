import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runtimeFor } from '../../scripts/runtimes.mjs';
import { CERTIFICATE, CERTIFICATE_KEY } from '../api/certificate.ts';
import { needs } from '../support/needs.ts';
import { createComputer, type Outcome, outcomeOf } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES = join(ROOT, 'dist', 'packages');
const EXECUTABLE = join(ROOT, 'dist', 'exe', 'gpucloud');
/** In bytes. The runtime alone is 107 MB. */
const MOST_BYTES = 125_000_000;

let folder: string;
let version: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-packages-'));
  ({ version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
  // Level 0 is the fastest, and no test checks the archive's size.
  await run('npm', ['run', '--silent', 'package', '--', '--level', '0'], { cwd: ROOT });
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function sumOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

const realArchive = async () =>
  (await readdir(PACKAGES)).find((name) => name.endsWith('.tar.xz')) ?? 'no archive';

/** Returns install.sh with other checksums. */
async function installWith(sums: string): Promise<string> {
  const text = await readFile(join(PACKAGES, 'install.sh'), 'utf8');
  return text.replace(/^sums='[^']*'$/m, `sums='${sums}'`);
}

test('lists the checksum of every other file in SHA256SUMS', async () => {
  const lines = (await readFile(join(PACKAGES, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n');
  const files = (await readdir(PACKAGES)).filter((name) => name !== 'SHA256SUMS').sort();
  expect(files).toContain('install.sh');
  expect(files).toContain(`gpucloud-${version}.tgz`);
  expect(lines).toEqual(
    await Promise.all(files.map(async (name) => `${await sumOf(join(PACKAGES, name))}  ${name}`)),
  );
});

test('rebuilds the executable byte for byte', { timeout: 120_000 }, async () => {
  const before = await readFile(EXECUTABLE);
  await run('npm', ['run', '--silent', 'build:exe'], { cwd: ROOT });
  expect(before.equals(await readFile(EXECUTABLE))).toBe(true);
  expect(before.length).toBeLessThan(MOST_BYTES);
});

test('lists the targets if the requested target has no runtime', () => {
  expect(() => runtimeFor('vax')).toThrow(
    'npm has no runtime for vax. Targets: linux-x64, linux-arm64',
  );
});

/** Returns every file below a folder, sorted. */
async function filesIn(at: string): Promise<string[]> {
  const entries = await readdir(at, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(at.length + 1))
    .sort();
}

/** Runs with only the system's programs on PATH, without Node. */
function install(...argv: string[]): Promise<Outcome> {
  const env = { PATH: '/usr/bin:/bin', HOME: folder };
  return outcomeOf(spawn('sh', [join(PACKAGES, 'install.sh'), ...argv], { env, cwd: folder }));
}

describe('install.sh', { timeout: 60_000 }, () => {
  test("installs the archive's files, and removes all of them with --uninstall", async () => {
    const prefix = join(folder, 'a prefix');
    const { code, stdout } = await install('--prefix', prefix);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Installed gpucloud ${version} in ${prefix}.\nAdd ${prefix}/bin to PATH.\n`,
    });
    const files = await filesIn(prefix);
    for (const file of [
      'bin/gpucloud',
      'share/bash-completion/completions/gpucloud',
      'share/doc/gpucloud/LICENSE',
      'share/doc/gpucloud/RUNTIME.md',
      'share/doc/gpucloud/SKILL.md',
      'share/doc/gpucloud/THIRD-PARTY-LICENSES.txt',
      'share/fish/vendor_completions.d/gpucloud.fish',
      'share/man/man1/gpucloud-instances.1',
      'share/zsh/site-functions/_gpucloud',
    ]) {
      expect(files).toContain(file);
    }
    expect((await install('--uninstall', '--prefix', prefix)).code).toBe(0);
    expect(await filesIn(prefix)).toEqual([]);
    expect(await install('--uninstall', '--prefix', prefix)).toMatchObject({
      code: 1,
      stderr: `error: gpucloud is not installed in ${prefix}\n`,
    });
  });

  /** Creates a folder with a changed archive. */
  async function changedPackages(): Promise<{ from: string; archive: string }> {
    const from = await mkdtemp(join(folder, 'changed-'));
    const archive = await realArchive();
    await copyFile(join(PACKAGES, 'install.sh'), join(from, 'install.sh'));
    await writeFile(join(from, archive), 'changed');
    return { from, archive };
  }

  test("rejects an archive whose checksum doesn't match or is missing", async () => {
    const { from, archive } = await changedPackages();
    const prefix = join(folder, 'other');
    expect(await install('--prefix', prefix, '--from', from)).toMatchObject({
      code: 1,
      stderr: `error: ${archive} is not the file that this install.sh was published with: nothing was installed\n`,
    });
    expect(await readdir(prefix)).toEqual([]);
    const script = join(from, 'install.sh');
    await writeFile(script, await installWith(''));
    const unlisted = spawn('sh', [script, '--prefix', prefix], { env: { PATH: '/usr/bin:/bin' } });
    expect(await outcomeOf(unlisted)).toMatchObject({
      code: 1,
      stderr: `error: this install.sh has no sum for ${archive}\n`,
    });
  });

  test('exits with 1 when piped into a shell, even beside an archive', async () => {
    // Pipes into each shell. A folder may contain scripts with the names of shells.
    for (const shell of ['sh', 'bash', '/bin/sh']) {
      const cwd = await mkdtemp(join(folder, 'here-'));
      for (const name of await readdir(PACKAGES)) {
        await symlink(join(PACKAGES, name), join(cwd, name));
      }
      for (const name of ['sh', 'bash']) {
        await copyFile(join(PACKAGES, 'install.sh'), join(cwd, name));
      }
      const script = `cat install.sh | ${shell} -s -- --prefix "$0"`;
      const env = { PATH: '/usr/bin:/bin', HOME: folder };
      const child = spawn('/bin/sh', ['-c', script, join(cwd, 'prefix')], { env, cwd });
      expect(await outcomeOf(child)).toMatchObject({
        code: 1,
        stderr: 'error: no archive beside this script: use --from FOLDER or --from URL\n',
      });
    }
  });

  test.each([
    ['Linux', 'x86_64', 'glibc', 'linux-x64'],
    ['Linux', 'aarch64', 'glibc', 'linux-arm64'],
    ['Linux', 'x86_64', 'musl', 'linux-x64-musl'],
    ['Linux', 'aarch64', 'musl', 'linux-arm64-musl'],
    ['Darwin', 'x86_64', 'no', 'darwin-x64'],
    ['Darwin', 'arm64', 'no', 'darwin-arm64'],
    ['FreeBSD', 'amd64', 'no', undefined],
  ])('selects for %s %s with %s libc the target %s', async (system, machine, libc, target) => {
    const path = await mkdtemp(join(folder, 'programs-'));
    const script = (text: string) => ({ mode: 0o755, text: `#!/bin/sh\n${text}\n` });
    for (const [name, { mode, text }] of Object.entries({
      uname: script(`[ "$1" = -s ] && echo ${system} || echo ${machine}`),
      // ldd exits with 1 on Alpine.
      ldd: script(`echo '${libc} libc' >&2; exit 1`),
    })) {
      await writeFile(join(path, name), text, { mode });
    }
    const from = await mkdtemp(join(folder, 'empty-'));
    await writeFile(join(from, 'install.sh'), await installWith(''));
    const env = { PATH: `${path}:/usr/bin:/bin`, HOME: from };
    const { code, stderr } = await outcomeOf(spawn('sh', [join(from, 'install.sh')], { env }));
    expect(code).toBe(1);
    expect(stderr).toBe(
      target === undefined
        ? `error: there is no executable for ${system} ${machine}: use the npm package\n`
        : `error: this install.sh has no sum for gpucloud-${version}-${target}.tar.xz\n`,
    );
  });

  test("exits with 1 and reports a folder that it can't write to", async () => {
    expect(await install('--prefix', '/proc/here')).toMatchObject({
      code: 1,
      stderr: "error: can't write to /proc/here: use --prefix FOLDER\n",
    });
  });
});

describe('install.sh from a URL', { timeout: 60_000 }, () => {
  let packages: string;
  let server: Server;
  let url: string;
  let isCut: boolean;
  let isChanged: boolean;
  let prefix: string;
  /** Packs a script as the executable, since the real archive takes seconds to extract. */
  beforeAll(async () => {
    packages = await mkdtemp(join(folder, 'small-'));
    const archive = await realArchive();
    const name = archive.replace('.tar.xz', '');
    const program = join(packages, name, 'bin', 'gpucloud');
    await mkdir(dirname(program), { recursive: true });
    await writeFile(program, `#!/bin/sh\necho gpucloud ${version}\n`, { mode: 0o755 });
    const share = join(packages, name, 'share/doc/gpucloud');
    await mkdir(share, { recursive: true });
    await writeFile(join(share, 'random'), randomBytes(200_000));
    await run('tar', ['-cJf', archive, name], { cwd: packages });
    const sum = `${await sumOf(join(packages, archive))}  ${archive}`;
    await writeFile(join(packages, 'install.sh'), await installWith(sum));
  });
  beforeEach(async () => {
    isCut = false;
    isChanged = false;
    prefix = await mkdtemp(join(folder, 'prefix-'));
    server = createServer(async (request, response) => {
      const content = await readFile(join(packages, request.url ?? ''));
      response.setHeader('content-length', content.length);
      if (isChanged && content.length > 100_000) content.fill(0, 50_000, 50_100);
      if (!isCut || content.length < 100_000) return void response.end(content);
      response.write(content.subarray(0, 100_000), () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => void server.close());

  /** Pipes the downloaded script into sh, as people do. */
  function piped(path: string, get: string): Promise<Outcome> {
    const script = `${get} ${url}/install.sh | sh -s -- --from ${url} --prefix "$0"`;
    const env = { PATH: path, HOME: folder };
    return outcomeOf(spawn('/bin/sh', ['-c', script, prefix], { env, cwd: folder }));
  }

  /** Creates a folder with the system's programs except curl. */
  async function withoutCurl(): Promise<string> {
    const path = await mkdtemp(join(folder, 'programs-'));
    for (const name of await readdir('/usr/bin')) {
      if (name !== 'curl') await symlink(join('/usr/bin', name), join(path, name));
    }
    return path;
  }

  test.each([
    'http://install.example/gpucloud',
    'http://127.0.0.1.example/gpucloud',
    'http://localhost:1@install.example',
  ])('rejects install.sh --from %s', async (from) => {
    expect(await install('--from', from, '--prefix', prefix)).toMatchObject({
      code: 1,
      stderr: `error: --from ${from}: http:// is only for this computer; use https://\n`,
    });
  });

  test('rejects a redirect of install.sh to http', needs('curl'), async () => {
    const asked: string[] = [];
    const plain = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const target = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
    const secure = createHttpsServer(
      { cert: CERTIFICATE, key: CERTIFICATE_KEY },
      (request, response) => response.writeHead(302, { location: target + request.url }).end(),
    );
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const from = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    const ca = join(folder, 'ca.pem');
    await writeFile(ca, CERTIFICATE);
    const env = { PATH: '/usr/bin:/bin', HOME: folder, CURL_CA_BUNDLE: ca };
    const argv = [join(PACKAGES, 'install.sh'), '--from', from, '--prefix', prefix];
    const { code, stderr } = await outcomeOf(spawn('sh', argv, { env }));
    for (const server of [plain, secure]) server.close();
    expect({ code, asked }).toEqual({ code: 1, asked: [] });
    expect(stderr).toMatch(/http.*(not supported|disabled)/i);
    expect(stderr).toContain('error: could not download');
  });

  for (const [program, get, path] of [
    ['curl', 'curl -fsSL', async () => '/usr/bin:/bin'],
    ['wget', 'wget -qO-', withoutCurl],
  ] as const) {
    test(`installs from a URL through ${program}`, needs(program), async () => {
      expect(await piped(await path(), get)).toMatchObject({ code: 0, stderr: '' });
      const { stdout } = await run(join(prefix, 'bin/gpucloud'), ['--version']);
      expect(stdout).toBe(`gpucloud ${version}\n`);
    });

    test(`rejects a changed archive with ${program}`, needs(program), async () => {
      isChanged = true;
      const { code, stderr } = await piped(await path(), get);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^error: gpucloud-\S+ is not the file that .*: nothing was installed\n$/,
      );
      expect(await readdir(prefix)).toEqual([]);
    });

    test(`installs nothing after a partial download with ${program}`, needs(program), async () => {
      isCut = true;
      const { code, stderr } = await piped(await path(), get);
      expect(code).toBe(1);
      expect(stderr).toContain(`error: could not download ${url}/gpucloud-${version}-linux-`);
      expect(await readdir(prefix)).toEqual([]);
    });
  }
});

describe('the executable', { timeout: 60_000 }, () => {
  test("ignores Bun's configuration in the current folder", async () => {
    const computer = await createComputer();
    try {
      const lines = ['GPUCLOUD_BASE_URL=https://other.example', 'GPUCLOUD_OUTPUT=yaml'];
      await writeFile(join(computer.home, '.env'), lines.join('\n'));
      await writeFile(join(computer.home, 'bunfig.toml'), 'preload = ["./evil.js"]');
      await writeFile(join(computer.home, 'evil.js'), 'require("fs").writeFileSync("hit", "")');
      const child = spawn(EXECUTABLE, ['profiles', 'get', 'sandbox'], {
        env: computer.env,
        cwd: computer.home,
      });
      const { stdout } = await outcomeOf(child);
      // YAML would have `name:`.
      expect(stdout).toMatch(/^Name: +sandbox$/m);
      expect(stdout).not.toContain('other.example');
      expect(await readdir(computer.home)).not.toContain('hit');
    } finally {
      await computer.remove();
    }
  });

  test('ignores scripts in BUN_OPTIONS', async () => {
    const script = join(folder, 'first.js');
    const hit = join(folder, 'first-ran');
    await writeFile(script, `require('fs').writeFileSync(${JSON.stringify(hit)}, '')`);
    for (const BUN_OPTIONS of [`--preload ${script}`, `-r ${script} --`, '--cwd /nowhere']) {
      const { stdout } = await run(EXECUTABLE, ['--version'], { env: { BUN_OPTIONS } });
      expect(stdout).toBe(`gpucloud ${version}\n`);
    }
    expect(existsSync(hit)).toBe(false);
  });

  test(
    'rents on a system with only the C library',
    needs('root', 'the right to mount', '/usr/bin/unshare'),
    async () => {
      const root = join(folder, 'root');
      const libraries = (await run('ldd', [EXECUTABLE])).stdout.match(/\/\S+/g) ?? [];
      for (const file of libraries) {
        await mkdir(join(root, dirname(file)), { recursive: true });
        await copyFile(file, join(root, file));
      }
      for (const name of ['bin', 'proc', 'root', 'tmp']) {
        await mkdir(join(root, name), { recursive: true });
      }
      await copyFile(EXECUTABLE, join(root, 'bin/gpucloud'));
      // The runtime finds itself through /proc, which every system has.
      const script = 'mount -t proc proc "$0/proc" && exec chroot "$0" /bin/gpucloud "$@"';
      const gpucloud = (...argv: string[]) => {
        const all = ['--mount', '--pid', '--fork', 'sh', '-c', script, root];
        const env = { PATH: '/usr/bin:/bin:/usr/sbin', HOME: '/root', GPUCLOUD_PROFILE: 'sandbox' };
        return outcomeOf(spawn('unshare', [...all, ...argv], { env }));
      };
      const made = await gpucloud('instances', 'create', 'trainer', ...HARDWARE, '--json');
      expect(made).toMatchObject({ code: 0 });
      const { id } = JSON.parse(made.stdout);
      expect((await gpucloud('instances', 'list', '-q')).stdout).toBe(`${id}\n`);
      expect((await gpucloud('instances', 'terminate', 'trainer', '-y')).code).toBe(0);
      expect((await gpucloud('doctor')).stdout).toContain('executable /bin/gpucloud');
    },
  );
});
