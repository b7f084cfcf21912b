import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Context } from '../context.ts';
import type { createCalls } from './calls.ts';
import { instructionsFor, PROMPTS, resourcesFor } from './guides.ts';
import type { Level, Tool } from './tools.ts';

export { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

/** Seconds between two signs of progress: clients give up after a minute without one. */
const PROGRESS_EVERY = 5;

/** Returns the SDK's server, with its tools, resources and prompts. */
export function createServer(
  tools: readonly Tool[],
  level: Level,
  { callTool, purse }: Pick<ReturnType<typeof createCalls>, 'callTool' | 'purse'>,
  { clock, version }: Context,
) {
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  const instructions = instructionsFor(level);
  const server = new Server({ name: 'gpucloud', version }, { capabilities, instructions });
  const unknown = (what: string) => new McpError(ErrorCode.InvalidParams, what);

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ definition }) => definition),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const given = Object.entries(params.arguments ?? {}).filter(([, value]) => value !== null);
    const progressToken = params._meta?.progressToken;
    const done = new AbortController();
    let doing = '';
    async function showProgress(token: string | number): Promise<void> {
      for (let progress = PROGRESS_EVERY; ; progress += PROGRESS_EVERY) {
        await clock.sleep(PROGRESS_EVERY * 1000, done.signal);
        const params = { progressToken: token, progress, message: `${progress} s${doing}` };
        await extra.sendNotification({ method: 'notifications/progress', params });
      }
    }
    const call = callTool(
      toolNamed(params.name),
      Object.fromEntries(given),
      extra.signal,
      (note) => {
        doing = `: ${note}`;
      },
    );
    // It ends with the call, or with the client, which ends the session.
    if (progressToken !== undefined) showProgress(progressToken).catch(() => undefined);
    return call.finally(() => done.abort());
  });
  function toolNamed(name: string): Tool {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw unknown(`Unknown tool: ${name.slice(0, 80)}`);
    return tool;
  }

  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: resourcesFor(level).map(({ text, tool, ...resource }) => resource),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, extra) => {
    const resource = resourcesFor(level).find((one) => one.uri === uri);
    if (resource === undefined) throw unknown('Unknown resource');
    const { mimeType, text, tool } = resource;
    const called = tool && (await callTool(toolNamed(tool), {}, extra.signal)).structuredContent;
    const shown = text ?? JSON.stringify(called ?? (await purse()));
    return { contents: [{ uri, mimeType, text: shown }] };
  });

  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: PROMPTS.map(({ text, ...prompt }) => prompt),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS.find(({ name }) => name === params.name);
    if (prompt === undefined) throw unknown('Unknown prompt');
    const text = prompt.text(params.arguments ?? {});
    return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
  });
  return server;
}
