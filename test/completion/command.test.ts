import { chmod, lstat, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SCRIPT_NAMES, SHELLS, scriptFile } from '../../src/completion/index.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { COMPLETIONS } from './shells.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => 'hangUp', signedIn: false });
});

const committed = (shell: keyof typeof SCRIPT_NAMES) =>
  readFile(join(COMPLETIONS, SCRIPT_NAMES[shell]), 'utf8');

describe('completion SHELL', () => {
  test.each(SHELLS)('prints the script in completions/ for %s', async (shell) => {
    const { code, stdout, stderr } = await world.cli(['completion', shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout === (await committed(shell)) || `completions/ is stale: npm run generate`).toBe(
      true,
    );
  });

  test.each([
    [['--output=table'], {}, undefined],
    [['--quiet'], {}, undefined],
    [[], { GPUCLOUD_OUTPUT: 'json' }, undefined],
    [['--query', 'shell'], {}, '"bash"\n'],
    [['--columns', 'shell', '--no-header'], {}, 'bash\n'],
  ])('prints the script, or what is selected of it, with %j %j', async (flags, env, selected) => {
    const { stdout } = await world.cli(['completion', 'bash', ...flags], { env });
    expect(stdout).toBe(selected ?? (await committed('bash')));
  });

  test('prints the script as a field of --json', async () => {
    const query = "[shell, file, changed, contains(script, 'gpucloud')]";
    const { stdout } = await world.cli(['completion', 'bash', '--json', '--query', query]);
    expect(JSON.parse(stdout)).toEqual(['bash', null, null, true]);
  });

  test('rejects an unknown shell, and lists the supported shells', async () => {
    expect(await world.cli(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error: SHELL "tcsh": must be one of bash, zsh, fish, powershell\n',
    });
  });
});

describe('completion SHELL --install', () => {
  /** Without a shell to ask, since the startup files of a real one depend on the computer. */
  const alone = () => ({ HOME: world.home, PATH: world.home });
  const install = (shell: string, env: Record<string, string | undefined> = {}) =>
    world.cli(['completion', shell, '--install', '--json'], { env: { ...alone(), ...env } });

  test.each([
    ['bash', '.local/share/bash-completion/completions/gpucloud'],
    ['zsh', '.local/share/zsh/site-functions/_gpucloud'],
    ['fish', '.config/fish/completions/gpucloud.fish'],
    ['powershell', '.local/share/gpucloud/completions/gpucloud.ps1'],
  ] as const)('installs the completion script for %s in ~/%s', async (shell, path) => {
    const file = join(world.home, path);
    const first = await install(shell);
    expect(JSON.parse(first.stdout)).toEqual({ shell, file, changed: true });
    expect(await readFile(file, 'utf8')).toBe(await committed(shell));
    expect(JSON.parse((await install(shell)).stdout)).toEqual({ shell, file, changed: false });
    const id = await world.cli(['completion', shell, '--install', '-q'], { env: alone() });
    expect(id.stdout).toBe(`${file}\n`);
  });

  test.each([
    ['bash', { XDG_DATA_HOME: '/HOME/data' }, 'data/bash-completion/completions/gpucloud'],
    ['bash', { BASH_COMPLETION_USER_DIR: 'x:/HOME/own' }, 'own/completions/gpucloud'],
    ['zsh', { XDG_DATA_HOME: '/HOME/data' }, 'data/zsh/site-functions/_gpucloud'],
    ['fish', { XDG_CONFIG_HOME: '/HOME/xc' }, 'xc/fish/completions/gpucloud.fish'],
    ['fish', { XDG_CONFIG_HOME: 'relative' }, '.config/fish/completions/gpucloud.fish'],
  ] as const)('installs the completion script for %s with %j', async (shell, variables, path) => {
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, value.replace('/HOME', world.home)]),
    );
    const { stdout } = await install(shell, env);
    expect(JSON.parse(stdout).file).toBe(join(world.home, path));
  });

  test.each([
    ['zsh', '/u/.local/share/zsh/site-functions/_gpucloud', { LOCALAPPDATA: '/l' }],
    ['powershell', '/l/gpucloud/completions/gpucloud.ps1', { LOCALAPPDATA: '/l' }],
    ['powershell', '/d/gpucloud/completions/gpucloud.ps1', { XDG_DATA_HOME: '/d' }],
  ] as const)('installs the script for %s on Windows: %s', (shell, path, env) => {
    expect(scriptFile(shell, { USERPROFILE: '/u', ...env })).toBe(path);
  });

  test.each(SHELLS)('replaces the installed script of an earlier version for %s', async (shell) => {
    const { file } = JSON.parse((await install(shell)).stdout);
    // Earlier scripts contained every command, and read names from the cache.
    await writeFile(file, '# Written by "gpucloud completion": do not edit.\n_gpucloud() { :; }\n');
    expect(JSON.parse((await install(shell)).stdout)).toEqual({ shell, file, changed: true });
    expect(await readFile(file, 'utf8')).toBe(await committed(shell));
  });

  test('prints the file path and the load command in a terminal', async () => {
    const { code, stdout } = await world.cli(['completion', 'fish', '--install'], {
      env: { HOME: world.home },
      terminal: true,
      columns: 400,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });

  test.each(['bash', 'zsh'])(
    "prints the line to add if %s can't be started, and succeeds",
    async (shell) => {
      const { code, stderr } = await world.cli(['completion', shell, '--install', '--json'], {
        env: { HOME: world.home, PATH: world.home },
      });
      expect(code).toBe(0);
      expect(stderr).toBe('');
      const people = await world.cli(['completion', shell, '--install'], {
        env: { HOME: world.home, PATH: world.home },
      });
      expect(people.code).toBe(0);
    },
  );

  /** What a new shell can and does load, before and after the line in its startup file. */
  test.each([
    ['bash', '1|1', '', undefined],
    ['bash', '1|0', '1|1', 'umask 022\nsource FILE'],
    ['bash', '1|0', '1|0', 'umask 022\nsource FILE'],
    ['bash', '1|0', '', 'umask 022\nsource FILE'],
    ['zsh', '0|0', '0|1', 'umask 022\nautoload -Uz compinit && compinit && source FILE'],
    ['zsh', '1|0', '1|1', 'umask 022\nsource FILE'],
  ])('asks a new %s before (%s) and after (%s) its line', async (shell, before, after, text) => {
    const bin = join(world.home, 'bin');
    await mkdir(bin);
    const asked = join(world.home, 'asked');
    const say = (can: string) => (can === '' ? 'exit 1' : `echo "gpucloud|${world.home}|${can}|"`);
    const script = `#!/bin/sh\n[ -e ${asked} ] && { ${say(after)}; exit; }\n: >${asked}\n${say(before)}\n`;
    await writeFile(join(bin, shell), script, { mode: 0o755 });
    const env = { HOME: world.home, PATH: `${bin}:/usr/bin:/bin` };
    const rc = join(world.home, `.${shell}rc`);
    // The file of zsh is a symlink into another folder, and ends with a line break.
    const target = shell === 'zsh' ? join(bin, 'zshrc') : rc;
    if (target !== rc) await symlink(target, rc);
    await writeFile(rc, target === rc ? 'umask 022' : 'umask 022\n');
    const { code, stderr } = await world.cli(['completion', shell, '--install'], { env });
    expect(code).toBe(0);
    const file = / (\/\S+)$/m.exec(stderr)?.[1] ?? '';
    const line = text && `${text.replace('FILE', file)} # added by gpucloud completion --install\n`;
    expect(await readFile(rc, 'utf8')).toBe(line ?? 'umask 022');
    await chmod(rc, 0o640);
    await world.cli(['completion', shell, '--uninstall'], { env });
    const isAsked = text !== undefined && after !== '';
    expect(await readFile(rc, 'utf8')).toBe(isAsked ? 'umask 022\n' : (line ?? 'umask 022'));
    expect((await lstat(target)).mode & 0o777).toBe(0o640);
    expect(await realpath(rc)).toBe(target);
    const again = await world.cli(['completion', shell, '--uninstall'], { env });
    expect(again.stderr).toBe(`Not installed: ${file}\n`);
  });

  test('prints the line to add if the shell is no program', async () => {
    await writeFile(join(world.home, 'bash'), '');
    const env = { HOME: world.home, PATH: world.home };
    const { code, stderr } = await world.cli(['completion', 'bash', '--install'], { env });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/Could not ask a new bash/),
    });
  });

  test.each([
    ['/bin/bash', 'bash', 'zsh'],
    ['/usr/bin/zsh', 'zsh', 'bash'],
    ['/opt/homebrew/bin/fish', 'fish', 'bash'],
    ['pwsh', 'powershell', 'bash'],
  ])('detects the shell %s from $SHELL', async (path, shell, other) => {
    const env = { HOME: world.home, PATH: world.home, SHELL: path };
    const { code, stdout } = await world.cli(['completion', '--install', '--json'], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).shell).toBe(shell);
    const chosen = `Chose ${shell}, since $SHELL is ${path}. For another shell, name it: gpucloud completion ${other} --install\n`;
    const people = await world.cli(['completion', '--install'], { env });
    expect(people.stderr.startsWith(chosen), people.stderr).toBe(true);
    const named = await world.cli(['completion', shell, '--install'], { env });
    expect(named.stderr).not.toContain('Chose ');
  });

  test.each([
    [{ SHELL: '/bin/dash' }, 'error: unsupported $SHELL "/bin/dash": use one of bash, zsh,'],
    [{}, 'error: unsupported $SHELL "": use one of bash, zsh,'],
  ])('requires a shell name if $SHELL is %j', async (env, message) => {
    const { code, stderr } = await world.cli(['completion', '--install'], {
      env: { HOME: world.home, ...env },
    });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    await world.cli(['completion'], { env });
  });

  test("exits with 9 and suggests a redirect if the folder can't be created", async () => {
    await mkdir(join(world.home, '.config'), { recursive: true });
    await writeFile(join(world.home, '.config', 'fish'), '');
    const { code, stderr } = await world.cli(['completion', 'fish', '--install'], {
      env: { HOME: world.home },
    });
    const file = join(world.home, '.config', 'fish', 'completions', 'gpucloud.fish');
    expect({ code, stderr }).toEqual({
      code: 9,
      stderr: `error: Could not write the script to ${file} (${join(world.home, '.config', 'fish')} is not a folder).\nhint: write it to another file: gpucloud completion fish > FILE\n`,
    });
  });

  test('exits with 9 without a home folder', async () => {
    const { code, stderr } = await world.cli(['completion', 'bash', '--install']);
    expect(code).toBe(9);
    expect(stderr).toContain('no home folder');
  });
});

