import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { installBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { type Person, sitDown } from '../support/person.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { no, ok, type Service, startService } from '../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const LINK = 'http://127.0.0.1:9/?token=f00dfeedf00dfeed';
const INSTANCE = {
  id: ID,
  name: 'lab',
  status: 'ACTIVE',
  connection_info: { endpoints: [{ name: 'jupyter', url: LINK, is_main: true }] },
};

let computer: Computer;
let service: Service;
let person: Person;

function open(path: string, env = {}, name = ID): Person {
  person = sitDown(computer, ['instances', 'open', name], {
    env: {
      GPUCLOUD_BASE_URL: service.url,
      GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
      PATH: path,
      ...env,
    },
  });
  return person;
}

describe('instances open', needs('Linux'), () => {
  beforeEach(async () => {
    computer = await createComputer();
    service = await startService(({ path }) =>
      path === `/instances/${ID}` ? ok(INSTANCE) : path === '/templates' ? ok([]) : no(404, 'no'),
    );
  });

  test('starts the browser with a private page and without the API key, then removes the page', async () => {
    const browser = await installBrowser(computer.home);
    const { ended, screen } = open(browser.bin);
    expect(await ended()).toBe(0);
    expect(screen()).toContain('Opened jupyter in the browser.');
    const { argv, hasApiKey, page, modes, location } = await browser.visit();
    expect(argv).toHaveLength(1);
    expect(argv[0]).not.toContain('http');
    expect(existsSync(argv[0] ?? '')).toBe(false);
    expect(modes).toEqual([0o600, 0o700]);
    expect(page).not.toContain('f00dfeed');
    expect(location).toBe(LINK);
    expect(hasApiKey).toBe(false);
  });

  test.each([
    ['fails', '#!/bin/sh\nexit 3\n'],
    ['is missing', undefined],
  ])('prints the link if xdg-open %s', async (_what, script) => {
    const bin = join(computer.home, 'bin');
    await mkdir(bin);
    if (script !== undefined) await writeFile(join(bin, 'xdg-open'), script, { mode: 0o755 });
    const { ended, screen } = open(bin);
    expect(await ended()).toBe(0);
    expect(screen()).toContain(`No browser found. Open this link:\n${LINK}`);
  });

  test('reports an unusable temporary folder', async () => {
    const { ended, screen } = open('/none', { TMPDIR: '/proc/none' });
    expect(await ended()).toBe(9);
    expect(screen()).toContain('Could not make a temporary folder in /proc/none (ENOENT).');
  });
});
