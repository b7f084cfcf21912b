import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { kopecksText, money } from '../rules/money.ts';
import { readBriefly } from './read-briefly.ts';
import type { Target } from './resolve.ts';

const GENERAL =
  'Taken over: offer, image and SSH keys. Not mentioned by the published API: template, cloud drive, container.';

/**
 * Says what the new machine takes over and what it does not. Where a person is there the old machine
 * is read, so that what would be missing is named.
 */
export async function tellReorder(source: Target, context: Context): Promise<void> {
  const machine =
    (await context.prompts()) === undefined ? undefined : await readBriefly(source, context);
  if (machine === undefined) {
    context.err.note(GENERAL);
    return;
  }
  const price = money(machine.price_per_hour_snapshot ?? '');
  const cost = price.ok
    ? ` An hour of the old machine cost ${kopecksText(price.value)} RUB; the new price is told once it is rented.`
    : '';
  context.err.note(
    `Taken over: offer, image and SSH keys. Not mentioned by the published API, so expect the new machine to be without: ${leftBehind(machine).join(', ')}.${cost}`,
  );
}

/** What the old machine shows of the things that the document does not mention. */
function leftBehind(machine: Instance): string[] {
  const { application_template: template, storage_drive: drive, docker_config: docker } = machine;
  return [
    ...(template == null ? [] : [`the template${named(template, 'name')}`]),
    // A machine that has ended may have let go of its drive.
    drive == null ? 'any cloud drive' : `the cloud drive${named(drive, 'name')}`,
    ...(docker == null ? [] : [`the container${named(docker, 'image')}`]),
  ];
}

function named(thing: unknown, field: string): string {
  const name: unknown =
    typeof thing === 'object' && thing !== null ? Reflect.get(thing, field) : '';
  return typeof name === 'string' && name !== '' ? ` ${name}` : '';
}
