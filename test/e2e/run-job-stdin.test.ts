import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Computer, createComputer } from '../support/program.ts';

let computer: Computer;

const WARNING = "warning: run doesn't read stdin or pass it to COMMAND.";

/** A dry run sends no request. A shell function would share the shell's stdin. */
const RUN = `"$GPUCLOUD_NODE" "$GPUCLOUD_PROGRAM" run ${[
  '--offer 11111111-1111-4111-8111-111111111111',
  '--image 22222222-2222-4222-8222-222222222222',
  '--ssh-key 33333333-3333-4333-8333-333333333333',
  '--identity key --terminate-after 1h --sync code --dry-run -- sh',
].join(' ')} >/dev/null`;

async function warnings(line: string): Promise<number> {
  const { code, stderr } = await computer.bash(line, {
    env: {
      GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
      GPUCLOUD_BASE_URL: 'http://127.0.0.1:9',
    },
  });
  expect(code, stderr).toBe(0);
  return stderr.split(WARNING).length - 1;
}

describe('stdin of gpucloud run', needs('ssh', 'Linux'), () => {
  beforeAll(async () => {
    computer = await createComputer();
    await mkdir(join(computer.home, 'code'));
    await writeFile(join(computer.home, 'key'), '');
    await writeFile(join(computer.home, 'names'), 'one\ntwo\n');
    await writeFile(join(computer.home, 'empty'), '');
  });
  afterAll(() => computer.remove());

  test.each([
    ['a pipe with data', `echo hostname | ${RUN}`],
    ['a file', `${RUN} <names`],
    ['a text in the script', `${RUN} <<<hostname`],
  ])("warns that run doesn't read %s", async (_, line) => {
    expect(await warnings(line)).toBe(1);
  });

  test.each([
    ['/dev/null', `${RUN} </dev/null`],
    ['a closed stdin', `${RUN} <&-`],
    ['an empty file', `${RUN} <empty`],
    ['a closed empty pipe', `: | ${RUN}`],
    ['an idle pipe', `exec 3> >(${RUN}); wait $!`],
    ['stdin that --file reads', `${RUN.replace('--dry-run', '-f - --dry-run')} <<<'{}'`],
  ])('does not warn about %s', async (_, line) => {
    expect(await warnings(line)).toBe(0);
  });

  test('leaves the stdin of a surrounding shell loop unread', async () => {
    const loop = `while read -r name; do ${RUN}; echo "$name" >>read; done`;
    expect(await warnings(`cat names | ${loop}; ${loop} <names; [ "$(wc -l <read)" = 4 ]`)).toBe(0);
  });
});
