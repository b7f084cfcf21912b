import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
) as {
  packages: Readonly<Record<string, Locked>>;
};
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

test('lists each optional dependency in the lock file, as newer npm requires', () => {
  const missing = Object.entries(lock.packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter(
        (name) =>
          !(`${place}/node_modules/${name}` in lock.packages) &&
          !(`node_modules/${name}` in lock.packages),
      )
      .map((name) => `${place} -> ${name}`),
  );
  expect(missing).toEqual([]);
});

test('stores no download URLs in the lock file', () => {
  const addressed = Object.entries(lock.packages).filter(
    ([, { resolved }]) => resolved !== undefined,
  );
  expect(addressed).toEqual([]);
});

test('contains only devDependencies with exact versions', () => {
  expect(manifest.dependencies).toBeUndefined();
  for (const [name, version] of Object.entries(manifest.devDependencies)) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  }
});
