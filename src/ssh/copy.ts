import { usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';

export interface Copy {
  readonly instance: string;
  /** Paths on this computer or on the instance, depending on `from`. */
  readonly sources: readonly string[];
  readonly target: string;
  /** Which side has the sources. */
  readonly from: 'here' | 'instance';
}

/**
 * Parses the paths of a copy between this computer and one instance. Throws a usage error for any
 * other paths.
 */
export function parseCopy(paths: readonly string[], platform: string): Copy {
  const refused = (rule: string, hint?: string) =>
    usageError(`PATH "${paths.join(' ')}": ${rule}`, hint);
  const places = paths.map((path) => parsePlace(path, platform));
  const target = places.at(-1);
  const sources = places.slice(0, -1);
  if (target === undefined || sources.length === 0) {
    throw refused('needs at least two paths: source and target');
  }
  const instances = [...new Set(sources.map(({ instance }) => instance))];
  const ends = { sources: sources.map(({ path }) => path), target: target.path };
  if (target.instance !== undefined) {
    if (instances.some((instance) => instance !== undefined)) {
      throw refused(
        'the source of a copy to an instance must be on this computer',
        `copy the file to this computer first, or copy it on the instance: ${gpucloud('instances', 'ssh', 'NAME')}`,
      );
    }
    return { instance: target.instance, from: 'here', ...ends };
  }
  const [from] = instances;
  if (instances.length > 1) {
    throw refused('all sources must be on the same instance');
  }
  if (from === undefined) {
    throw refused('one path must be on an instance: INSTANCE:PATH');
  }
  return { instance: from, from: 'instance', ...ends };
}

interface Place {
  /** undefined for a path on this computer. */
  readonly instance: string | undefined;
  readonly path: string;
}

/** Parses a path as scp does: a colon before any slash ends an instance name. */
function parsePlace(text: string, platform: string): Place {
  const [, instance, path] = /^([^:/\\]+):(.*)/s.exec(text) ?? [];
  const isDrive = platform === 'win32' && /^[A-Za-z]:/.test(text);
  if (instance === undefined || path === undefined || isDrive) {
    if (text === '') throw usageError('PATH "": must not be empty');
    return { instance: undefined, path: text };
  }
  if (instance.includes('@')) {
    throw usageError(`PATH "${text}": must not contain a user`, 'set the user with --user');
  }
  return { instance, path };
}
