/** A command of GitHub's runner in a line of output, such as `::save-state name=ended::true`. */
export interface WorkflowCommand {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly data: string;
}

/** Splits a step's output as GitHub's runner does: into obeyed commands and the visible log. */
export function readOutput(text: string): { obeyed: WorkflowCommand[]; log: string } {
  const obeyed: WorkflowCommand[] = [];
  const log: string[] = [];
  let token: string | undefined;
  for (const line of text.split('\n')) {
    const command = parse(line);
    if (token !== undefined) {
      if (command?.name === token) token = undefined;
      else log.push(line);
    } else if (command === undefined) log.push(line);
    else if (command.name === 'stop-commands') token = command.data;
    else obeyed.push(command);
  }
  return { obeyed, log: log.join('\n') };
}

/** Parses `::name::data`, or the older `##[name]data` anywhere in a line. */
function parse(line: string): WorkflowCommand | undefined {
  const [, name, given = '', data = ''] =
    /^\s*::([^\s:]+)(?:\s+(.*?))?::(.*)$/.exec(line) ??
    /##\[([^\s\]]+)(?:\s+(.*?))?\](.*)$/.exec(line) ??
    [];
  if (name === undefined) return undefined;
  const pairs = given.split(/[,;]/).filter(Boolean);
  const properties = Object.fromEntries(
    pairs.map((pair) => [pair.split('=')[0]?.trim() ?? '', pair.slice(pair.indexOf('=') + 1)]),
  );
  return { name, properties, data };
}
