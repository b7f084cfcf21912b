// Downloads the executable's parts from npm: Bun as its runtime, and the keyring library. Bun is
// not a devDependency, since everyone who runs the tests would download 52 MB.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './bundle.mjs';

export const BUN = '1.4.5';

/** Bun's package and the keyring's for each target, with their hashes from npm's registry. */
const TARGETS = {
  'linux-x64': {
    bun: 'linux-x64',
    integrity:
      'sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==',
    keyring: 'linux-x64-gnu',
  },
  'linux-arm64': {
    bun: 'linux-aarch64',
    integrity:
      'sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==',
    keyring: 'linux-arm64-gnu',
  },
  'linux-x64-musl': {
    bun: 'linux-x64-musl',
    integrity:
      'sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==',
    keyring: 'linux-x64-musl',
  },
  'linux-arm64-musl': {
    bun: 'linux-aarch64-musl',
    integrity:
      'sha512-XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==',
    keyring: 'linux-arm64-musl',
  },
  'darwin-x64': {
    bun: 'darwin-x64',
    integrity:
      'sha512-qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==',
    keyring: 'darwin-x64',
  },
  'darwin-arm64': {
    bun: 'darwin-aarch64',
    integrity:
      'sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==',
    keyring: 'darwin-arm64',
  },
  'windows-x64': {
    bun: 'windows-x64',
    integrity:
      'sha512-FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==',
    keyring: 'win32-x64-msvc',
  },
};

const LIBC = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
export const HERE = `${process.platform.replace('win32', 'windows')}-${process.arch}${LIBC ? '-musl' : ''}`;
export const TARGET_NAMES = Object.keys(TARGETS);

export function isWindows(target) {
  return target.startsWith('windows-');
}

function entryOf(target) {
  const entry = TARGETS[target];
  if (entry === undefined) {
    throw new Error(`npm has no runtime for ${target}. Targets: ${TARGET_NAMES.join(', ')}`);
  }
  return entry;
}

/**
 * Returns the folder of a package outside the project. Downloads and verifies the package the first
 * time.
 */
function fetched(name, version, integrity) {
  const kept = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gpucloud-ci');
  const folder = join(kept, `${name.replace(/[@/]/g, '-').slice(1)}-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(kept, { recursive: true });
  const fresh = mkdtempSync(join(kept, 'fetch-'));
  try {
    const options = ['--json', '--ignore-scripts', '--silent', '--pack-destination', fresh];
    const [{ filename }] = JSON.parse(
      execFileSync('npm', ['pack', ...options, `${name}@${version}`], { cwd: fresh }),
    );
    const packed = join(fresh, filename);
    const hash = createHash('sha512').update(readFileSync(packed)).digest('base64');
    if (`sha512-${hash}` !== integrity) {
      throw new Error(`${name}@${version} is not the package that is expected: sha512-${hash}`);
    }
    execFileSync('tar', ['-xzf', packed, '-C', fresh]);
    renameSync(join(fresh, 'package'), folder);
  } catch (error) {
    // Another build may have written the folder first.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder;
}

/** Returns the path of a target's Bun. */
export function runtimeFor(target) {
  const { bun, integrity } = entryOf(target);
  const folder = fetched(`@oven/bun-${bun}`, BUN, integrity);
  return join(folder, 'bin', isWindows(target) ? 'bun.exe' : 'bun');
}

/** Returns the path of a target's keyring library. */
export function keyringFor(target) {
  const { keyring } = entryOf(target);
  const name = `@napi-rs/keyring-${keyring}`;
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', ROOT), 'utf8'));
  const { version, integrity } = lock.packages[`node_modules/${name}`];
  return join(fetched(name, version, integrity), `keyring.${keyring}.node`);
}
