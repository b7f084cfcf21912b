import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type {
  JsonSchemaType,
  JsonSchemaValidator,
} from '@modelcontextprotocol/sdk/validation/types.js';
import { referenceOf } from '../../src/command-line/reference/index.ts';
import type { Interrupts } from '../../src/context.ts';
import { built } from '../../src/mcp/built.ts';
import { toolsIn } from '../../src/mcp/tools.ts';
import { tree } from '../contract/tree.ts';
import { type ManualClock, manualClock } from '../support/clock.ts';
import type { CliResult, World } from '../support/run-cli.ts';

/** All tools. Sessions get them ready-made, as from the build, since making them takes long. */
export const TOOLS = toolsIn(referenceOf(tree));
built.tools = () => TOOLS;

/** Milliseconds. The server's own timers are longer than the pauses of commands. */
const LONG = 5_000;

/**
 * Creates a manual clock on which only `advance` passes the server's timers. The pauses of commands
 * return at once.
 */
export function waitingClock(): ManualClock {
  const clock = manualClock();
  const waiting = new Set<() => void>();
  return {
    ...clock,
    advance(milliseconds) {
      clock.advance(milliseconds);
      for (const look of waiting) look();
    },
    sleep(milliseconds, signal) {
      if (milliseconds < LONG) return clock.sleep(milliseconds, signal);
      const until = clock.monotonic() + milliseconds;
      return new Promise((resolve, reject) => {
        const stop = () => {
          waiting.delete(look);
          reject(signal?.reason);
        };
        const look = () => {
          if (clock.monotonic() < until) return;
          waiting.delete(look);
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        if (signal?.aborted) return stop();
        signal?.addEventListener('abort', stop, { once: true });
        waiting.add(look);
      });
    },
  };
}

/** Returns the status of each instance by its name. */
export async function statusesIn(world: Pick<World, 'cli'>): Promise<Record<string, string>> {
  const { stdout } = await world.cli(['instances', 'list', '--all', '--json']);
  const rows: { name: string; status: string }[] = JSON.parse(stdout);
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}

/** Connects the SDK's client with the streams of a server in this process. */
class Pipes implements Transport {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  /** Everything that the server wrote to stdout. */
  written = '';
  /** Everything that the server wrote to stderr. */
  errors = '';

  async start(): Promise<void> {
    this.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    let rest = '';
    this.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.written += text;
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.onmessage?.(JSON.parse(line));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.stdin.end();
    this.onclose?.();
  }
}

export interface Content {
  readonly isError: boolean;
  readonly result?: unknown;
  readonly selected?: unknown;
  readonly output?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
  readonly warnings?: readonly { readonly code: string }[];
  readonly exit_code?: number;
  readonly cut?: string;
  readonly purse?: Purse;
}

export interface Purse {
  readonly max_cost: string;
  readonly committed: string;
  readonly left: string;
  readonly instances: readonly { readonly id: string; readonly name: string }[];
  readonly unknown_requests: readonly string[];
}

/** An agent with a session of its own. */
export interface Agent {
  readonly client: Client;
  readonly pipes: Pick<Pipes, 'stdin' | 'written' | 'errors'>;
  call(name: string, given?: Record<string, unknown>, signal?: AbortSignal): Promise<Content>;
  purse(): Promise<Purse>;
  /** Closes stdin, and returns how the server ended. */
  end(): Promise<CliResult>;
  readonly ended: Promise<CliResult>;
}

interface Options {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly interrupts?: Interrupts;
  readonly onThirdInterrupt?: (leave: () => void) => () => void;
  /** Whether to return before the server has read the account and the time. */
  readonly isEarly?: boolean;
}

/** Compiles the schema of a tool at its first call: a client lists all tools, and calls few. */
class LazyValidator extends AjvJsonSchemaValidator {
  readonly #compiled = new Map<string, JsonSchemaValidator<unknown>>();

  override getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    return (input) => {
      const text = JSON.stringify(schema);
      const compiled = this.#compiled.get(text) ?? super.getValidator(schema);
      this.#compiled.set(text, compiled);
      return (compiled as JsonSchemaValidator<T>)(input);
    };
  }
}
const jsonSchemaValidator = new LazyValidator();

/** Starts `gpucloud mcp` in this process and connects a client. Returns when calls can rent. */
export async function openAgent(
  world: World,
  argv: readonly string[] = [],
  { isEarly = false, ...options }: Options = {},
): Promise<Agent> {
  const pipes = new Pipes();
  const ended = world.cli(['mcp', ...argv], { ...options, pipes, isAlive: () => true });
  const client = new Client({ name: 'test', version: '1' }, { jsonSchemaValidator });
  await client.connect(pipes);
  // Calls that are still open fail when the server has ended, instead of after a minute.
  void ended.then(() => pipes.onclose?.());
  const agent: Agent = {
    client,
    pipes,
    ended,
    async call(name, given = {}, signal) {
      const how = signal === undefined ? {} : { signal };
      const { structuredContent, isError } = await client.callTool(
        { name, arguments: given },
        undefined,
        { timeout: 60_000, ...how },
      );
      return { ...Object(structuredContent), isError: isError === true };
    },
    async purse() {
      const { contents } = await client.readResource({ uri: 'gpucloud://purse' });
      return JSON.parse(String(Object(contents[0]).text));
    },
    async end() {
      await client.close();
      return ended;
    },
  };
  if (!isEarly && argv.includes('--max-cost')) await agent.purse();
  return agent;
}

/** The flags of a session with a budget, which nothing but the server enforces. */
export function budget(cost: number, ...flags: string[]): string[] {
  return ['--max-cost', `${cost}`, '--for', '4h', '--unenforced', ...flags];
}
