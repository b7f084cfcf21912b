import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { broken, kept, type Rule } from '../../rules/rule.ts';
import { promoView } from './view.ts';

export function registerPromo(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: promoView,
    examples: ['gpucloud billing promo WELCOME500'],
  })
    .argument('<code>', 'the promo code', ruled('CODE', promoCode))
    .action((code, _flags, command) => promo(code, frame.context(command)));
}

/** The document gives no form of a code; capital and small letters may differ, so it stays as it is. */
const promoCode: Rule<string> = (text) =>
  text.trim() === '' ? broken('a promo code is not empty') : kept(text.trim());

export async function promo(code: string, context: Context): Promise<void> {
  const bonus = await (await context.api()).billing.activatePromo({ code });
  context.err.note('The promo code is activated.');
  await context.out.item(bonus, promoView);
}