describe('completion SHELL --uninstall', () => {
  test.each(SHELLS)(
    'removes the installed script for %s, and succeeds if repeated',
    async (shell) => {
      const env = { HOME: world.home, PATH: world.home };
      const installed = await world.cli(['completion', shell, '--install', '--json'], { env });
      const { file } = JSON.parse(installed.stdout);
      const uninstall = ['completion', shell, '--uninstall', '--json'];
      const first = await world.cli(uninstall, { env });
      expect(first.code).toBe(0);
      expect(JSON.parse(first.stdout)).toEqual({ shell, file, changed: true });
      await expect(lstat(file)).rejects.toThrow('ENOENT');
      const again = await world.cli(uninstall, { env });
      expect(again.code).toBe(0);
      expect(JSON.parse(again.stdout)).toEqual({ shell, file, changed: false });
      await world.cli(['completion', shell, '--uninstall'], { env });
    },
  );

  test.each(['--install', '--uninstall'])(
    "keeps the user's own completion file (%s)",
    async (flag) => {
      const file = join(world.home, '.config/fish/completions/gpucloud.fish');
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, 'complete -c gpucloud -a mine\n');
      const env = { HOME: world.home };
      const { code, stderr } = await world.cli(['completion', 'fish', flag], { env });
      expect(code).toBe(9);
      expect(stderr).toContain(`gpucloud did not write ${file}, so it did not change the file.`);
      expect(await readFile(file, 'utf8')).toBe('complete -c gpucloud -a mine\n');
    },
  );

  test.each(['--install', '--uninstall'])(
    'shows in %s why the startup file stays',
    async (flag) => {
      const bin = join(world.home, 'bin');
      await mkdir(bin);
      await mkdir(join(world.home, '.bashrc'));
      const script = `#!/bin/sh\necho "gpucloud|${world.home}|1|0|"\n`;
      await writeFile(join(bin, 'bash'), script, { mode: 0o755 });
      const env = { HOME: world.home, PATH: `${bin}:/usr/bin:/bin` };
      if (flag === '--uninstall') await world.cli(['completion', 'bash', '--install'], { env });
      const { code, stderr } = await world.cli(['completion', 'bash', flag], { env });
      const installed = `${world.home}/.local/share/bash-completion/completions/gpucloud`;
      const cannot = `Could not change ${world.home}/.bashrc (EISDIR).`;
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr:
          flag === '--install'
            ? `Installed for bash: ${installed}\n${cannot} Add these commands to it:\n  source ${installed}\n`
            : `${cannot} Remove the line that ends with "# added by gpucloud completion --install".\nRemoved ${installed}.\n`,
      });
    },
  );

  test('rejects completion --uninstall with --install', async () => {
    const both = await world.cli(['completion', 'fish', '--install', '--uninstall']);
    expect(both).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('doctor', () => {
  const check = async () => {
    const env = { HOME: world.home };
    const { stdout } = await world.cli(['doctor', '--json'], { env });
    const { checks } = JSON.parse(stdout);
    return checks.find(({ id }: { id: string }) => id === 'completion');
  };

  test('warns about a completion script from another version', async () => {
    expect(await check()).toMatchObject({ status: 'pass', message: 'not installed' });
    const { stdout } = await world.cli(['completion', 'fish', '--install', '--json'], {
      env: { HOME: world.home },
    });
    const { file } = JSON.parse(stdout);
    expect(await check()).toMatchObject({ status: 'pass', message: 'installed for fish' });
    await writeFile(file, '# of 0.0.9\n');
    expect(await check()).toMatchObject({
      status: 'warn',
      message: `${file} is from another version of gpucloud`,
      hint: 'reinstall it: gpucloud completion fish --install',
    });
  });
});
