import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { checked, ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import { type Profile, profileOf, withProfile } from '../../config/file.ts';
import { profileName } from '../../config/names.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { brokenBaseUrl, givenBaseUrl, profileView, shownProfile } from '../../profiles/profile.ts';
import { baseUrl } from '../../rules/service.ts';

export function registerAdd(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'The address comes from --base-url or GPUCLOUD_BASE_URL. "gpucloud login" gives it a key.',
    completes: { name: 'nothing' },
    examples: ['gpucloud profiles add work --base-url https://api.example.com'],
  })
    .argument('<name>', 'letters, digits, ".", "_" and "-", 50 at most', ruled('NAME', profileName))
    .action((name, _flags, command) => addProfile(name, frame.context(command)));
}

export async function addProfile(name: string, context: Context): Promise<void> {
  const { err, out } = context;
  const address = givenBaseUrl(context) ?? (await askedBaseUrl(context));
  const after = await (await context.config()).change((file) => {
    const there = profileOf(file, name);
    if (there === undefined) {
      return withProfile(file, name, { base_url: address });
    }
    if (isSame(there, address)) {
      return file;
    }
    // Another address would strand the key that is stored with the first.
    throw usageError(
      `NAME "${name}": this profile exists, with the base URL ${there.base_url}`,
      `to change it: gpucloud login --profile ${name} --base-url ${address}`,
    );
  });
  const profile = shownProfile(after, name);
  err.note(
    profile.has_key
      ? `The profile "${name}" is there already, with this address and a key.`
      : `The profile "${name}" has no key yet: gpucloud login --profile ${name}`,
  );
  await out.item(profile, profileView);
}

function isSame({ base_url }: Profile, address: string): boolean {
  const own = baseUrl(base_url);
  return own.ok && own.value === address;
}

async function askedBaseUrl(context: Context): Promise<string> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError('--base-url (or GPUCLOUD_BASE_URL) is missing: a profile is for one address');
  }
  const text = await prompts.text('Address of the service', { check: brokenBaseUrl });
  return checked('--base-url', text.trim(), baseUrl);
}
