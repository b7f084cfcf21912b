// npm run package: all that is published, in dist/packages/.
//   gpucloud-VERSION.tgz                the npm package
//   gpucloud-VERSION-linux-x64.tar.xz   the executable with man pages and completions
//   gpucloud_VERSION_amd64.deb          the same for Debian and Ubuntu, if dpkg-deb is here
//   install.sh, SHA256SUMS
// --level 0 to 9 sets the level of xz. The same commit gives the same bytes.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { ROOT, version } from './bundle.mjs';
import { BUN, HERE } from './runtimes.mjs';

process.umask(0o022);
const { values } = parseArgs({ options: { level: { type: 'string', default: '6' } } });
const root = fileURLToPath(ROOT);
const packages = join(root, 'dist', 'packages');
const manual = readdirSync(join(root, 'man'));

/** The time of the commit, so that archives don't differ by when they are made. */
const time =
  process.env.SOURCE_DATE_EPOCH ??
  (spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).stdout.trim() ||
    '0');

function run(file, args, options = {}) {
  return execFileSync(file, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], ...options });
}

/** Writes files by their paths in a folder; content or `[source]`. */
function fill(folder, files) {
  for (const [path, from] of Object.entries(files)) {
    const at = join(folder, path);
    mkdirSync(dirname(at), { recursive: true });
    if (Array.isArray(from)) copyFileSync(join(root, ...from), at);
    else writeFileSync(at, from);
    chmodSync(at, path.endsWith('bin/gpucloud') ? 0o755 : 0o644);
  }
}

const text = (path) => readFileSync(join(root, path), 'utf8');
const named = (path) => text(path).replaceAll('@VERSION@', version).replaceAll('@BUN@', BUN);
const COMMON = {
  'share/bash-completion/completions/gpucloud': ['completions/gpucloud.bash'],
  'share/fish/vendor_completions.d/gpucloud.fish': ['completions/gpucloud.fish'],
  'share/doc/gpucloud/THIRD-PARTY-LICENSES.txt': ['dist/THIRD-PARTY-LICENSES.txt'],
  'share/doc/gpucloud/SKILL.md': ['skills/gpucloud/SKILL.md'],
  'share/doc/gpucloud/RUNTIME.md': named('packaging/RUNTIME.md'),
  'bin/gpucloud': ['dist/exe/gpucloud'],
};

function archive(folder) {
  const name = `gpucloud-${version}-${HERE}`;
  fill(join(folder, name), {
    ...COMMON,
    'share/zsh/site-functions/_gpucloud': ['completions/_gpucloud'],
    'share/doc/gpucloud/LICENSE': ['LICENSE'],
    'share/doc/gpucloud/CHANGELOG.md': ['CHANGELOG.md'],
    ...Object.fromEntries(manual.map((page) => [`share/man/man1/${page}`, ['man', page]])),
  });
  const order = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner'];
  const tar = join(folder, `${name}.tar`);
  run('tar', ['-cf', tar, '--format=gnu', '--mode=go=rX,u+rw', ...order, '-C', folder, name]);
  run('xz', [`-${values.level}`, '-T2', tar]);
  copyFileSync(`${tar}.xz`, join(packages, `${name}.tar.xz`));
}

const ARCHITECTURES = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };

function debian(folder) {
  const architecture = ARCHITECTURES[HERE];
  if (architecture === undefined || spawnSync('dpkg-deb', ['--version']).status !== 0) {
    console.error('No dpkg-deb here: leaving the .deb out.');
    return;
  }
  const inUsr = Object.entries(COMMON).map(([path, from]) => [`usr/${path}`, from]);
  const packed = (path) => gzipSync(text(path), { level: 9 });
  fill(join(folder, 'deb'), {
    ...Object.fromEntries(inUsr),
    'usr/share/zsh/vendor-completions/_gpucloud': ['completions/_gpucloud'],
    'usr/share/doc/gpucloud/copyright': text('LICENSE'),
    'usr/share/doc/gpucloud/changelog.gz': packed('CHANGELOG.md'),
    ...Object.fromEntries(
      manual.map((page) => [`usr/share/man/man1/${page}.gz`, packed(`man/${page}`)]),
    ),
  });
  const kilobytes = Math.ceil(statSync(join(root, 'dist/exe/gpucloud')).size / 1024) + 1024;
  fill(join(folder, 'deb'), {
    'DEBIAN/control': `Package: gpucloud
Version: ${version}
Architecture: ${architecture}
Maintainer: The gpucloud authors
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.17)
Recommends: openssh-client
Section: utils
Priority: optional
Description: rent GPU instances by the hour
 The command line of a service for GPU instances, for the terminal, scripts
 and CI. It includes the whole service as a sandbox.
`,
  });
  run('dpkg-deb', ['--root-owner-group', '-Zxz', `-z${values.level}`, '--build', 'deb', packages], {
    cwd: folder,
    env: { ...process.env, SOURCE_DATE_EPOCH: time },
  });
}

run('npm', ['run', '--silent', 'build']);
run('npm', ['run', '--silent', 'build:exe']);
rmSync(packages, { recursive: true, force: true });
mkdirSync(packages, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'gpucloud-package-'));
try {
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', packages]);
  archive(folder);
  debian(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A line as sha256sum prints it. */
function sumLine(name) {
  const content = readFileSync(join(packages, name));
  return `${createHash('sha256').update(content).digest('hex')}  ${name}`;
}

const archives = readdirSync(packages).filter((name) => name.endsWith('.tar.xz'));
const script = named('packaging/install.sh').replace('@SUMS@', archives.map(sumLine).join('\n'));
writeFileSync(join(packages, 'install.sh'), script, { mode: 0o755 });
const names = readdirSync(packages).sort();
for (const name of names) {
  console.log(`${name}: ${(statSync(join(packages, name)).size / 1e6).toFixed(1)} MB`);
}
writeFileSync(join(packages, 'SHA256SUMS'), names.map((name) => `${sumLine(name)}\n`).join(''));
