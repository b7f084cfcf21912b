import { broken, kept, type Verdict } from './rule.ts';

/** One item of `docker_config.volumes` (spec: POST /instances). */
export interface Volume {
  host_path: string;
  container_path: string;
}

/** `HOST:CONTAINER`, as docker writes a bind mount. The document gives paths no rule of their own. */
export function volume(text: string): Verdict<Volume> {
  const at = text.indexOf(':');
  if (at < 1 || at === text.length - 1 || text.indexOf(':', at + 1) >= 0) {
    return broken(
      'a volume is written HOST_PATH:CONTAINER_PATH; a third part, as :ro, is not in the published API',
    );
  }
  return kept({ host_path: text.slice(0, at), container_path: text.slice(at + 1) });
}
