import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { PROGRAM, RUNNER } from '../support/program.ts';
import {
  createSshSite,
  createSshWorld,
  ID,
  type SshSite,
  type SshWorld,
} from '../support/ssh-world.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

let site: SshSite;
let world: SshWorld;
let terminal: Terminal | undefined;

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

describe('instances ssh in a terminal', needs('ssh'), () => {
  beforeAll(async () => {
    site = await createSshSite();
  });
  afterAll(() => site.close());
  beforeEach(async () => {
    world = await createSshWorld(site);
  });

  function open(...words: string[]): Terminal {
    terminal = openTerminal({
      program: RUNNER,
      args: [PROGRAM, 'instances', 'ssh', ...world.own, ...words],
      env: { ...world.computer.env, ...world.service.env },
      cwd: world.computer.home,
      columns: 91,
      rows: 27,
    });
    return terminal;
  }

  test('opens a shell that follows resizes and Ctrl-C, and exits with its code', async () => {
    const screen = open(ID);
    screen.type("PS1='here> '\r");
    await screen.shows(/^here>$/m);
    screen.type('stty size\r');
    await screen.shows(/^27 91$/m);
    screen.resize(70, 20);
    // ssh passes the new size to the shell.
    screen.type('clear; until [ "$(stty size)" = \'20 70\' ]; do sleep 0.05; done; echo resized\r');
    await screen.shows(/^resized$/m);
    // Ctrl-C ends the remote program, but not the session or gpucloud.
    screen.type("clear; sh -c 'echo armed; sleep 60'\r");
    await screen.shows(/^armed$/m);
    screen.type(CTRL_C);
    await screen.shows(/^armed\n\^C\n+here>$/m);
    screen.type('clear; (echo ready; exit 7)\r');
    await screen.shows(/^ready\nhere>$/m);
    screen.type(CTRL_D);
    expect(await screen.ended()).toBe(7);
    expect(screen.scrollback()).toContain('Connection to 127.0.0.1 closed.');
  });

  test('allocates a terminal for a remote command only with -t', async () => {
    const screen = open('-t', ID, '--', 'tty; stty size; exit 3');
    await screen.shows(/^\/dev\/.+\n27 91$/m);
    expect(await screen.ended()).toBe(3);
    const { code, stdout } = await world.instances('ssh', ID, '--', 'tty');
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'not a tty\n' });
  });

  test('exits with 130 when Ctrl-C interrupts a command without a terminal', async () => {
    const screen = open(ID, '--', 'echo there; exec sleep 60');
    await screen.shows(/^there$/m);
    screen.type(CTRL_C);
    expect(await screen.ended()).toBe(130);
    // ssh printed an error, so gpucloud adds none.
    expect(screen.screen()).not.toContain('error:');
  });

  test('exits with 130 on Ctrl-C while waiting for an instance', async () => {
    world.service.instances.set(ID, { id: ID, name: 'box', status: 'PROVISIONING' });
    const screen = open('--wait', ID);
    await screen.shows(/PROVISIONING/);
    screen.type(CTRL_C);
    expect(await screen.ended()).toBe(130);
    expect(screen.screen()).toContain('Stopped waiting for');
  });
});
