import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOSTILE } from '../completion/hostile.ts';
import {
  COMPLETIONS,
  completingShell,
  computerWithProgram,
  freshShell,
  type Known,
  type ReadyShell,
} from '../completion/shells.ts';
import { needs, programAt } from '../support/needs.ts';
import type { Computer } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { openTerminal } from '../support/terminal.ts';

let computer: Computer;
let shell: ReadyShell | undefined;
beforeEach(async () => {
  computer = await computerWithProgram();
});
afterEach(async () => {
  await shell?.close();
  shell = undefined;
  await computer.remove();
});

/** Stores names as gpucloud does: drives in the cache, instances in the journal. */
async function keepDrives(names: readonly string[]): Promise<void> {
  const drives = names.map((name, at) => ({ id: `drive-${at}`, name, state: 'AVAILABLE' }));
  await put('cache/names/work/drive.json', drives);
}

async function keepInstances(names: readonly string[]): Promise<void> {
  for (const [at, name] of names.entries()) {
    const id = `id-${at}`;
    const record = { version: 1, id, name, origin: 'track', known_at: '', request: null };
    await put(`journal/api.example.com/me/instances/${id}.json`, record);
  }
}

async function put(path: string, content: object): Promise<void> {
  const file = join(computer.home, 'state', path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(content));
}

const addWork = () =>
  computer.gpucloud(['profiles', 'add', 'work', '--base-url', 'https://api.example.com']);

/** Settings that change how a script runs. A shell has as many of them as go together. */
const SETTINGS: Readonly<Record<Known, readonly string[]>> = {
  bash: [
    'set -euf; IFS=i',
    'set -o posix',
    'shopt -s nullglob extglob nocasematch',
    'shopt -s failglob',
    'COMP_WORDBREAKS="${COMP_WORDBREAKS//[:=]/}"',
    'source /usr/share/bash-completion/bash_completion',
  ],
  zsh: [
    'setopt no_unset ksh_arrays; IFS=i',
    'setopt sh_word_split glob_subst',
    'setopt no_glob',
    'setopt null_glob extended_glob complete_in_word',
  ],
  fish: ['set -g IFS i'],
};

