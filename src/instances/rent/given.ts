import { readInput } from '../../command-line/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { loadYamlLibrary } from '../../output/formats/yaml.ts';
import type { Port, Volume } from '../../rules/container.ts';
import { type Money, positiveMoney } from '../../rules/money.ts';
import type { Verdict } from '../../rules/rule.ts';
import { moment, positiveDuration } from '../../rules/times.ts';
import type { DeadlineFlags } from '../deadlines/deadline.ts';
import { faultsInManifest, type ManifestFields } from './manifest-schema.ts';

/** Input of `instances create`, before names become IDs. */
export interface CreateFlags extends DeadlineFlags {
  readonly name?: string | undefined;
  /** Offers in the order of attempts. */
  readonly offer?: readonly string[] | undefined;
  /** Milliseconds. */
  readonly retryFor?: number | undefined;
  readonly image?: string | undefined;
  readonly sshKey?: readonly string[] | undefined;
  readonly template?: string | undefined;
  readonly drive?: string | undefined;
  readonly file?: string | undefined;
  readonly maxPrice?: Money | undefined;
  readonly dockerImage?: string | undefined;
  readonly dockerCommand?: string | undefined;
  readonly shmSize?: number | undefined;
  readonly port?: readonly Port[] | undefined;
  readonly env?: readonly string[] | undefined;
  readonly envFile?: readonly string[] | undefined;
  readonly anyEnvKey?: boolean | undefined;
  readonly volume?: readonly Volume[] | undefined;
}

/** Maps each flag to the file's field for the same value. */
const FIELDS = {
  name: ['instance_name'],
  offer: ['offers'],
  image: ['image_id'],
  sshKey: ['ssh_keys'],
  template: ['template_id'],
  drive: ['storage_drive_id'],
  dockerImage: ['docker_config', 'image'],
  dockerCommand: ['docker_config', 'run_command'],
  shmSize: ['docker_config', 'shm_size_gb'],
  port: ['docker_config', 'ports'],
  env: ['docker_config', 'env'],
  volume: ['docker_config', 'volumes'],
} as const satisfies Partial<Record<keyof CreateFlags, readonly string[]>>;

/** The instance's description: flags win over the file. */
export interface Given {
  readonly flags: CreateFlags;
  readonly typed: CreateFlags;
  /** Returns the source of a value, for messages: `--offer`, or `box.yaml, line 2: offer_id`. */
  from(flag: keyof typeof FIELDS, item?: number): string;
}

/** Reads `--file` if given. Flags override its fields one by one. */
export async function withFile(typed: CreateFlags, context: Context): Promise<Given> {
  const manifest = typed.file === undefined ? undefined : await readManifest(typed.file, context);
  const own = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined));
  return {
    flags: manifest === undefined ? typed : { ...flagsIn(manifest, typed), ...own },
    typed,
    from(flag, item) {
      const isOwn = typed[flag] !== undefined || manifest === undefined;
      const word = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      if (isOwn) return `--${word}`;
      if (flag === 'offer' && manifest.fields.offer_id !== undefined)
        return manifest.at(['offer_id']);
      return manifest.at([...FIELDS[flag], ...(item === undefined ? [] : [item])]);
    },
  };
}

