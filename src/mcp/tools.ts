import type {
  ArgumentReference,
  CommandReference,
  FlagReference,
  Reference,
} from '../command-line/reference/index.ts';
import { jsonSchemaOf } from '../json-results/json-schema.ts';
import type { ToolDefinition } from './sdk.ts';

/** What agents may do, each level with all of the level before. */
export const LEVELS = ['read', 'jobs', 'all'] as const;
export type Level = (typeof LEVELS)[number];

export interface Tool {
  readonly name: string;
  readonly words: readonly string[];
  readonly facts: NonNullable<CommandReference['tool']>;
  readonly parameters: readonly Parameter[];
  /** Whether it may rent, and so takes a deadline. */
  readonly rents: boolean;
  readonly passesOn: boolean;
  readonly definition: ToolDefinition;
}

/** A value of a tool: a flag, or an argument without `flag`. */
export interface Parameter {
  readonly name: string;
  readonly flag: string | undefined;
  readonly required: boolean;
  /** `optional`: a flag with or without a value. */
  readonly takes: 'nothing' | 'optional' | 'one' | 'several';
  /** What the server checks or replaces before the command sees the value. */
  readonly holds: 'path' | 'fetch' | 'rescue' | 'variable' | 'instance' | 'text';
  readonly schema: Schema;
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * The flags that are parameters. A flag that is added later is none until it is listed: it may touch
 * other instances, run a program here, read any file, or never end. Only reads take `--all`.
 */
const FLAGS: readonly string[] = `
  --name --any-name --offer --retry-for --image --drive --ssh-key --no-ssh-key --template
  --docker-image --docker-command --shm-size --port --env --env-file --any-env-key --volume
  --max-price --terminate-after --terminate-at --if-idle --rescue --rescue-budget --count --min-count --if-not-exists
  --wait --wait-timeout --poll-interval --dry-run --on --sync --exclude --no-gitignore --fetch
  --fetch-every --no-fetch --setup --grace --report --detach --user --default
  --page --limit --since --until --type --for --format --tail --kind --markdown --by
  --fail-below
`.split(/\s+/);

/** Returns the tools of every level. */
export function toolsIn({
  commands,
  global_flags,
}: Pick<Reference, 'commands' | 'global_flags'>): Tool[] {
  // The global flags that make a result smaller.
  const select = global_flags.filter(({ long }) => ['--query', '--columns'].includes(long));
  return commands.flatMap((command) => {
    const { tool, result_schema, without_global_flags } = command;
    if (tool === null) return [];
    const selects = select.filter(({ long }) => !without_global_flags.includes(long));
    return [toolOf(command, tool, result_schema === null ? [] : selects)];
  });
}

/** Returns the tools of a level. Offers the sandbox's own commands only with its profile. */
export function offered(tools: readonly Tool[], level: Level, isSandbox: boolean): Tool[] {
  return tools.filter(
    ({ facts, words }) =>
      LEVELS.indexOf(facts.allow) <= LEVELS.indexOf(level) && (words[0] !== 'sandbox' || isSandbox),
  );
}

function toolOf(
  command: CommandReference,
  facts: Tool['facts'],
  selects: readonly FlagReference[],
): Tool {
  const { words, summary, notes, flags, passes_on_exit_code_of } = command;
  const name = words.join('_').replaceAll('-', '_');
  const args = command.arguments.map(argumentOf);
  const allowed = facts.allow === 'read' ? [...FLAGS, '--all'] : FLAGS;
  const own = flags.filter(
    ({ long }) => allowed.includes(long) && !facts.without_flags.includes(long),
  );
  const isNew = (one: Parameter) => args.every((argument) => argument.name !== one.name);
  const parameters = [...args, ...[...own, ...selects].map(flagOf).filter(isNew)];
  return {
    name,
    words,
    facts,
    parameters,
    rents: flags.some(({ long }) => long === '--terminate-at'),
    passesOn: passes_on_exit_code_of !== null,
    definition: {
      name,
      title: summary,
      description: notes === null ? `${summary}.` : `${summary}.\n\n${notes}`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(parameters.map((one) => [one.name, one.schema])),
        required: parameters.filter(({ required }) => required).map((one) => one.name),
        additionalProperties: false,
      },
      outputSchema: outputSchema(words),
      annotations: {
        readOnlyHint: facts.allow === 'read',
        destructiveHint: facts.destructive,
        idempotentHint: facts.idempotent,
      },
    },
  };
}

function nameOf(word: string): string {
  return word.replace(/^--/, '').toLowerCase().replaceAll('-', '_');
}

function argumentOf({ name, required, variadic, ...about }: ArgumentReference): Parameter {
  const schema = { ...valueSchema(about), description: about.description };
  return {
    name: nameOf(name),
    flag: undefined,
    required,
    takes: variadic ? 'several' : 'one',
    holds: name === 'instance' ? 'instance' : about.type === 'path' ? 'path' : 'text',
    schema: variadic ? { type: 'array', items: schema } : schema,
  };
}

/** What these flags hold. Their types in the reference only help Tab completion. */
const HOLDS: Readonly<Record<string, Parameter['holds']>> = {
  '--on': 'instance',
  '--sync': 'path',
  '--report': 'path',
  '--fetch': 'fetch',
  '--rescue': 'rescue',
  '--env': 'variable',
};

function flagOf(flag: FlagReference): Parameter {
  const { long, value, value_optional, repeatable, description, type } = flag;
  const takes =
    value === null ? 'nothing' : value_optional ? 'optional' : repeatable ? 'several' : 'one';
  const one = valueSchema(flag);
  const schemas: Readonly<Record<Parameter['takes'], Schema>> = {
    nothing: { type: 'boolean' },
    optional: { anyOf: [{ type: 'boolean' }, one] },
    one,
    several: { type: 'array', items: one },
  };
  return {
    name: nameOf(long),
    flag: long,
    required: false,
    takes,
    holds: HOLDS[long] ?? (type === 'path' ? 'path' : 'text'),
    schema: { ...schemas[takes], description },
  };
}

function valueSchema({
  type,
  choices,
}: Pick<FlagReference, 'type'> & { readonly choices: readonly string[] | null }): Schema {
  if (type === 'enum' && choices !== null) return { type: 'string', enum: choices };
  return { type: type === 'number' ? ['string', 'number'] : 'string' };
}

/** The error and the warnings are those of stderr in JSON modes. */
function outputSchema(words: readonly string[]): ToolDefinition['outputSchema'] {
  const result = jsonSchemaOf(words);
  return {
    type: 'object',
    properties: {
      ...(result === undefined ? {} : { result }),
      selected: { description: 'the result of query or columns' },
      output: { type: 'string', description: 'stdout of the command' },
      stderr: { type: 'string' },
      exit_code: { type: 'integer', description: 'missing for 0' },
      error: { type: 'object', description: 'code, message, hint, may_be_billing' },
      report: { type: 'object', description: 'how a run ended, and its cost' },
      warnings: { type: 'array', items: { type: 'object' } },
      cut: { type: 'string', description: 'what is missing from a large result' },
      purse: { type: 'object', description: 'what the session has spent and may spend' },
    },
  };
}
