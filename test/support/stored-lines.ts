import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A longer file only tests its size. */
const MOST = 5000;

/** Returns the text of each file below a folder, by its path there. */
export function storedIn(folder: string): Map<string, string> {
  const files = pathsIn(folder).flatMap((path): [string, string][] => {
    const text = orElse(undefined, () => readFileSync(path, 'utf8'));
    return text === undefined ? [] : [[path.slice(folder.length + 1), text]];
  });
  return new Map(files);
}

function pathsIn(folder: string): string[] {
  return orElse([], () => readdirSync(folder, { withFileTypes: true })).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return pathsIn(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Returns `other` if a file or folder was removed meanwhile, or its mode forbids reading. */
function orElse<T>(other: T, read: () => T): T {
  try {
    return read();
  } catch {
    return other;
  }
}

/** Returns which files a command added, changed and removed. */
export function storedLines(before: Map<string, string>, after: Map<string, string>): string[] {
  const removed = [...before.keys()].filter((path) => !after.has(path));
  const written = [...after].filter(([path, text]) => before.get(path) !== text);
  return [
    ...removed.map((path) => `- ${unnumbered(path)}`),
    ...written.map(([path, text]) => `+ ${unnumbered(path)}: ${inOneLine(text)}`),
  ];
}

/** The ID of an instance is in its file too. */
function unnumbered(path: string): string {
  return path.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID');
}

function inOneLine(text: string): string {
  // Tests of the sandbox compare its state.
  if (text.startsWith('{"version":1,"clock":')) return '…';
  try {
    return shortened(JSON.stringify(JSON.parse(text, withoutResponse)));
  } catch {
    return shortened(JSON.stringify(text));
  }
}

function shortened(text: string): string {
  // Its length depends on the paths of the computer.
  return text.length > MOST ? '(a long text)' : text;
}

/** Leaves out what the service said of an instance. */
function withoutResponse(key: string, value: { status?: string; seen_at?: string }) {
  return key === 'last' && value?.seen_at !== undefined
    ? { status: value.status, seen_at: value.seen_at }
    : value;
}
