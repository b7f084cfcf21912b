import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { headed } from '../../src/completion/names.ts';
import { needs, programAt } from '../support/needs.ts';
import { COMPLETIONS, script } from './shells.ts';

const BASH = programAt('bash') ?? 'bash';
const SCRIPT = join(COMPLETIONS, 'gpucloud.bash');

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-bash-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Returns bash's suggestions for a line with the cursor at its end. */
function offered(line: string, env: Readonly<Record<string, string>> = {}): string[] {
  const words = line.match(/"[^"]*"?|'[^']*'?|(?:\\.|[^\s=:"'])+|[=:]/g) ?? [];
  const all = /\s$/.test(line) && !/\\\s$/.test(line) ? [...words, ''] : words;
  const { stdout, stderr } = spawnSync(
    BASH,
    [
      '--norc',
      '-uc',
      'source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; shift 2; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); PATH=; _gpucloud; printf "%s\\n" ${COMPREPLY+"${COMPREPLY[@]}"}',
      'bash',
      SCRIPT,
      line,
      ...all,
    ],
    {
      encoding: 'utf8',
      cwd: home,
      env: { HOME: home, GPUCLOUD_STATE_DIR: join(home, 'state'), LC_ALL: 'C.UTF-8', ...env },
    },
  );
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

async function keep(path: string, lines: readonly string[], under = 'state/cache'): Promise<void> {
  const file = join(home, under, 'completion', path);
  await mkdir(dirname(file), { recursive: true });
  const text = lines.map((line) => `${line}\n`);
  // profiles.tsv has no header line.
  const isHeaded = path.startsWith('names/');
  await writeFile(file, isHeaded ? headed(text) : text.join(''));
}

const instance = (name: string, state = 'ACTIVE', id = `id-of-${name}`) =>
  `instance\t${name}\t${id}\t${state}`;

describe('commands and flags', () => {
  test.each([
    ['gpucloud inst', ['instances']],
    ['gpucloud instance li', ['list']],
    ['gpucloud instances l', ['list']],
    ['gpucloud instances ls ', []],
    ['gpucloud nothing of th', []],
    ['gpucloud instances list --js', ['--json']],
    ['gpucloud instances list -o j', ['json', 'jsonl']],
    ['gpucloud instances list -o=', []],
    ['gpucloud instances list --output=j', ['json', 'jsonl']],
    ['gpucloud instances list --output=', 'table json jsonl csv tsv yaml id'.split(' ')],
    ['gpucloud --color a', ['auto', 'always']],
    ['gpucloud -o json driv', ['drives']],
    ['gpucloud --output=json drives li', ['list']],
    ['gpucloud drives list --columns name,i', ['name,id']],
    ['gpucloud drives list --columns name,size_gb,n', []],
    ['gpucloud drives list --columns=name,st', ['name,status']],
    ['gpucloud drives list --sort na', ['name']],
    ['gpucloud drives list --sort=na', ['name']],
    ['gpucloud instances wait x --for st', ['stopped']],
    ['gpucloud instances start --wait=s', ['ssh']],
    ['gpucloud billing transactions --type bonus,r', ['bonus,refund']],
    ['gpucloud sandbox fault fail-st', ['fail-start', 'fail-stop']],
    ['gpucloud sandbox serve --fault slow', ['slow-provisioning']],
    ['gpucloud help instances st', ['start', 'stop']],
    ['gpucloud help instances stop ', []],
    ['gpucloud help out', ['output']],
    ['gpucloud help e', ['exit-codes', 'environment']],
    ['gpucloud help instances out', []],
    ['gpucloud -yojson driv', ['drives']],
    ['gpucloud -yo json driv', ['drives']],
    ['gpucloud api POST /x -F ', []],
    ['gpucloud api P', ['POST', 'PUT', 'PATCH']],
    ['gpucloud completion z', ['zsh']],
    ['gpucloud instances -- li', ['list']],
  ])('completes the command line %j', (line, words) => {
    expect(offered(line).sort()).toEqual([...words].sort());
  });
});

describe('names in completion', () => {
  const env = { GPUCLOUD_PROFILE: 'office' };

  test('completes instance names in bash', async () => {
    await keep('names/office/instance.tsv', [instance('lab'), instance('train')]);
    expect(offered('gpucloud instances stop ', env)).toEqual(['lab', 'train']);
    expect(offered('gpucloud instances stop lab ', env)).toEqual(['train']);
    expect(offered('gpucloud instances get t', env)).toEqual(['train']);
  });

  test('completes drives, keys, templates, offers and images, in arguments and flags', async () => {
    const lines = [
      'drive\tdata\td1\tAVAILABLE',
      'ssh-key\tlaptop\tk1\tdefault',
      'template\tvllm\tt1\t-',
      'offer\trtx-4090\to1\tru-1',
      'image\tubuntu-24-04\ti1\t-',
    ];
    for (const line of lines) await keep(`names/office/${line.split('\t')[0]}.tsv`, [line]);
    expect(offered('gpucloud drives get ', env)).toEqual(['data']);
    expect(offered('gpucloud ssh-keys delete l', env)).toEqual(['laptop']);
    expect(offered('gpucloud templates get ', env)).toEqual(['vllm']);
    expect(offered('gpucloud catalog remove ', env)).toEqual(['rtx-4090', 'ubuntu-24-04']);
    expect(offered('gpucloud instances create --drive ', env)).toEqual(['data']);
    expect(offered('gpucloud instances create --ssh-key ', env)).toEqual(['laptop']);
    expect(offered('gpucloud instances create --template=', env)).toEqual(['vllm']);
    expect(offered('gpucloud instances create --offer r', env)).toEqual(['rtx-4090']);
    expect(offered('gpucloud instances create --image=u', env)).toEqual(['ubuntu-24-04']);
    expect(offered('gpucloud instances create --docker-image ', env)).toEqual([]);
  });

  test('escapes spaces in unquoted words only', async () => {
    await keep('names/office/drive.tsv', ['drive\tmy data\td1\tAVAILABLE']);
    expect(offered('gpucloud drives get my', env)).toEqual(['my\\ data']);
    expect(offered('gpucloud drives get my\\ d', env)).toEqual(['my\\ data']);
    expect(offered('gpucloud drives get "my d', env)).toEqual(['my data']);
    expect(offered("gpucloud drives get 'my", env)).toEqual(['my data']);
  });

  test.each(['$(touch hit)', '`touch hit`', "a'b", '"; touch hit; "', 'a\\', '$HOME', '*'])(
    'executes nothing from a manipulated names file: %j',
    async (name) => {
      await keep('names/office/drive.tsv', [`drive\t${name}\td1\tAVAILABLE`]);
      const words = offered('gpucloud drives get ', env);
      const { stdout } = spawnSync(BASH, ['-c', `printf %s ${words.join(' ')}`], { cwd: home });
      expect(stdout.toString()).toBe(name);
    },
  );
});

describe('completion with several profiles', () => {
  beforeEach(async () => {
    for (const slot of ['office', 'home', 'sandbox', '-env']) {
      await keep(`names/${slot}/instance.tsv`, [instance(`in${slot.replace('-', '.')}`)]);
    }
  });

  const KEY = { GPUCLOUD_API_KEY: 'x' };
  const URL = { GPUCLOUD_BASE_URL: 'http://127.0.0.1:1' };

  test.each<[string, Record<string, string>, string, string[]]>([
    ['--profile', { GPUCLOUD_PROFILE: 'home' }, '--profile office ', ['inoffice']],
    ['--profile=', { GPUCLOUD_PROFILE: 'home' }, '--profile=office ', ['inoffice']],
    ['GPUCLOUD_PROFILE', { GPUCLOUD_PROFILE: 'home' }, '', ['inhome']],
    ['the current profile', {}, '', ['insandbox']],
    [
      'a key in the environment, with a profile',
      { ...KEY, GPUCLOUD_PROFILE: 'office' },
      '',
      ['in.env'],
    ],
    ['a base URL in the environment', { ...URL }, '', ['in.env']],
    ['a base URL on the command line', {}, '--base-url http://127.0.0.1:1 ', ['in.env']],
    ['only a key in the environment', KEY, '', ['insandbox']],
    ['--profile sandbox', { ...KEY, ...URL }, '--profile sandbox ', ['insandbox']],
    ['a path as profile', {}, '--profile ../names/office ', []],
  ])('offers the names of the selected profile: %s', async (_case, env, flags, names) => {
    await keep('profiles.tsv', ['profile\tsandbox\t-\tcurrent', 'profile\toffice\t-\t-']);
    expect(offered(`gpucloud ${flags}instances stop `, env)).toEqual(names);
  });

  test('does not complete names without an active profile', async () => {
    await keep('profiles.tsv', ['profile\toffice\t-\t-']);
    expect(offered('gpucloud instances stop ')).toEqual([]);
    expect(offered('gpucloud --profile ')).toEqual(['office']);
    expect(offered('gpucloud profiles use o')).toEqual(['office']);
  });

  test.each<[string, Record<string, string>]>([
    ['xdg/gpucloud', { GPUCLOUD_STATE_DIR: '', XDG_CACHE_HOME: 'HOME/xdg' }],
    ['.cache/gpucloud', { GPUCLOUD_STATE_DIR: '', XDG_CACHE_HOME: 'relative' }],
    ['.cache/gpucloud', { GPUCLOUD_STATE_DIR: '' }],
    ['own/cache', { GPUCLOUD_STATE_DIR: 'HOME/own', XDG_CACHE_HOME: 'HOME/xdg' }],
  ])('reads names to complete from the folder %s', async (folder, variables) => {
    await keep('profiles.tsv', ['profile\there\t-\t-'], folder);
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, value.replace('HOME', home)]),
    );
    expect(offered('gpucloud --profile ', env)).toEqual(['here']);
  });
});

