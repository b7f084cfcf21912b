import type { Prompts } from '../../prompts/prompts.ts';
import { type Port, portClash, publishedPort } from '../../rules/container.ts';
import type { Answer } from './answer.ts';

/** Asks for a container image; flags or the file describe one otherwise. */
export async function askImage(prompts: Prompts): Promise<Answer> {
  const typed = await prompts.text('Container image', {
    check: (text) => (/^\S+$/.test(text.trim()) ? undefined : 'an image name has no spaces'),
  });
  const flags = { dockerImage: typed.trim() };
  return { flags, typed: flags, text: `the container ${flags.dockerImage}` };
}

/** Also asks for common container settings; flags set the others. */
export async function askContainer(prompts: Prompts): Promise<Answer> {
  const { flags: image, text } = await askImage(prompts);
  const port = await askPorts(prompts);
  const flags = { ...image, ...(port.length === 0 ? {} : { port }) };
  const ports = port.map((one) => `port ${one.external_port} to ${one.internal_port}`);
  return { flags, typed: flags, text: [text, ...ports].join('; ') };
}

/** Asks for several values on one line, separated by spaces. */
async function askPorts(prompts: Prompts): Promise<Port[]> {
  const verdicts = (text: string) => (text.match(/\S+/g) ?? []).map((word) => publishedPort(word));
  const portsIn = (text: string) => verdicts(text).flatMap((one) => (one.ok ? [one.value] : []));
  const check = (text: string) => {
    const broken = verdicts(text).flatMap((one) => (one.ok ? [] : [one.rule]))[0];
    return broken ?? portClash(portsIn(text))?.rule;
  };
  return portsIn(await prompts.text('Ports, such as 8080:80 (Enter: none)', { check }));
}
