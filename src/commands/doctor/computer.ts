import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SHELLS, scriptFile } from '../../completion/index.ts';
import { SCRIPTS } from '../../completion/scripts.ts';
import type { Context } from '../../context.ts';
import { errorCode, faultOf } from '../../system/error-code.ts';
import type { Self } from '../../system/self.ts';
import { type Checks, type Finding, fail, notChecked, pass, warn } from './check.ts';

/** The oldest supported version, as in `engines` in package.json. */
const OLDEST_NODE = '20.18.1';

export function computerChecks(context: Context): Checks {
  const { host } = context;
  const self = host.self();
  return {
    program: () => pass(programOf(self)),
    node: () =>
      self.form === 'executable'
        ? pass('not needed: gpucloud is a standalone executable')
        : nodeCheck(host.nodeVersion),
    ssh: () => sshCheck(context),
    completion: () => completionCheck(context),
  };
}

function programOf({ form, file, args }: Self): string {
  return form === 'executable' ? `executable ${file}` : `npm package ${args[0] ?? file}`;
}

function nodeCheck(version: string | undefined): Finding {
  if (version === undefined) return notChecked('the Node.js version is unknown');
  return version.localeCompare(`v${OLDEST_NODE}`, 'en', { numeric: true }) < 0
    ? fail(
        `Node.js ${version} is older than ${OLDEST_NODE}, the oldest supported version`,
        'install a newer Node.js: https://nodejs.org',
      )
    : pass(`Node.js ${version}`);
}

/** Milliseconds. `ssh -V` reads no file and never prompts. */
const SSH_TIMEOUT = 5_000;

async function sshCheck({ start, flags }: Context): Promise<Finding> {
  const install = 'install an OpenSSH client and check that it is on PATH';
  let printed = '';
  try {
    const { ended } = await start({
      file: 'ssh',
      args: ['-V'],
      timeout: Math.min(SSH_TIMEOUT, flags.timeout ?? SSH_TIMEOUT),
      hear: (text) => {
        printed = (printed + text).slice(0, 500);
      },
    });
    const code = await ended;
    const version = printed.trim().replace(/\s*\n.*/s, '');
    return code === 0 && version !== ''
      ? pass(version)
      : warn(`ssh is on PATH, but "ssh -V" does not print its version`, install);
  } catch (error) {
    return errorCode(error) === 'ENOENT'
      ? warn('ssh is not on PATH: you can rent instances, but not connect to them', install)
      : warn(`could not start ssh (${faultOf(error)})`, install);
  }
}

/** Compares each installed script with the script of this version. */
async function completionCheck({ env, host }: Context): Promise<Finding> {
  const installed: string[] = [];
  for (const shell of SHELLS) {
    const file = scriptFile(shell, env);
    const script = file && (await readFile(file, 'utf8').catch(() => undefined));
    if (script === undefined) continue;
    if (script !== SCRIPTS[shell]) {
      return warn(
        `${file} is from another version of gpucloud`,
        `reinstall it: gpucloud completion ${shell} --install`,
      );
    }
    installed.push(shell);
  }
  if (installed.length > 0) return pass(`installed for ${installed.join(', ')}`);
  return pass(isPacked(host.self()) ? 'installed with gpucloud' : 'not installed');
}

/** Whether the .deb or install.sh put completion scripts next to the executable. */
function isPacked({ form, file }: Self): boolean {
  const script = join(dirname(file), '../share/bash-completion/completions/gpucloud');
  return form === 'executable' && existsSync(script);
}
