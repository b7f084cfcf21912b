// Writes docs/commands, man pages, completions and schemas from the program, then runs golden.mjs
// and picture.mjs. A test fails if one of these files is stale.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { manPages, referenceFiles } from './reference.mjs';

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
  new URL('schemas/job.schema.json', root),
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

const reference = JSON.parse(outputOf('commands', '--json'));
for (const folder of ['docs/commands/', 'man/']) {
  // Removes pages of groups that no longer exist.
  rmSync(new URL(folder, root), { recursive: true, force: true });
  mkdirSync(new URL(folder, root), { recursive: true });
}
for (const [path, text] of referenceFiles(reference)) {
  writeFileSync(new URL(path, root), text);
}
const packageFile = new URL('package.json', root);
const description = JSON.parse(readFileSync(packageFile, 'utf8'));
writeFileSync(
  packageFile,
  `${JSON.stringify({ ...description, man: manPages(reference) }, null, 2)}\n`,
);