for (const program of ['bash', 'zsh', 'fish'] as const satisfies readonly Known[]) {
  describe(`Tab in ${program}`, program === 'bash' ? {} : needs(program), () => {
    test('completes commands, names in the sandbox, formats and profiles', async () => {
      await computer.gpucloud(['profiles', 'use', 'sandbox']);
      await computer.gpucloud(['profiles', 'add', 'work', '--base-url', 'https://api.example.com']);
      for (const name of ['trainer', 'labbox']) {
        await computer.gpucloud(['instances', 'create', name, ...HARDWARE, '-q']);
      }
      shell = await completingShell(program, computer);
      shell.type('gpucloud inst\t');
      await shell.shows(/^ready> gpucloud instances/m);
      shell.type('stop \t\t');
      const instances = await shell.shows(/labbox[\s\S]*trainer|trainer[\s\S]*labbox/);
      expect(instances).not.toContain('sandbox');
      await shell.clearLine();
      shell.type('gpucloud instances stop tr\t');
      await shell.shows(/gpucloud instances stop trainer/);
      await shell.clearLine();
      // Names of the service fit too, in any case.
      for (const [typed, shown] of [
        ['--offer RTX-4\t', /--offer rtx-4090/],
        ['--offer=RTX-4\t', /--offer=rtx-4090/],
        ['--offer RT\t', /--offer rtx-/],
        // fish itself drops values that do not continue the typed text.
        ...(program === 'fish' ? [] : [['--offer "RTX 4\t', /--offer "rtx-4090"/] as const]),
      ] as const) {
        shell.type(`gpucloud instances create ${typed}`);
        await shell.shows(shown);
        await shell.clearLine();
      }
      shell.type('gpucloud instances list -o \t\t');
      await shell.shows(/csv[\s\S]*yaml/);
      await shell.clearLine();
      shell.type('gpucloud --profile \t\t');
      await shell.shows(/sandbox[\s\S]*work/);
    });

    test('completes a name with a blank as one word, and files for a file argument', async () => {
      await addWork();
      await keepDrives(['my data', 'me@home', 'x:y']);
      await writeFile(join(computer.home, 'a key.pub'), '');
      shell = await completingShell(program, computer);
      for (const [typed, shown] of [
        ['--profile work drives get my\t', /drives get my\\ data/],
        ['--profile work drives get "my\t', /drives get "my data"/],
        ['--profile work drives get me@h\t', /drives get me(\\)?@home/],
        ['--profile work drives get x:\t', /drives get x(\\)?:y/],
        ['--profile=work instances create --drive=my\t', /--drive=my\\ data/],
        ['ssh-keys add a\t', /ssh-keys add a\\ key\.pub/],
        ['instances create --file=a\t', /--file=a\\ key\.pub/],
        // Node itself reads such a file if it is an argument of its own.
        ['instances create --env-file a\t', /--env-file a\\ key\.pub/],
        ['run --env-file missing.env --sy\t', /missing\.env --sync/],
      ] as const) {
        shell.type(`gpucloud ${typed}`);
        await shell.shows(shown);
        await shell.clearLine();
      }
    });

    test.each(SETTINGS[program])('completes with the setting %s', async (setting) => {
      shell = await completingShell(program, computer, `${setting};`);
      for (const [typed, shown] of [
        ['inst\t', /gpucloud instances/],
        ['instances list --output=yam\t', /list --output=yaml/],
        ['instances list --columns name,offe\t', /--columns name,offer/],
      ] as const) {
        shell.type(`gpucloud ${typed}`);
        await shell.shows(shown);
        await shell.clearLine();
      }
    });

    test('prints nothing if gpucloud is missing or too old', async () => {
      shell = await completingShell(program, computer);
      await writeFile(join(computer.home, 'bin', 'gpucloud'), '#!/bin/sh\necho old >&2; exit 2\n');
      shell.type('gpucloud inst\tX');
      expect(await shell.shows(/gpucloud instX/)).not.toContain('old');
    });

    test('completes an alias that is set up as in the help', async () => {
      const { stdout } = await computer.gpucloud(['completion', '--help']);
      const line = new RegExp(`^ +${program} +(.+)$`, 'm').exec(stdout)?.[1] ?? 'no line';
      shell = await completingShell(program, computer, `${line};`);
      shell.type('g inst\t');
      await shell.shows(/^ready> g instances/m);
      shell.type('lis\t');
      await shell.shows(/^ready> g instances list/m);
    });

    test('completes instances and files for scp, but no path after the colon', async () => {
      await addWork();
      await keepInstances(['trainer', 'my box', 'a@b']);
      await writeFile(join(computer.home, 'train.py'), '');
      await writeFile(join(computer.home, 'data.csv'), '');
      shell = await completingShell(program, computer);
      for (const [typed, shown] of [
        // Both names start with `tra`.
        ['tra\t', /scp train/],
        ['tra\t\t\t', /train\.py[\s\S]*trainer:|trainer:[\s\S]*train\.py/],
        // Adds no blank after the colon, but one after a file name.
        ['traine\tx', /scp trainer:x/],
        ['train.\tx', /scp train\.py x/],
        ['data.csv my\tx', /scp data\.csv my\\ box:x/],
        ['trainer:x my\tx', /scp trainer:x my\\ box:x/],
        ['dat\tx', /scp data\.csv x/],
        ['trainer:dat\tx', /scp trainer:datx/],
        ['./dat\tx', /scp \.\/data\.csv x/],
        ['a@\tx', /scp a@x/],
      ] as const) {
        shell.type(`gpucloud --profile work instances scp ${typed}`);
        await shell.shows(shown);
        await shell.clearLine();
      }
    });

    test('inserts a name as one word, and IDs instead of hostile names', async () => {
      const record = {
        bash: 'gpucloud() { printf "%s\\n" "$@" > got; };',
        zsh: 'gpucloud() { print -rl -- "$@" > got };',
        fish: 'function gpucloud; printf "%s\\n" $argv > got; end;',
      };
      await addWork();
      shell = await completingShell(program, computer, record[program]);
      const got = join(computer.home, 'got');
      // completion/names.test.ts has all hostile names.
      for (const name of ['my data', 'Диск (2)', '$(touch hit)', 'a\nb']) {
        await rm(got, { force: true });
        await keepDrives([name]);
        shell.type('gpucloud --profile work drives get \t');
        await shell.prompts(/drives get \S/);
        shell.type('\r');
        await shell.shows(() => existsSync(got));
        // Waits until the shell has run the line and any code from a name.
        await shell.ready();
        const inserted = HOSTILE.some((one) => one === name) ? 'drive-0' : name;
        expect(await readFile(got, 'utf8')).toBe(`--profile\nwork\ndrives\nget\n${inserted}\n`);
      }
      await keepInstances(HOSTILE);
      shell.type('gpucloud --profile work instances stop \t\t\t');
      await shell.shows(/id-9/);
      await shell.clearLine();
      expect(existsSync(join(computer.home, 'hit'))).toBe(false);
    });

    test('installs a completion script without syntax errors', async () => {
      const { stdout } = await computer.gpucloud(['completion', program, '--install', '-o', 'id']);
      const { status, stderr } = spawnSync(program, ['-n', stdout.trim()], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    });
  });
}

describe('descriptions in zsh', needs('zsh'), () => {
  test('shows descriptions next to commands and flags', async () => {
    shell = await completingShell('zsh', computer);
    shell.type('gpucloud instances st\t');
    await shell.shows(/stop +-- Stop instances/);
    await shell.clearLine();
    shell.type('gpucloud instances list --sh\t');
    await shell.shows(/--show-secrets/);
  });

  test('loads descriptions from a folder in fpath', async () => {
    const installed = await computer.gpucloud(['completion', 'zsh', '--install', '-o', 'id']);
    const folder = join(installed.stdout.trim(), '..');
    shell = await completingShell(
      'zsh',
      computer,
      `unfunction _gpucloud; fpath=('${folder}' $fpath); compinit -D -u;`,
    );
    shell.type('gpucloud inst\t');
    await shell.shows(/gpucloud instances/);
  });
});

describe('descriptions in fish', needs('fish'), () => {
  test('shows descriptions next to commands', async () => {
    shell = await completingShell('fish', computer);
    shell.type('gpucloud instances st\t');
    await shell.shows(/stop +\(Stop instances/);
  });
});

test('completes with bash-completion, after sudo too', needs('bash-completion'), async () => {
  await computer.gpucloud(['completion', 'bash', '--install']);
  shell = await freshShell('bash', computer);
  for (const [typed, shown] of [
    ['gpucloud inst\t', /gpucloud instances/],
    ['gpucloud instances list --output=yam\t', /--output=yaml/],
    ['sudo gpucloud instances list --output=yam\t', /--output=yaml/],
    ['LANG=C gpucloud driv\t', /gpucloud drives/],
    ['true; gpucloud driv\t', /gpucloud drives/],
  ] as const) {
    shell.type(typed);
    await shell.shows(shown);
    await shell.clearLine();
  }
});

describe('the PowerShell script', () => {
  const file = join(COMPLETIONS, 'gpucloud.ps1');

  test(
    'loads the PowerShell script without errors, and completes commands and formats',
    needs('pwsh'),
    async () => {
      await addWork();
      await keepInstances(['my box']);
      const run = (code: string) =>
        spawnSync('pwsh', ['-NoProfile', '-NonInteractive', '-Command', code], {
          encoding: 'utf8',
          env: { ...computer.env, GPUCLOUD_PROFILE: 'work' },
        });
      const parsed = run(
        `$e = $null; [void][System.Management.Automation.Language.Parser]::ParseFile('${file}', [ref]$null, [ref]$e); $e.Count`,
      );
      expect(parsed.stdout.trim()).toBe('0');
      const complete = (line: string) =>
        run(
          `. '${file}'; (TabExpansion2 '${line}' ${line.length}).CompletionMatches.CompletionText`,
        ).stdout.trim();
      expect(complete('gpucloud inst')).toBe('instances');
      expect(complete('gpucloud instances list -o j')).toBe('json\njsonl');
      expect(complete('gpucloud instances stop ')).toBe("'my box'");
    },
  );

  test('writes the PowerShell script with balanced brackets', async () => {
    const text = (await readFile(file, 'utf8'))
      .replace(/^\s*#.*$/gm, '')
      .replace(/'(?:[^']|'')*'|"(?:[^"`]|`.)*"/g, '');
    const open: string[] = [];
    for (const [mark] of text.matchAll(/[{}()[\]]/g)) {
      if ('{(['.includes(mark)) open.push(mark);
      else expect(`${open.pop()}${mark}`).toMatch(/^(\{\}|\(\)|\[\])$/);
    }
    expect(open).toEqual([]);
  });
});

for (const program of ['bash', 'zsh'] as const) {
  describe(`completion --install for ${program}`, program === 'bash' ? {} : needs('zsh'), () => {
    const rc = () => join(computer.home, `.${program}rc`);
    const gpucloud = (...argv: string[]) =>
      computer.gpucloud(['completion', ...argv], { env: { SHELL: `/usr/bin/${program}` } });

    async function completes(): Promise<void> {
      const opened = openTerminal({
        program: programAt(program) ?? program,
        args: ['-i'],
        env: { ...computer.env, PS1: 'ready> ', HISTFILE: '/dev/null' },
        cwd: computer.home,
        columns: 120,
        rows: 30,
      });
      try {
        await opened.prompts(/[>$#%]$/);
        opened.type('gpucloud inst\t');
        await opened.shows(/gpucloud instances/);
      } finally {
        await opened.close();
      }
    }

    test.each([
      ['no settings', undefined],
      ['settings that end without a newline', '# mine'],
    ])('makes a new shell complete with %s', async (_name, text) => {
      if (text !== undefined) await writeFile(rc(), text);
      const first = await gpucloud('--install');
      expect(first.code).toBe(0);
      expect(first.stderr).not.toContain('error');
      expect(first.stderr).toContain(`Added a line to ${rc()}, so new shells load the script.`);
      await completes();
      const added = await readFile(rc(), 'utf8');
      const lines = added.split('\n').filter((line) => line.includes('gpucloud'));
      expect(lines).toHaveLength(1);
      // The printed command matches the added line.
      const [line = ''] = (lines[0] ?? '').split(' #');
      const [, now = ''] = first.stderr.split('To load it now:\n');
      expect(now.trim().split(/\n +/).join(' && ')).toBe(line);

      const again = await gpucloud('--install');
      expect(again.stderr).toContain('New shells load the script.');
      expect(await readFile(rc(), 'utf8')).toBe(added);

      expect((await gpucloud('--uninstall')).code).toBe(0);
      expect((await readFile(rc(), 'utf8')).trimEnd()).toBe(text ?? '');
    });

    test('leaves startup files unchanged if they already load the script', async () => {
      const script = (await gpucloud('--install', '-o', 'id')).stdout.trim();
      const loads = {
        bash: `source ${script}\n`,
        zsh: `autoload -Uz compinit; compinit -D -u; source ${script}\n`,
      };
      await writeFile(rc(), loads[program]);
      const { code, stderr } = await gpucloud('--install');
      expect(code).toBe(0);
      expect(stderr).toContain('New shells load the script.');
      expect(await readFile(rc(), 'utf8')).toBe(loads[program]);
    });

    test("prints the line to add if the startup file can't be changed", async () => {
      await mkdir(rc());
      const { code, stderr } = await gpucloud('--install');
      expect(code).toBe(0);
      expect(stderr).toMatch(
        /Could not change .+ \(EISDIR\)\. Add these commands to it:\n(?: .+\n)* {2}source /,
      );
    });
  });
}

test(
  'reports after completion bash --install that bash-completion loads the script',
  needs('bash-completion'),
  async () => {
    await writeFile(
      join(computer.home, '.bashrc'),
      'source /usr/share/bash-completion/bash_completion\n',
    );
    const { code, stderr } = await computer.gpucloud(['completion', 'bash', '--install']);
    expect(code).toBe(0);
    expect(stderr).toContain('New shells load the script.');
  },
);

test('changes .zshrc in ZDOTDIR with completion zsh --install', needs('zsh'), async () => {
  const folder = join(computer.home, 'zsh settings');
  await mkdir(folder);
  await writeFile(join(folder, '.zshrc'), 'autoload -Uz compinit && compinit -D -u\n');
  const env = { ZDOTDIR: folder };
  const { code } = await computer.gpucloud(['completion', 'zsh', '--install'], { env });
  expect(code).toBe(0);
  expect(await readFile(join(folder, '.zshrc'), 'utf8')).toMatch(/^autoload .*\nsource /);
});