describe('the completion script', () => {
  test('generates a bash script without a subshell, pipe, eval or compgen', () => {
    const code = script('bash')
      .replace(/^\s*#.*$/gm, '')
      .replace(/\$'(?:[^'\\]|\\.)*'|'[^'\n]*'/g, "''");
    expect(code).not.toMatch(/\$\((?!\()|(?<!\\)`|<\(|\s\|\s|^\s*\((?!\()/m);
    expect(code).not.toMatch(/\beval\b|\bcompgen\b/);
  });

  test('completes 100 names without starting a process', needs('strace'), async () => {
    await keep(
      'names/office/instance.tsv',
      Array.from({ length: 100 }, (_, at) => instance(`box-${at}`)),
    );
    const { stdout, stderr } = spawnSync(
      'strace',
      [
        ...['-f', '-qq', '-e', 'trace=fork,vfork,clone,clone3,execve'],
        ...[BASH, '--norc', '-c'],
        'source "$1"; COMP_LINE="gpucloud instances stop " COMP_POINT=24 COMP_CWORD=3; COMP_WORDS=(gpucloud instances stop ""); _gpucloud; echo ${#COMPREPLY[@]}',
        ...['bash', SCRIPT],
      ],
      {
        encoding: 'utf8',
        env: {
          PATH: process.env.PATH,
          GPUCLOUD_STATE_DIR: join(home, 'state'),
          GPUCLOUD_PROFILE: 'office',
        },
      },
    );
    expect(stdout).toBe('100\n');
    // The one traced call starts bash itself.
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('execve(')]);
  });
});
