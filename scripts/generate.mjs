// Writes the files that are derived from the program: what a test calls stale is renewed by this.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const program = fileURLToPath(new URL('bin/gpucloud.js', root));

function outputOf(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`gpucloud ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}

mkdirSync(new URL('schemas/', root), { recursive: true });
writeFileSync(
  new URL('schemas/box.schema.json', root),
  outputOf('instances', 'create', '--schema'),
);

mkdirSync(new URL('completions/', root), { recursive: true });
for (const [shell, name] of [
  ['bash', 'gpucloud.bash'],
  ['zsh', '_gpucloud'],
  ['fish', 'gpucloud.fish'],
  ['powershell', 'gpucloud.ps1'],
]) {
  writeFileSync(new URL(`completions/${name}`, root), outputOf('completion', shell));
}
