export type { CallToolResult, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';

/** Loads the parts of the SDK that serve over stdio. */
export async function loadSdk() {
  const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return { Server, StdioServerTransport, types };
}
