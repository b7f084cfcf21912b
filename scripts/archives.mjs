// Writes the archives of one target: .tar.xz, .zip for Windows, and .deb. The same commit produces
// the same bytes.
import { execFileSync, spawnSync } from 'node:child_process';
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
import { gzipSync } from 'node:zlib';
import { ROOT, version } from './bundle.mjs';
import { executableOf } from './executable.mjs';
import { filled } from './publish.mjs';
import { isWindows } from './runtimes.mjs';
import { zipOf } from './zip.mjs';

const root = fileURLToPath(ROOT);
const manual = readdirSync(join(root, 'man'));

/** Uses the commit's time, so that two builds of one commit are identical. */
const time =
  process.env.SOURCE_DATE_EPOCH ??
  (spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).stdout.trim() ||
    '0');

/** Returns flags of xz and dpkg-deb. Level 0 is for tests, and twice as fast as `xz -0`. */
function compression(level) {
  if (level === '0') return { xz: ['--lzma2=preset=0,dict=4KiB,nice=2,depth=1'], deb: ['-Znone'] };
  return { xz: [`-${level}`], deb: ['-Zxz', `-z${level}`] };
}

/** Debian's names for the targets that get a .deb. */
const ARCHITECTURES = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };

function run(file, args, options = {}) {
  return execFileSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
}

const content = (path) => readFileSync(join(root, path));
const runtime = () => filled('RUNTIME.md');

function fill(folder, files) {
  for (const [path, from] of Object.entries(files)) {
    const at = join(folder, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, from);
    chmodSync(at, 0o644);
  }
}

function addProgram(folder, target) {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  copyFileSync(executableOf(target), join(folder, 'bin/gpucloud'));
  chmodSync(join(folder, 'bin/gpucloud'), 0o755);
}

/** Returns the files in every archive. The .deb stores them below usr/. */
function commonFiles() {
  return {
    'share/bash-completion/completions/gpucloud': content('completions/gpucloud.bash'),
    'share/fish/vendor_completions.d/gpucloud.fish': content('completions/gpucloud.fish'),
    'share/doc/gpucloud/THIRD-PARTY-LICENSES.txt': content('dist/THIRD-PARTY-LICENSES.txt'),
    'share/doc/gpucloud/SKILL.md': content('skills/gpucloud/SKILL.md'),
    'share/doc/gpucloud/RUNTIME.md': runtime(),
  };
}

/** @param report called with the path of each finished archive. */
export function writeArchives(target, packages, level, report) {
  const folder = mkdtempSync(join(tmpdir(), 'gpucloud-package-'));
  try {
    if (isWindows(target)) report(zip(target, packages, level));
    else report(tarball(target, folder, packages, level));
    if (target in ARCHITECTURES) debian(target, folder, packages, level, report);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tarball(target, folder, packages, level) {
  const name = `gpucloud-${version}-${target}`;
  fill(join(folder, name), {
    ...commonFiles(),
    'share/zsh/site-functions/_gpucloud': content('completions/_gpucloud'),
    'share/doc/gpucloud/LICENSE': content('LICENSE'),
    'share/doc/gpucloud/CHANGELOG.md': content('CHANGELOG.md'),
    ...Object.fromEntries(manual.map((page) => [`share/man/man1/${page}`, content(`man/${page}`)])),
  });
  addProgram(join(folder, name), target);
  const order = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner'];
  const tar = join(folder, `${name}.tar`);
  run('tar', ['-cf', tar, '--format=gnu', '--mode=go=rX,u+rw', ...order, '-C', folder, name]);
  run('xz', [...compression(level).xz, '-T2', tar]);
  const archive = join(packages, `${name}.tar.xz`);
  copyFileSync(`${tar}.xz`, archive);
  return archive;
}

function zip(target, packages, level) {
  const name = `gpucloud-${version}-${target}`;
  const files = {
    'gpucloud.exe': readFileSync(executableOf(target)),
    'gpucloud.ps1': content('completions/gpucloud.ps1'),
    'LICENSE.txt': content('LICENSE'),
    'CHANGELOG.md': content('CHANGELOG.md'),
    'RUNTIME.md': Buffer.from(runtime()),
    'SKILL.md': content('skills/gpucloud/SKILL.md'),
    'THIRD-PARTY-LICENSES.txt': content('dist/THIRD-PARTY-LICENSES.txt'),
  };
  const entries = Object.entries(files).map(([path, from]) => [`${name}/${path}`, from]);
  const archive = join(packages, `${name}.zip`);
  writeFileSync(archive, zipOf(Object.fromEntries(entries), Number(time), Number(level)));
  return archive;
}

function debian(target, folder, packages, level, report) {
  const architecture = ARCHITECTURES[target];
  if (spawnSync('dpkg-deb', ['--version']).status !== 0) {
    console.error('No dpkg-deb here: leaving the .deb out.');
    return;
  }
  const packed = (path) => gzipSync(content(path), { level: 9 });
  const inUsr = Object.entries(commonFiles()).map(([path, from]) => [`usr/${path}`, from]);
  fill(join(folder, 'deb'), {
    ...Object.fromEntries(inUsr),
    'usr/share/zsh/vendor-completions/_gpucloud': content('completions/_gpucloud'),
    'usr/share/doc/gpucloud/copyright': content('LICENSE'),
    'usr/share/doc/gpucloud/changelog.gz': packed('CHANGELOG.md'),
    ...Object.fromEntries(
      manual.map((page) => [`usr/share/man/man1/${page}.gz`, packed(`man/${page}`)]),
    ),
    'DEBIAN/control': `Package: gpucloud
Version: ${version}
Architecture: ${architecture}
Maintainer: The gpucloud authors
Installed-Size: ${Math.ceil(statSync(executableOf(target)).size / 1024) + 1024}
Depends: libc6 (>= 2.17)
Recommends: openssh-client
Section: utils
Priority: optional
Description: rent GPU instances by the hour
 The command line of a service for GPU instances, for the terminal, scripts
 and CI. It includes the whole service as a sandbox.
`,
  });
  addProgram(join(folder, 'deb/usr'), target);
  const flags = ['--root-owner-group', ...compression(level).deb];
  run('dpkg-deb', [...flags, '--build', 'deb', packages], {
    cwd: folder,
    env: { ...process.env, SOURCE_DATE_EPOCH: time },
  });
  report(join(packages, `gpucloud_${version}_${architecture}.deb`));
}
