import { clean } from '../output/index.ts';
import type { DetailLine } from '../output/output.ts';

/**
 * The container of an instance for people: `docker_config` of an answer is "json or null" (API
 * document: Instance). What has the form of the documented request is shown as docker writes it,
 * each item on a line of its own; anything else as it came.
 */
export function containerLines(config: unknown): DetailLine[] {
  if (typeof config !== 'object' || config === null) {
    return [];
  }
  return Object.entries(config).map(([label, value]) => ({ label, value: shown(label, value) }));
}

function shown(label: string, value: unknown): string | number {
  if (value === null) return '';
  if (typeof value === 'string' || typeof value === 'number') return value;
  const written = Object.hasOwn(WRITTEN, label) ? WRITTEN[label] : undefined;
  if (written === undefined || !Array.isArray(value)) return JSON.stringify(value);
  return value.map((item: unknown) => clean(written(item) ?? JSON.stringify(item))).join('\n');
}

/** How docker writes an item; undefined for one that is not as documented (POST /instances). */
const WRITTEN: Readonly<Record<string, (item: unknown) => string | undefined>> = {
  ports: portText,
  env: (item) => pair(item, 'key', '=', 'value'),
  volumes: (item) => pair(item, 'host_path', ':', 'container_path'),
};

/** `8080->80/tcp (web, main)`. The protocol is TCP where none is told (API document: Limits). */
function portText(item: unknown): string | undefined {
  const [outer, inner] = [field(item, 'external_port'), field(item, 'internal_port')];
  const protocol = field(item, 'protocol') ?? 'TCP';
  const name = field(item, 'name') ?? '';
  if (typeof outer !== 'number' || typeof inner !== 'number') return undefined;
  if (typeof protocol !== 'string' || typeof name !== 'string') return undefined;
  const marks = [name, field(item, 'is_main') === true ? 'main' : ''].filter((one) => one !== '');
  const told = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
  return `${outer}->${inner}/${protocol.toLowerCase()}${told}`;
}

function pair(item: unknown, first: string, between: string, second: string): string | undefined {
  const [one, other] = [field(item, first), field(item, second)];
  return typeof one === 'string' && typeof other === 'string'
    ? `${one}${between}${other}`
    : undefined;
}

function field(item: unknown, name: string): unknown {
  return typeof item === 'object' && item !== null ? Reflect.get(item, name) : undefined;
}
