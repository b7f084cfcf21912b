import type { Context } from '../../context.ts';
import { CliError, type Failure, isInterrupt } from '../../errors.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { checkGiven, type MadeRequest, makeRequest } from '../request/body.ts';
import type { CreateFlags } from '../request/given.ts';
import type { Answer } from './answer.ts';
import { printCommand } from './command-line.ts';
import { readLists } from './lists.ts';
import { type Step, stepsOf } from './steps.ts';
import { moneyRows, printRows, type Wish } from './summary.ts';

const NEXT: readonly Choice<'rent' | 'change' | 'leave'>[] = [
  { name: 'Yes, rent it now', value: 'rent' },
  { name: 'Change an answer', value: 'change' },
  { name: 'No, cancel', value: 'leave' },
];

/**
 * Prepares the questions for renting an instance. A person who cancels gets the command that
 * continues from there.
 */
export async function openWizard(wish: Wish, prompts: Prompts, context: Context) {
  await context.out.prepare();
  await checkGiven(wish.given, context);
  const all = await readLists(context);
  const sshKeys = wish.usableKeys && all.sshKeys && (await wish.usableKeys(all.sshKeys));
  const lists = { ...all, sshKeys: sshKeys ?? all.sshKeys };
  const steps = stepsOf(wish, lists, prompts, context);
  const answers = new Map<Step, Answer>();
  const command = { isShown: false };

  async function askOne(step: Step): Promise<void> {
    answers.set(step, await step.ask(answers.get(step)?.flags ?? {}));
    command.isShown = false;
  }

  async function change(): Promise<void> {
    const choices = [...answers].map(([step, { text }]) => ({
      name: step.label,
      about: [text],
      value: step,
    }));
    await askOne(await prompts.choose('Change what?', choices));
  }

  function printTyped(): void {
    const { typed, flags } = wish.given;
    const chosen = [...answers.values()].map((answer) => answer.typed);
    printCommand(joined([{ ...typed, name: flags.name }, ...chosen]), wish, prompts, context);
    command.isShown = true;
  }

  function show(made: MadeRequest): void {
    const rows = steps.map((step) => ({
      label: step.label,
      text: answers.get(step)?.text ?? step.given ?? '',
    }));
    prompts.print('');
    prompts.print(wish.dryRun ? 'This would be rented:' : 'To be rented, and billed from then on:');
    const money = moneyRows(made, wish, lists.balance, context);
    printRows([...rows, ...money], prompts, context.host.stderr.columns);
    prompts.print('');
    prompts.print('The same without questions:');
    printTyped();
    prompts.print('');
  }

  async function agreed(): Promise<MadeRequest> {
    for (;;) {
      const { given } = wish;
      const flags = joined([given.flags, ...[...answers.values()].map((answer) => answer.flags)]);
      const made = await makeRequest({ ...given, flags }, context).catch(changeable);
      if (made instanceof CliError) {
        prompts.print(made.message);
      } else {
        show(made);
        if (wish.dryRun || context.flags.yes === true) return made;
        const next = await prompts.choose('Rent it?', NEXT);
        if (next === 'rent') return made;
        if (next === 'leave') throw new CliError('interrupted', 'Cancelled.');
      }
      await change();
    }
  }

  /** A person who cancels keeps their answers. */
  async function orLeave<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!isInterrupt(error)) throw error;
      const reason = error.failure === 'interrupted' ? 'Cancelled.' : error.message;
      const left = error.with(`${reason} Nothing was rented.`, { silent: true });
      prompts.print(left.message);
      if (answers.size > 0 && !command.isShown) {
        prompts.print('To continue with your answers:');
        printTyped();
      }
      throw left;
    }
  }

  return {
    /** Asks for missing values, shows the whole request, and returns the confirmed one. */
    ask: () =>
      orLeave(async () => {
        for (const step of steps) if (step.given === undefined) await askOne(step);
        return await agreed();
      }),

    /**
     * Asks again for values that the service refused. Throws the refusal if no other value can change
     * it.
     */
    again(refusal: CliError): Promise<MadeRequest> {
      if (!isAnswerable(refusal)) throw refusal;
      const refused = steps.find(({ label }) => label === LABELS[refusal.code]);
      command.isShown = false;
      prompts.print('');
      prompts.print(`${refusal.message} Nothing was rented.`);
      return orLeave(async () => {
        await (refused === undefined ? change() : askOne(refused));
        return await agreed();
      });
    },
  };
}

function joined(all: readonly CreateFlags[]): CreateFlags {
  return Object.assign({}, ...all);
}

/** The question whose value was refused. The API document gives no field for a refusal. */
const LABELS: Readonly<Record<string, Step['label']>> = {
  name_taken: 'Name',
  insufficient_funds: 'Offer',
};

const ABOUT_ANSWERS: readonly Failure[] = ['refused', 'notFound', 'wrongState'];

/** Whether another value may be accepted: the service refused this very request. */
function isAnswerable({ failure, code, httpStatus = 0, mayBeBilling, request }: CliError): boolean {
  if (mayBeBilling || request?.obstacle !== undefined) return false;
  const isNo = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408;
  return code === 'name_taken' || (isNo && ABOUT_ANSWERS.includes(failure));
}

/** The values conflict, or something was deleted since its list was read. */
function changeable(error: unknown): CliError {
  const isSo =
    error instanceof CliError && (error.failure === 'usage' || error.failure === 'notFound');
  if (!isSo) throw error;
  return error;
}
