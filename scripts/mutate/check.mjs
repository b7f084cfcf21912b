import { join } from 'node:path';
import { API } from 'typescript/unstable/sync';
import { importersOf } from './nearest.mjs';
import { putIn, runIn } from './tree.mjs';

const LIMIT_MS = 10 * 60_000;

/**
 * `rejects` says whether the type check or the linter finds a fault. One compiler stays open, so that
 * a fault costs milliseconds. It checks the changed file and those that import
 * it; a wrong type that shows only farther away counts as any other fault.
 */
export function checkIn(copy) {
  const importers = importersOf(copy);
  const compiler = new API({ cwd: copy });
  let snapshot = compiler.updateSnapshot({ openProjects: [join(copy, 'tsconfig.json')] });

  function read(changed) {
    const last = snapshot;
    snapshot = compiler.updateSnapshot({ fileChanges: { changed: [changed] } });
    last.dispose();
  }

  function hasTypeError(file) {
    const [project] = snapshot.getProjects();
    return [file, ...(importers.get(file) ?? [])].some((each) => {
      const path = join(copy, each);
      const { program } = project;
      return (
        program.getSyntacticDiagnostics(path).length + program.getSemanticDiagnostics(path).length >
        0
      );
    });
  }

  async function hasLintError({ file, rule }) {
    // Reads the types of all files, which only a missing `await` needs.
    const skip = rule === 'await' ? [] : ['--skip=noFloatingPromises'];
    const lint = ['lint', '--vcs-enabled=false', '--diagnostic-level=error', ...skip, file];
    const { code } = await runIn(copy, ['node_modules/.bin/biome', ...lint], LIMIT_MS);
    return code !== 0;
  }

  async function rejects(fault) {
    const path = join(copy, fault.file);
    const restore = putIn(copy, [fault]);
    read(path);
    const found = hasTypeError(fault.file) || (await hasLintError(fault));
    restore();
    read(path);
    return found;
  }

  return { rejects, close: () => compiler.close() };
}
