import { brokenBy } from '../../cli/parse.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import {
  environmentKey,
  environmentVariable,
  type Port,
  publishedPort,
  publishedTwice,
  volume,
} from '../../rules/container.ts';
import { sharedMemoryGb } from '../../rules/numbers.ts';
import type { Rule } from '../../rules/rule.ts';
import type { CreateFlags } from '../request/body.ts';

/** All of a container (API document: docker_config); Enter passes over each part but the image. */
export async function askContainer(prompts: Prompts): Promise<CreateFlags> {
  const dockerImage = await askImage(prompts);
  const command = (await prompts.text('Command (Enter: its own)')).trim();
  const port = await askList(prompts, 'Ports, as 8080:80 (Enter: none)', publishedPort, samePort);
  const env = await askVariables(prompts);
  const volumes = await askList(prompts, 'Volumes, as /data:/data (Enter: none)', volume);
  const memory = await prompts.text('Shared memory in GB (Enter: usual)', {
    check: (text) => (text.trim() === '' ? undefined : brokenBy(sharedMemoryGb)(text.trim())),
  });
  const size = sharedMemoryGb(memory.trim());
  return {
    dockerImage,
    ...(command === '' ? {} : { dockerCommand: command }),
    ...(port.length === 0 ? {} : { port }),
    ...(env.length === 0 ? {} : { env }),
    ...(volumes.length === 0 ? {} : { volume: volumes }),
    ...(size.ok ? { shmSize: size.value } : {}),
  };
}

export async function askImage(prompts: Prompts): Promise<string> {
  const image = await prompts.text('Image of the container', {
    check: (text) =>
      /^\S+$/.test(text.trim()) ? undefined : 'an image name is not empty and has no spaces',
  });
  return image.trim();
}

/** Several things on one line, with spaces between them. */
async function askList<T>(
  prompts: Prompts,
  question: string,
  rule: Rule<T>,
  together: (all: readonly T[]) => string | undefined = () => undefined,
): Promise<T[]> {
  const verdicts = (text: string) => (text.match(/\S+/g) ?? []).map((word) => rule(word));
  const read = (text: string) => verdicts(text).flatMap((one) => (one.ok ? [one.value] : []));
  const fault = (text: string) => verdicts(text).flatMap((one) => (one.ok ? [] : [one.rule]))[0];
  return read(
    await prompts.text(question, { check: (text) => fault(text) ?? together(read(text)) }),
  );
}

function samePort(ports: readonly Port[]): string | undefined {
  const place = publishedTwice(ports);
  return place && `the external port ${place} is published twice`;
}

/** One per question, since a value may hold spaces. No value stays on the screen, or is kept. */
async function askVariables(prompts: Prompts): Promise<string[]> {
  const given: string[] = [];
  for (;;) {
    const question = given.length === 0 ? 'Variable (Enter: none)' : 'One more (Enter: no more)';
    const typed = await prompts.text(question, {
      check: (text) => (text.trim() === '' ? undefined : brokenVariable(text.trim())),
      answered: (text) => text.replace(/=.*$/s, '=********'),
    });
    const key = typed.trim();
    if (key === '') return given;
    given.push(key.includes('=') ? key : `${key}=${await prompts.secret(`Value of ${key}`)}`);
  }
}

function brokenVariable(text: string): string | undefined {
  const variable = environmentVariable(text);
  return brokenBy(environmentKey)(variable.ok ? variable.value.key : text);
}

/** For the summary: `the container nginx; port 8080 to 80`, without values of variables. */
export function containerText(flags: CreateFlags): string {
  const { dockerImage, dockerCommand, port = [], env = [], volume: volumes = [] } = flags;
  return [
    `the container ${dockerImage}`,
    ...(dockerCommand === undefined ? [] : [`command ${dockerCommand}`]),
    ...port.map(({ external_port, internal_port }) => `port ${external_port} to ${internal_port}`),
    ...env.map((variable) => `variable ${variable.split('=')[0]}`),
    ...volumes.map(({ host_path, container_path }) => `${host_path} as ${container_path}`),
  ].join('; ');
}
