import { confirm } from '../../cli/confirm.ts';
import { keepKey } from '../../cli/keep-key.ts';
import { checked } from '../../cli/parse.ts';
import { type ConfigFile, type Profile, profileOf, withProfile } from '../../config/file.ts';
import { keyFields, keyPlace, samePlace } from '../../config/key.ts';
import { profileName, SANDBOX } from '../../config/names.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import type { Place } from './place.ts';

/**
 * Makes ready to keep the new key in a profile, with the address and the account of the key that
 * asks for it: a key belongs to its service, and the account keeps its machines apart from others'.
 *
 * Throws a usage error for the sandbox, whose keys are no use in a profile; asks before a key or an
 * address that is stored there is replaced.
 */
export async function profilePlace(name: string, context: Context): Promise<Place> {
  checked('--save-profile', name, profileName);
  const { sandbox, baseUrl } = await context.settings();
  if (sandbox || baseUrl === undefined) {
    throw usageError(
      `--save-profile "${name}": the ${SANDBOX} serves itself, so a key of it is no use in a profile`,
    );
  }
  const config = await context.config();
  const before = profileOf(await config.read(), name);
  await confirmReplacing(name, before, baseUrl.value, context);
  const account = await accountInForce(context);

  return {
    where: `the profile "${name}" (use it with --profile ${name})`,
    async keep(secret) {
      await keepKey(
        { profile: name, key: secret, store: undefined },
        (file, place) => {
          refuseOther(file, name, before);
          return withProfile(file, name, {
            base_url: baseUrl.value,
            ...keyFields(place),
            account,
          });
        },
        context,
      );
    },
    async drop() {},
  };
}

async function confirmReplacing(
  name: string,
  before: Profile | undefined,
  address: string,
  context: Context,
): Promise<void> {
  if (before === undefined) {
    return;
  }
  if (keyPlace(before) !== undefined) {
    await confirm(
      context,
      `Replace the key in the profile "${name}" (${before.base_url})? The one that is there goes on working and is forgotten here.`,
    );
  } else if (before.base_url !== address) {
    await confirm(
      context,
      `Change the address of the profile "${name}" from ${before.base_url} to ${address}?`,
    );
  }
}

/** Whose key is in force: the profile says so, or else the service. */
async function accountInForce(context: Context): Promise<NonNullable<Profile['account']>> {
  const { profile, account } = await context.settings();
  const known =
    account === undefined || profile === undefined
      ? undefined
      : profileOf(await (await context.config()).read(), profile.value)?.account;
  if (known !== undefined) {
    return known;
  }
  const { id, email, name } = await (await context.api()).users.me();
  return { id, email: email ?? null, name: name ?? null };
}

/** Judged on the file under its lock: what was not there when it was asked about is not replaced. */
function refuseOther(file: ConfigFile, name: string, before: Profile | undefined): void {
  const now = profileOf(file, name);
  const [one, other] = [now, before].map((profile) => profile && keyPlace(profile));
  if (now?.base_url !== before?.base_url || !samePlace(one, other)) {
    throw new CliError('storage', `the profile "${name}" was changed by another program meanwhile`);
  }
}
