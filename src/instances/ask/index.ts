import type { Context } from '../../context.ts';
import { CliError, isInterrupt } from '../../errors.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { laterDeadline, wantedDeadline } from '../deadlines/deadline.ts';
import { checkGiven, keylessWarning, type MadeRequest, makeRequest } from '../rent/body.ts';
import { numberedNames } from '../rent/count.ts';
import { NO_DEFAULTS } from '../rent/defaults.ts';
import type { CreateFlags } from '../rent/given.ts';
import { lowBalanceText } from '../rent/planned.ts';
import { choosableKeys, keyElsewhereText } from './keys.ts';
import { readLists } from './lists.ts';
import { type Answer, OFFER, type Question, questionsFor } from './questions.ts';
import { moneyRows, printCommand, printRows, type Wish } from './summary.ts';

const NEXT: readonly Choice<'rent' | 'change' | 'leave'>[] = [
  { name: 'Yes, rent it now', value: 'rent' },
  { name: 'Change an answer', value: 'change' },
  { name: 'No, cancel', value: 'leave' },
];

/** The confirmed request, with a way to ask for another offer. */
export interface Asked extends MadeRequest {
  readonly flags: CreateFlags;
  /** Asks for another offer after a refusal. Returns undefined if the user declines. */
  another(refusal: CliError): Promise<Asked | undefined>;
}

/**
 * Asks for missing values, shows the whole request and returns it after confirmation. If cancelled,
 * prints the command that continues with the answers.
 */
export async function askRequest(wish: Wish, prompts: Prompts, context: Context): Promise<Asked> {
  const { isJob, dryRun, count } = wish;
  // Offers the profile's defaults first instead of skipping their questions.
  const { flags: preferred } = wish.given.defaults;
  const flags = Object.fromEntries(
    Object.entries(wish.given.flags).filter(([name]) => !Object.hasOwn(preferred, name)),
  ) as CreateFlags;
  const given = { ...wish.given, flags, defaults: NO_DEFAULTS };
  await context.out.prepare();
  await checkGiven(given, context);
  const read = await readLists(context);
  const mustSignIn = isJob && !wish.hasIdentity;
  const sshKeys = read.sshKeys && choosableKeys(read.sshKeys, read.halves, mustSignIn);
  const lists = { ...read, sshKeys };
  const refused = new Set<string>();
  const asking = { flags, preferred, lists, refused, isJob, dryRun, count, prompts, context };
  const questions = questionsFor(asking);
  const answers = new Map<Question, Answer>();

  const answered = (own: CreateFlags): CreateFlags =>
    Object.assign({}, own, ...[...answers.values()].map((answer) => answer.flags));

  async function askAll(): Promise<void> {
    for (const question of questions) {
      if (question.given !== undefined) continue;
      answers.set(question, await question.ask(answers.get(question)));
    }
  }

  function showCommand(): void {
    printCommand(answered({ ...given.typed, name: given.flags.name }), wish, prompts, context);
  }

  function show(made: MadeRequest): void {
    const rows = questions.map((question) => ({
      label: question.label,
      text: `${answers.get(question)?.text ?? question.given}`,
    }));
    prompts.print('');
    prompts.print(dryRun ? 'This would be rented:' : 'You are about to rent:');
    if (count !== undefined) {
      const names = numberedNames(made.body.instance_name, count);
      rows.splice(1, 0, { label: 'Count', text: `${count}: ${span(names)}` });
    }
    printRows([...rows, ...moneyRows(made, wish, lists.balance, context)], prompts, context);
    const keyless = keylessWarning(made.body);
    if (keyless !== undefined) prompts.print(`Warning: ${keyless}`);
    const { sshKeys = [], halves } = read;
    const { ssh_keys = [], template_id, docker_config } = made.body;
    const isForSsh = !isJob && template_id === undefined && docker_config === undefined;
    const elsewhere = isForSsh ? keyElsewhereText(ssh_keys, sshKeys, halves) : undefined;
    if (elsewhere !== undefined) prompts.print(`Warning: ${elsewhere}`);
    const priced = { offers: made.offers, maxPrice: wish.maxPrice, count: count ?? 1 };
    const low = lowBalanceText(lists.balance, wish.ends, priced, context);
    if (low !== undefined) prompts.print(`Warning: ${low}`);
    prompts.print('');
    prompts.print('Equivalent command:');
    showCommand();
    prompts.print('');
  }

  /** Asks until the user confirms the request. */
  async function agree(ask: () => Promise<void>): Promise<Asked> {
    try {
      const later = () =>
        laterDeadline(wantedDeadline(wish.ends), context.serviceClock.now())?.time;
      let next = ask;
      for (;;) {
        await next();
        const all = answered(flags);
        const made = await makeRequest({ ...given, flags: all }, context);
        const day = later();
        show(made);
        const asked = {
          ...made,
          flags: all,
          another: (refusal: CliError) => another(made, refusal),
        };
        if (dryRun || context.flags.yes === true) return asked;
        const chosen = await prompts.choose('Rent it?', NEXT);
        // While the question waited, the time of day of the deadline may have passed.
        if (chosen === 'rent' && later() === day) return asked;
        if (chosen === 'leave') throw new CliError('interrupted', 'Cancelled.');
        next = chosen === 'rent' ? async () => undefined : askAll;
      }
    } catch (error) {
      if (!isInterrupt(error)) throw error;
      const reason = error.failure === 'interrupted' ? 'Cancelled.' : error.message;
      const left = error.with(`${reason} Nothing was rented.`, { silent: true });
      prompts.print(left.message);
      if (answers.size > 0) {
        prompts.print('To continue with your answers:');
        showCommand();
      }
      throw left;
    }
  }

  async function another(made: MadeRequest, { message }: CliError): Promise<Asked | undefined> {
    for (const { id } of made.offers) refused.add(id);
    prompts.print(message);
    if (!(await prompts.confirm('Try another offer?', true))) return undefined;
    const offers = questions.filter(({ label }) => label === OFFER);
    return agree(async () => {
      for (const question of offers) answers.set(question, await question.ask(undefined));
    });
  }

  return agree(askAll);
}

function span(names: readonly string[]): string {
  return [...new Set([names[0], names.at(-1)])].join(' to ');
}
