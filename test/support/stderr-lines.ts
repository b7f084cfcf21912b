import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { z } from 'zod';

const SCHEMA = z.fromJSONSchema(
  JSON.parse(readFileSync(new URL('../../schemas/stderr.schema.json', import.meta.url), 'utf8')),
);

/**
 * Returns the objects on stderr in a JSON mode, after checking each against the published schema.
 */
export function stderrLines(stderr: string): Record<string, unknown>[] {
  if (stderr === '') return [];
  expect(stderr.endsWith('\n')).toBe(true);
  return stderr
    .slice(0, -1)
    .split('\n')
    .map((line) => {
      const checked = SCHEMA.safeParse(JSON.parse(line));
      expect(checked.error?.issues, line).toBeUndefined();
      return JSON.parse(line);
    });
}

/** Returns a failed command's error, which is the last line. */
export function errorOf(stderr: string): Record<string, unknown> {
  return stderrLines(stderr).at(-1)?.error as Record<string, unknown>;
}

/** Returns the messages of all warnings. */
export function warningsOf(stderr: string): string[] {
  return stderrLines(stderr).flatMap(({ warning }) =>
    warning === undefined ? [] : (warning as { message: string }).message,
  );
}
