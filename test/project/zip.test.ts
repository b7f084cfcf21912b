import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { zipOf } from '../../scripts/zip.mjs';
import { needs } from '../support/needs.ts';

const ENTRIES = {
  'gpucloud/gpucloud.exe': Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 251)),
  'gpucloud/empty': Buffer.alloc(0),
  'gpucloud/Größe.txt': Buffer.from('a name in UTF-8'),
};

test('writes identical zip archives for identical entries', () => {
  expect(zipOf(ENTRIES, 1_700_000_000, 6).equals(zipOf(ENTRIES, 1_700_000_000, 6))).toBe(true);
});

test.each([0, 6])(
  'writes an archive that Python extracts (level %d)',
  needs('python3'),
  (level) => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucloud-zip-'));
    try {
      const file = join(folder, 'packed.zip');
      writeFileSync(file, zipOf(ENTRIES, 1_700_000_000, level));
      execFileSync('python3', ['-m', 'zipfile', '-e', file, folder]);
      for (const [name, content] of Object.entries(ENTRIES)) {
        expect(readFileSync(join(folder, name)).equals(content)).toBe(true);
      }
      const listed = execFileSync('python3', ['-m', 'zipfile', '-l', file], { encoding: 'utf8' });
      expect(listed).toContain('2023-11-14 22:13:20');
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
