import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { createPrompts } from '../../src/prompts/index.ts';
import type { Prompts, PromptsOptions } from '../../src/prompts/prompts.ts';

const ENTER = '\r';
const DOWN = '\u001b[B';

/** Simulates a person at a terminal, who reads a question and then types. */
class Person {
  readonly stdin = Object.assign(new PassThrough({ autoDestroy: false }), {
    isTTY: true,
    raw: false,
    setRawMode(raw: boolean) {
      this.raw = raw;
    },
  });
  readonly stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  raw = '';
  readonly prompts: Prompts;

  constructor(options: Partial<PromptsOptions> = {}) {
    this.stderr.on('data', (chunk: Buffer) => {
      this.raw += String(chunk);
    });
    this.prompts = createPrompts({
      ...{ stdin: this.stdin, stderr: this.stderr, env: {}, colour: true },
      ...options,
    });
  }

  get screen(): string {
    return stripVTControlCharacters(this.raw);
  }

  async reads(text: string): Promise<void> {
    for (let tries = 0; tries < 500 && !this.screen.includes(text); tries += 1) await pause();
    expect(this.screen).toContain(text);
    await pause();
  }

  async types(text: string): Promise<void> {
    this.stdin.write(text);
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}

describe('a secret prompt', () => {
  it("hides a typed secret, even after inquirer's reveal key", async () => {
    const person = new Person();
    const answer = person.prompts.secret('Key?', (text) => (text === '' ? 'a key' : undefined));
    await person.reads('Key?');
    await person.types(ENTER);
    await person.reads('a key');
    await person.types('svc_sk_live_1');
    await person.types('\u0014');
    await person.types(ENTER);
    expect(await answer).toBe('svc_sk_live_1');
    expect(person.screen).not.toContain('svc_sk');
    expect(person.screen).toMatch(/ a key\? Key\?[ •?Key]+✔ Key\? •{13}\n$/);
  });
});

describe('a choice', () => {
  it('returns the chosen value and removes control characters from names', async () => {
    const person = new Person();
    const value = { run: () => 'x' };
    const answer = person.prompts.choose<unknown>('Which\u202e?', [
      { name: 'first', value: undefined },
      { name: 'sec\u001b]0;evil\u0007ond\u202e', value },
    ]);
    await person.reads('Which?');
    await person.reads('second');
    expect(person.raw).not.toMatch(/\u202e|\u001b\]/);
    await person.types(DOWN);
    await person.types(ENTER);
    expect(await answer).toBe(value);
  });
});

describe('cancelling a prompt', () => {
  const questions: [string, (prompts: Prompts) => Promise<unknown>][] = [
    ['text', (prompts) => prompts.text('Q?')],
    ['secret', (prompts) => prompts.secret('Q?')],
    ['confirm', (prompts) => prompts.confirm('Q?', true)],
    ['choose', (prompts) => prompts.choose('Q?', [{ name: 'one', value: 1 }])],
  ];

  for (const [name, ask] of questions) {
    it.each([
      ['Ctrl-C', (person: Person) => person.types('\u0003')],
      ['Ctrl-D', (person: Person) => person.types('\u0004')],
      ['Escape', async (p: Person) => void p.stdin.emit('keypress', '', { name: 'escape' })],
      ['the end of stdin', async (person: Person) => void person.stdin.end()],
      ['the loss of stdin', async (person: Person) => void person.stdin.destroy()],
    ])(`rejects a ${name} prompt as interrupted on %s`, async (_how, leave) => {
      const person = new Person();
      const answer = ask(person.prompts);
      const refused = expect(answer).rejects.toMatchObject({
        name: 'CliError',
        failure: 'interrupted',
        exitCode: 130,
      });
      await person.reads('Q?');
      await leave(person);
      await refused;
      expect(person.stdin.raw).toBe(false);
      expect(person.stdin.listenerCount('keypress')).toBe(0);
    });
  }

  it.each([
    ['the end of a closed terminal', 2 ** 30, 'The terminal closed.'],
    ["the end of a program's own stream", undefined, 'Cancelled.'],
  ])('says why a prompt ends at %s', async (_what, fd, message) => {
    const person = new Person();
    Object.assign(person.stdin, { fd });
    const refused = expect(person.prompts.text('Q?')).rejects.toThrow(message);
    await person.reads('Q?');
    person.stdin.end();
    await refused;
  });

  it.each([
    ['ended', (person: Person) => void person.stdin.end().resume()],
    ['been destroyed', (person: Person) => void person.stdin.destroy()],
  ])('rejects a prompt immediately if stdin has %s', async (_what, leave) => {
    const person = new Person();
    leave(person);
    await pause();
    await expect(person.prompts.confirm('Q?', true)).rejects.toMatchObject({
      failure: 'interrupted',
    });
    expect(person.raw).toBe('');
  });

  it.each(['dumb', 'xterm'])(
    'rejects a prompt with the reason of the aborted signal, with TERM=%s',
    async (TERM) => {
      const signals = new AbortController();
      const person = new Person({ env: { TERM }, signal: signals.signal });
      const answer = person.prompts.text('Q?');
      const reason = new CliError('terminated', 'terminated');
      const refused = expect(answer).rejects.toBe(reason);
      await person.reads('Q?');
      signals.abort(reason);
      await refused;
      expect(person.screen.endsWith('\n')).toBe(true);
      await expect(person.prompts.text('again?')).rejects.toBe(reason);
    },
  );
});

describe('a prompt', () => {
  it.each([
    ['in colour', { colour: true }, true],
    ['without colours', { colour: false }, false],
  ])('prints a prompt %s', async (_how, options, coloured) => {
    const person = new Person(options);
    const answer = person.prompts.text('Name?');
    await person.reads('Name?');
    await person.types(`box${ENTER}`);
    expect([await answer, person.stdin.raw]).toEqual(['box', false]);
    const seen = /\u001b\[[0-9;]*m/.test(person.raw);
    // From Node 22.13 on, inquirer itself omits colours if the process has NO_COLOR.
    if (coloured) expect(seen || process.env.NO_COLOR === '1').toBe(true);
    else expect(seen).toBe(false);
  });
});
