/** Pages of help that belong to no command: `gpucloud help exit-codes`. */
export const TOPICS = [
  { name: 'exit-codes', summary: 'What each exit code means' },
  { name: 'environment', summary: 'The variables that are read' },
  { name: 'output', summary: 'Formats, columns and queries, and what goes to which stream' },
  { name: 'scripting', summary: 'What a script can rely on' },
] as const;
export type Topic = (typeof TOPICS)[number]['name'];
