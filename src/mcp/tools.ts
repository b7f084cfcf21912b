import type { Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type {
  ArgumentReference,
  FlagReference,
  Reference,
} from '../command-line/reference/index.ts';
import { jsonSchemaOf } from '../json-results/json-schema.ts';

/** What agents may do, each level with all of the level before. */
export const LEVELS = ['read', 'jobs', 'all'] as const;
export type Level = (typeof LEVELS)[number];

export interface Tool {
  readonly name: string;
  readonly words: readonly string[];
  readonly facts: NonNullable<Reference['commands'][number]['tool']>;
  readonly parameters: readonly Parameter[];
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
  readonly schema: object;
}

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
  --fail-below --query --columns
`.split(/\s+/);

/** Returns the tools of every level. */
export function toolsIn({ commands, global_flags }: Reference): Tool[] {
  return commands.flatMap((command) => {
    const { tool, words, summary, notes, result_schema, passes_on_exit_code_of } = command;
    if (tool === null) return [];
    const allowed = tool.allow === 'read' ? [...FLAGS, '--all'] : FLAGS;
    const flags = [...command.flags, ...(result_schema === null ? [] : global_flags)].filter(
      ({ long }) => allowed.includes(long) && !tool.without_flags.includes(long),
    );
    const parameters = [...command.arguments, ...flags].map(parameterOf);
    const name = nameOf(words.join('_'));
    return {
      name,
      words,
      facts: tool,
      parameters,
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
        outputSchema: { type: 'object', properties: { result: jsonSchemaOf(words) ?? {} } },
        annotations: {
          readOnlyHint: tool.allow === 'read',
          destructiveHint: tool.destructive,
          idempotentHint: tool.idempotent,
        },
      },
    };
  });
}

/** Returns the tools of a level. Offers the sandbox's own commands only with its profile. */
export function offered(tools: readonly Tool[], level: Level, isSandbox: boolean): Tool[] {
  return tools.filter(
    ({ facts, words }) =>
      LEVELS.indexOf(facts.allow) <= LEVELS.indexOf(level) && (words[0] !== 'sandbox' || isSandbox),
  );
}

function nameOf(word: string): string {
  return word.replace(/^--/, '').toLowerCase().replaceAll('-', '_');
}

/** What these hold. Their types in the reference only help Tab completion. */
const HOLDS: Readonly<Record<string, Parameter['holds']>> = {
  instance: 'instance',
  '--on': 'instance',
  '--sync': 'path',
  '--report': 'path',
  '--fetch': 'fetch',
  '--rescue': 'rescue',
  '--env': 'variable',
};

function parameterOf(value: ArgumentReference | FlagReference): Parameter {
  const { type, choices, description } = value;
  const isFlag = 'long' in value;
  const word = isFlag ? value.long : value.name;
  const isList = isFlag ? value.repeatable : value.variadic;
  const takes = isList ? 'several' : !isFlag || value.value !== null ? 'one' : 'nothing';
  const one =
    choices !== null
      ? { type: 'string', enum: choices }
      : { type: type === 'number' ? ['string', 'number'] : 'string' };
  const schemas = { nothing: { type: 'boolean' }, one, several: { type: 'array', items: one } };
  const isOptional = isFlag && value.value_optional;
  return {
    name: nameOf(word),
    flag: isFlag ? word : undefined,
    required: !isFlag && value.required,
    takes: isOptional ? 'optional' : takes,
    holds: HOLDS[word] ?? (type === 'path' ? 'path' : 'text'),
    schema: isOptional
      ? { anyOf: [{ type: 'boolean' }, one], description }
      : { ...schemas[takes], description },
  };
}
