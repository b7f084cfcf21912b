import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { published } from '../../scripts/publish.mjs';
import { TARGET_NAMES } from '../../scripts/runtimes.mjs';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json'));
const release = JSON.parse(read('packaging/release.json'));
const ADDRESS = release.address.replaceAll('@VERSION@', version);

/** An archive per target, each with a different checksum. */
const SUMS = new Map(
  TARGET_NAMES.map((target, index) => {
    const name = `gpucloud-${version}-${target}.${target === 'windows-x64' ? 'zip' : 'tar.xz'}`;
    return [name, index.toString(16).repeat(64)];
  }),
);
const FILES = published(SUMS);

const url = z.string().check(z.regex(/^https:\/\/\S+$/), z.maxLength(2048));
const sha256 = z.string().check(z.regex(/^[a-fA-F0-9]{64}$/));
const text = z.string().check(z.minLength(3), z.maxLength(256));

/** The used part of Scoop's schema.json and of winget's schemas, version 1.10.0. */
const scoop = z.strictObject({
  version: z.string().check(z.regex(/^[\w.\-+]+$/)),
  description: text,
  homepage: url,
  license: z.literal('MIT'),
  architecture: z.strictObject({
    '64bit': z.strictObject({ url, hash: sha256, extract_dir: z.string() }),
  }),
  bin: z.string(),
});
const winget = {
  PackageIdentifier: z
    .string()
    .check(z.regex(/^[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}$/)),
  PackageVersion: z.string().check(z.regex(/^[^\\/:*?"<>|]+$/), z.maxLength(128)),
  ManifestVersion: z.literal('1.10.0'),
};
const WINGET = {
  '': z.strictObject({
    ...winget,
    DefaultLocale: z.literal('en-US'),
    ManifestType: z.literal('version'),
  }),
  '.installer': z.strictObject({
    ...winget,
    InstallerType: z.literal('zip'),
    NestedInstallerType: z.literal('portable'),
    NestedInstallerFiles: z.tuple([
      z.strictObject({
        RelativeFilePath: z.string().check(z.minLength(1), z.maxLength(512)),
        PortableCommandAlias: z.string().check(z.minLength(1), z.maxLength(40)),
      }),
    ]),
    Installers: z.tuple([
      z.strictObject({
        Architecture: z.enum(['x86', 'x64', 'arm', 'arm64', 'neutral']),
        InstallerUrl: url,
        InstallerSha256: sha256,
      }),
    ]),
    ManifestType: z.literal('installer'),
  }),
  '.locale.en-US': z.strictObject({
    ...winget,
    PackageLocale: z.literal('en-US'),
    Publisher: text,
    PackageName: text,
    PackageUrl: url,
    License: text,
    ShortDescription: text,
    Moniker: z.string().check(z.minLength(1), z.maxLength(40)),
    ManifestType: z.literal('defaultLocale'),
  }),
};

function sumOf(name: string): string {
  const sum = SUMS.get(name);
  if (sum === undefined) throw new Error(`${name} is not an archive`);
  return sum;
}

test('replaces every placeholder in every release file', () => {
  expect(FILES.size).toBe(7);
  for (const [name, text] of FILES) {
    expect(text, name).not.toMatch(/@[A-Z]+[ @]/);
    expect(text, name).toContain(version);
  }
});

test('writes the URL and checksum of each archive for Homebrew', () => {
  const formula = FILES.get('gpucloud.rb') ?? '';
  const pairs = [...formula.matchAll(/url "([^"]+)"\n\s+sha256 "([0-9a-f]{64})"/g)];
  expect(pairs).toHaveLength(4);
  for (const [, address = '', sum] of pairs) {
    expect(address.startsWith(`${ADDRESS}/`)).toBe(true);
    expect(sum).toBe(sumOf(address.slice(ADDRESS.length + 1)));
  }
  const [, description = ''] = /desc "([^"]*)"/.exec(formula) ?? [];
  // `brew audit` limits the length.
  expect(description.length).toBeLessThan(80);
  expect(description).not.toMatch(/^(?:An?|The) |gpucloud|\.$/i);
});

test('writes the URL and checksum of the .zip for Scoop', () => {
  const manifest = scoop.parse(JSON.parse(FILES.get('gpucloud.json') ?? ''));
  const { url, hash, extract_dir } = manifest.architecture['64bit'];
  const name = `gpucloud-${version}-windows-x64`;
  expect({ url, hash, extract_dir }).toEqual({
    url: `${ADDRESS}/${name}.zip`,
    hash: sumOf(`${name}.zip`),
    extract_dir: name,
  });
});

test('writes the URL and checksum of the .zip for winget', () => {
  for (const [kind, schema] of Object.entries(WINGET)) {
    schema.parse(parse(FILES.get(`Gpucloud.Gpucloud${kind}.yaml`) ?? ''));
  }
  const installer = WINGET['.installer'].parse(
    parse(FILES.get('Gpucloud.Gpucloud.installer.yaml') ?? ''),
  );
  const name = `gpucloud-${version}-windows-x64`;
  expect(installer.Installers[0]).toMatchObject({
    InstallerUrl: `${ADDRESS}/${name}.zip`,
    InstallerSha256: sumOf(`${name}.zip`),
  });
  expect(installer.NestedInstallerFiles[0].RelativeFilePath).toBe(`${name}\\gpucloud.exe`);
});

test('adds the checksum of each archive to both install scripts', () => {
  for (const script of ['install.sh', 'install.ps1']) {
    for (const [name, sum] of SUMS) expect(FILES.get(script)).toContain(`${sum}  ${name}`);
  }
});

test('omits files that name a missing archive', () => {
  const of = (...targets: string[]) => {
    const some = [...SUMS].filter(([name]) => targets.some((target) => name.includes(target)));
    return [...published(new Map(some)).keys()];
  };
  expect(of('linux-x64.')).toEqual(['install.sh']);
  expect(of('darwin-', 'linux-x64.')).toEqual(['install.sh']);
  expect(of('darwin-', 'linux-x64.', 'linux-arm64.')).toEqual(['install.sh', 'gpucloud.rb']);
  expect(of('windows-x64')).toEqual([
    'install.sh',
    'install.ps1',
    'gpucloud.json',
    'Gpucloud.Gpucloud.yaml',
    'Gpucloud.Gpucloud.installer.yaml',
    'Gpucloud.Gpucloud.locale.en-US.yaml',
  ]);
});

test('takes every URL from one setting, which is a placeholder', () => {
  expect(new URL(ADDRESS).hostname).toMatch(/\.invalid$/);
  for (const [name, text] of FILES) {
    if (name.startsWith('install')) continue;
    const addresses = (text.match(/https:[^\s"]+/g) ?? []).filter((one) => !one.includes('schema'));
    for (const one of addresses) {
      expect(one.startsWith(`${ADDRESS}/`) || one === release.homepage, one).toBe(true);
    }
  }
});