function flagsIn({ fields, at }: Manifest, typed: CreateFlags): CreateFlags {
  const { docker_config: container, terminate_after: after, terminate_at: time } = fields;
  if (fields.offers !== undefined && fields.offer_id !== undefined) {
    throw usageError(`${at(['offers'])} can't be combined with offer_id`);
  }
  if (after !== undefined && time !== undefined) {
    throw usageError(`${at(['terminate_at'])} can't be combined with terminate_after`);
  }
  // Deadlines and variables from flags replace those of the file.
  const hasDeadline = typed.terminateAfter !== undefined || typed.terminateAt !== undefined;
  const env = typed.envFile === undefined ? container?.env : undefined;
  const ports = container?.ports?.map(({ protocol = 'TCP' as const, ...port }) => ({
    ...port,
    protocol,
  }));
  return {
    name: fields.instance_name,
    offer: fields.offers ?? (fields.offer_id === undefined ? undefined : [fields.offer_id]),
    image: fields.image_id,
    sshKey: fields.ssh_keys,
    template: fields.template_id,
    drive: fields.storage_drive_id,
    dockerImage: container?.image,
    dockerCommand: container?.run_command,
    shmSize: container?.shm_size_gb,
    port: ports,
    env: env?.map(({ key, value }) => `${key}=${value}`),
    volume: container?.volumes,
    terminateAfter: hasDeadline ? undefined : valueIn(after, positiveDuration),
    terminateAt: hasDeadline ? undefined : valueIn(time, moment),
    maxPrice: valueIn(fields.max_price?.toString(), positiveMoney),
  };
}

/** Returns a valid text's value. */
function valueIn<T>(text: string | undefined, rule: (text: string) => Verdict<T>): T | undefined {
  const verdict = text === undefined ? undefined : rule(text);
  return verdict?.ok ? verdict.value : undefined;
}

/** The contents of `--file`. */
interface Manifest {
  readonly fields: ManifestFields;
  /** Returns a field's place for messages: `box.yaml, line 3: docker_config.ports.1`. */
  at(field: readonly PropertyKey[]): string;
}

/**
 * Reads `--file` as YAML (JSON is a subset); `-` means stdin. Throws a usage error with the file
 * and, for each fault, the line, the field and the rule.
 */
async function readManifest(path: string, context: Context): Promise<Manifest> {
  const text = await readInput('--file', path, context);
  const { isMap, isNode, isScalar, LineCounter, parseDocument, visit } = await loadYamlLibrary();
  const file = path === '-' ? 'stdin' : path;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const refused = (faults: readonly { offset: number; what: string }[]) => {
    const inOrder = [...faults].sort((a, b) => a.offset - b.offset);
    const words = inOrder.map(({ offset, what }) => `line ${lines.linePos(offset).line}: ${what}`);
    return usageError(`${file}, ${words.join('; ')}`);
  };
  const syntax = document.errors.map((error) => ({
    offset: error.pos[0],
    what: syntaxFault(error),
  }));
  // Rejects tags: YAML would read `!secret x` as x.
  visit(document, {
    Node(_key, { tag, range }) {
      if (tag) syntax.push({ offset: range?.[0] ?? 0, what: `the tag ${tag} is not supported` });
    },
  });
  if (syntax.length > 0) throw refused(syntax);

  function offsetOf(where: readonly PropertyKey[]): number {
    // Uses the nearest parent's line, since a missing field has none.
    for (let field = where; field.length > 0; field = field.slice(0, -1)) {
      const parent = document.getIn(field.slice(0, -1), true);
      const pair = isMap(parent)
        ? parent.items.find((item) => isScalar(item.key) && item.key.value === field.at(-1))
        : undefined;
      const node = isScalar(pair?.key) ? pair.key : document.getIn(field, true);
      if (isNode(node) && node.range != null) return node.range[0];
    }
    return 0;
  }

  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // YAML also throws for aliases without an anchor, and for endless expansion.
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`${file}: can't resolve its aliases: ${reason}`);
  }
  const faults = faultsInManifest(content).map(({ where, what }) => ({
    offset: offsetOf(where),
    what: `${where.length === 0 ? 'the file' : where.map(String).join('.')} ${what}`,
  }));
  if (faults.length > 0) throw refused(faults);
  return {
    fields: content as ManifestFields,
    at: (field) =>
      `${file}, line ${lines.linePos(offsetOf(field)).line}: ${field.map(String).join('.')}`,
  };
}

function syntaxFault({ code, message }: { code: string; message: string }): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'duplicate field';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here; a file describes one instance';
    default:
      return `not YAML or JSON: ${message}`;
  }
}
