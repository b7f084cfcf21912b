import type { Prompts } from '../../prompts/prompts.ts';
import {
  environmentKey,
  environmentVariable,
  type Port,
  publishedPort,
  publishedTwice,
  type Volume,
  volume,
} from '../../rules/container.ts';
import { sharedMemoryGb } from '../../rules/numbers.ts';
import type { Rule } from '../../rules/rule.ts';
import type { Answer } from './step.ts';

/** The image of a container whose other parts flags describe. */
export async function askContainerImage(prompts: Prompts): Promise<Answer> {
  const image = await imageOf(prompts);
  return { flags: { dockerImage: image }, shown: `the container ${image}` };
}

/** All of a container (API document: docker_config); Enter passes over each part but the image. */
export async function askContainer(prompts: Prompts): Promise<Answer> {
  const image = await imageOf(prompts);
  const command = (await prompts.text('Command (Enter: its own)')).trim();
  const ports = await list(prompts, 'Ports, as 8080:80 (Enter: none)', publishedPort, samePort);
  const env = await variables(prompts);
  const volumes = await list(prompts, 'Volumes, as /data:/data (Enter: none)', volume);
  const shm = await prompts.text('Shared memory in GB (Enter: usual)', {
    check: (text) => (text.trim() === '' ? undefined : broken(sharedMemoryGb, text.trim())),
  });
  const size = sharedMemoryGb(shm.trim());
  return {
    flags: {
      dockerImage: image,
      ...(command === '' ? {} : { dockerCommand: command }),
      ...(ports.length === 0 ? {} : { port: ports }),
      ...(env.length === 0 ? {} : { env }),
      ...(volumes.length === 0 ? {} : { volume: volumes }),
      ...(size.ok ? { shmSize: size.value } : {}),
    },
    shown: shownContainer({ image, command, ports, env, volumes }),
  };
}

async function imageOf(prompts: Prompts): Promise<string> {
  const image = await prompts.text('Image of the container', {
    check: (text) =>
      /^\S+$/.test(text.trim()) ? undefined : 'an image name is not empty and has no spaces',
  });
  return image.trim();
}

/** Several things on one line, with spaces between them. */
async function list<T>(
  prompts: Prompts,
  question: string,
  rule: Rule<T>,
  together: (all: readonly T[]) => string | undefined = () => undefined,
): Promise<T[]> {
  const read = (text: string) =>
    wordsOf(text).flatMap((word) => {
      const verdict = rule(word);
      return verdict.ok ? [verdict.value] : [];
    });
  const typed = await prompts.text(question, {
    check: (text) =>
      wordsOf(text)
        .map((word) => broken(rule, word))
        .find((one) => one !== undefined) ?? together(read(text)),
  });
  return read(typed);
}

function samePort(ports: readonly Port[]): string | undefined {
  const place = publishedTwice(ports);
  return place === undefined ? undefined : `the external port ${place} is published twice`;
}

/** One a question, since a value may hold spaces. No value stays on the screen, or is kept. */
async function variables(prompts: Prompts): Promise<string[]> {
  const given: string[] = [];
  for (;;) {
    const key = (
      await prompts.text(
        given.length === 0 ? 'Variable (Enter: none)' : 'One more (Enter: no more)',
        {
          check: (text) => (text.trim() === '' ? undefined : brokenVariable(text.trim())),
          answered: (text) => text.replace(/=.*$/s, '=********'),
        },
      )
    ).trim();
    if (key === '') return given;
    given.push(key.includes('=') ? key : `${key}=${await prompts.secret(`Value of ${key}`)}`);
  }
}

function brokenVariable(text: string): string | undefined {
  const variable = environmentVariable(text);
  return broken(environmentKey, variable.ok ? variable.value.key : text);
}

function broken<T>(rule: Rule<T>, text: string): string | undefined {
  const verdict = rule(text);
  return verdict.ok ? undefined : verdict.rule;
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

interface Shown {
  readonly image: string;
  readonly command: string;
  readonly ports: readonly Port[];
  readonly env: readonly string[];
  readonly volumes: readonly Volume[];
}

function shownContainer({ image, command, ports, env, volumes }: Shown): string {
  return [
    `the container ${image}`,
    command === '' ? '' : `command ${command}`,
    ...ports.map(({ external_port, internal_port }) => `port ${external_port} to ${internal_port}`),
    ...env.map((variable) => `variable ${variable.split('=')[0]}`),
    ...volumes.map(({ host_path, container_path }) => `${host_path} as ${container_path}`),
  ]
    .filter((part) => part !== '')
    .join('; ');
}
