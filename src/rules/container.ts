import { wholeNumber } from './numbers.ts';
import { broken, kept, type Verdict } from './rule.ts';

/** One entry of `docker_config.ports` (API document: POST /instances). */
export interface Port {
  internal_port: number;
  external_port: number;
  protocol: 'TCP' | 'UDP';
  name?: string | undefined;
  is_main?: boolean | undefined;
}

export function portNumber(text: string): Verdict<number> {
  return wholeNumber(text, 1, 65535, 'the port');
}

/** Parses `protocol` of a port (API document: Limits): TCP or UDP, in upper or lower case. */
export function protocol(text: string): Verdict<'TCP' | 'UDP'> {
  const upper = text.toUpperCase();
  return upper === 'TCP' || upper === 'UDP'
    ? kept(upper)
    : broken('the protocol must be tcp or udp');
}

const FORM = 'must be EXTERNAL:INTERNAL[/tcp|udp][,name=NAME][,main], such as 8080:80';

/**
 * Parses a published port as docker does, with the service's label and main mark:
 * `8888:8888/tcp,name=web,main`. TCP is the default (API document: Limits).
 */
export function publishedPort(text: string): Verdict<Port> {
  const [mapping = '', ...extras] = text.split(',');
  // Without an external port, docker would choose one.
  const [, alone, kind = ''] = /^(\d+)(\/\w+)?$/.exec(mapping) ?? [];
  if (alone !== undefined) {
    return broken(`to publish ${alone} under its own number, write ${alone}:${alone}${kind}`);
  }
  const match = /^([^:/]*):([^:/]*)(?:\/([^:/]*))?$/.exec(mapping);
  if (match === null) return broken(FORM);
  const external = portNumber(match[1] ?? '');
  const internal = portNumber(match[2] ?? '');
  const spoken = protocol(match[3] ?? 'tcp');
  if (!external.ok) return external;
  if (!internal.ok) return internal;
  if (!spoken.ok) return spoken;

  const port: Port = {
    internal_port: internal.value,
    external_port: external.value,
    protocol: spoken.value,
  };
  for (const extra of extras) {
    if (extra === 'main' && port.is_main === undefined) port.is_main = true;
    else if (/^name=./s.test(extra) && port.name === undefined) port.name = extra.slice(5);
    else return broken(FORM);
  }
  return kept(port);
}

/** The reason why two valid entries can't be combined. `at` is the index of the later entry. */
interface Clash {
  readonly at: number;
  readonly rule: string;
}

/** Finds an external port published twice, or a second main port. */
export function portClash(
  ports: readonly Pick<Port, 'external_port' | 'protocol' | 'is_main'>[],
): Clash | undefined {
  const places = ports.map(
    ({ external_port, protocol }) => `${external_port}/${protocol.toLowerCase()}`,
  );
  const at = repeatIn(places);
  if (at !== undefined) return { at, rule: `the external port ${places[at]} is published twice` };
  const [, second] = ports.flatMap(({ is_main }, index) => (is_main === true ? [index] : []));
  return second === undefined
    ? undefined
    : { at: second, rule: 'only one port can be the main one' };
}

/** Finds a duplicate variable. Doesn't show values, which may be secret. */
export function keyClash(keys: readonly string[]): Clash | undefined {
  const at = repeatIn(keys);
  return at === undefined ? undefined : { at, rule: `${keys[at]} is set twice` };
}

function repeatIn(items: readonly string[]): number | undefined {
  const at = items.findIndex((item, index) => items.indexOf(item) < index);
  return at < 0 ? undefined : at;
}

/** One entry of `docker_config.volumes` (API document: POST /instances). */
export interface Volume {
  host_path: string;
  container_path: string;
}

/** Parses `HOST:CONTAINER`, docker's form of a bind mount. The document has no rule for paths. */
export function volume(text: string): Verdict<Volume> {
  const at = text.indexOf(':');
  if (at < 1 || at === text.length - 1 || text.indexOf(':', at + 1) >= 0) {
    return broken('must be HOST_PATH:CONTAINER_PATH, without options such as :ro');
  }
  return kept({ host_path: text.slice(0, at), container_path: text.slice(at + 1) });
}

export interface EnvironmentVariable {
  key: string;
  value: string;
}

/**
 * Checks a key of `docker_config.env`. The document requires "a valid environment key" without a
 * definition, so this is the usual rule of POSIX shells. A flag of `instances create` allows other
 * keys.
 */
export function environmentKey(text: string): Verdict<string> {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
    ? kept(text)
    : broken('must contain only letters, digits and "_", and not start with a digit');
}

/**
 * Parses `KEY=VALUE`. Keeps the value unchanged; it may be empty and may contain `=`. The rule
 * never repeats the value, since it is often a secret.
 */
export function environmentVariable(text: string): Verdict<EnvironmentVariable> {
  const at = text.indexOf('=');
  if (at < 1) return broken('must be KEY=VALUE');
  return kept({ key: text.slice(0, at), value: text.slice(at + 1) });
}

/** Variables that bash sets itself and does not let scripts change. */
const READ_ONLY = ['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID'];

/** Checks that a shell can pass the variable to a command. */
export function variableName(text: string): Verdict<string> {
  if (text.includes('=')) return broken('must be a name without its value');
  return READ_ONLY.includes(text)
    ? broken("can't be passed: the instance's shell sets it")
    : environmentKey(text);
}
