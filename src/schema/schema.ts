/**
 * What a value from outside has to be: an answer of the service, a body for it, a file of this
 * program. A schema is plain data, cheap to make, since a run makes those of all that it may read.
 * `plain.ts` compares a value with it, and `zod.ts` makes zod's schema of it for what is odd.
 */
export type Schema<T, MayMiss extends boolean = boolean> = Form & {
  /** Whether it may be left out, or be undefined. */
  readonly mayMiss: MayMiss;
  readonly mayBeNull: boolean;
  readonly checks: readonly Check[];
  /** For the compiler alone. */
  readonly [VALUE]?: T;
};

declare const VALUE: unique symbol;

/** By name; none is named like what every object has from its prototype. */
export type Fields = Readonly<Record<string, Schema<unknown>>>;

type Form =
  | Of<'string' | 'number' | 'boolean' | 'unknown', undefined>
  | Of<'oneOf', readonly (string | number)[]>
  | Of<'array' | 'record', Schema<unknown>>
  | Of<'tuple', readonly Schema<unknown>[]>
  | Of<'loose' | 'strict', Fields>;

interface Of<Kind, What> {
  readonly kind: Kind;
  readonly of: What;
}

/** A rule beyond the type; `is` is asked of values of the type alone. */
export type Check = { readonly is: (value: never) => boolean } & (
  | { readonly rule: 'int' | 'positive' }
  | { readonly rule: 'gte' | 'lte' | 'minLength'; readonly bound: number }
  | { readonly rule: 'regex'; readonly pattern: RegExp; readonly error: string | undefined }
  | { readonly rule: 'refine'; readonly error: Words }
);

/** The rule that a value breaks, completing "breaks the rule: …". */
type Words = string | ((value: string) => string) | undefined;

/** The type that a schema describes, as zod would infer it. */
export type Infer<S> = S extends Schema<infer T> ? T : never;

type Missing<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Schema<unknown, true> ? Name : never;
}[keyof F];
type Flat<T> = { [Name in keyof T]: T[Name] } & {};
type Exactly<F extends Fields> = {
  -readonly [Name in Exclude<keyof F, Missing<F>>]: Infer<F[Name]>;
} & { -readonly [Name in Missing<F>]?: Infer<F[Name]> };

/** An object of these fields and any others, which stay. */
export type Loose<F extends Fields> = Flat<Exactly<F> & Record<string, unknown>>;
/** An object of these fields alone. */
export type Strict<F extends Fields> = Flat<Exactly<F>>;

type Needed<T> = Schema<T, false>;

const NONE: readonly Check[] = [];

/** All of one shape, which is what makes looking at a million rows quick. */
function schema<T>(form: Form, checks: readonly Check[] = NONE): Needed<T> {
  const { kind, of } = form;
  return { kind, of, mayMiss: false, mayBeNull: kind === 'unknown', checks } as Needed<T>;
}

export function string(...checks: readonly Check[]): Needed<string> {
  return schema({ kind: 'string', of: undefined }, checks);
}

/** A finite number. */
export function number(...checks: readonly Check[]): Needed<number> {
  return schema({ kind: 'number', of: undefined }, checks);
}

export function boolean(): Needed<boolean> {
  return schema({ kind: 'boolean', of: undefined });
}

/** Anything, but not nothing. */
export function unknown(): Needed<unknown> {
  return schema({ kind: 'unknown', of: undefined });
}

export function oneOf<const T extends string | number>(...values: readonly T[]): Needed<T> {
  return schema({ kind: 'oneOf', of: values });
}

export function array<T>(of: Schema<T>, ...checks: readonly Check[]): Needed<T[]> {
  return schema({ kind: 'array', of }, checks);
}

export function tuple<const T extends readonly Schema<unknown>[]>(
  ...of: T
): Needed<{ -readonly [At in keyof T]: Infer<T[At]> }> {
  return schema({ kind: 'tuple', of });
}

/** An object of any names, each value of one schema. */
export function record<T>(of: Schema<T>): Needed<Record<string, T>> {
  return schema({ kind: 'record', of });
}

export function looseObject<F extends Fields>(of: F): Needed<Loose<F>> {
  return schema({ kind: 'loose', of });
}

export function strictObject<F extends Fields>(of: F): Needed<Strict<F>> {
  return schema({ kind: 'strict', of });
}

export function optional<T>(of: Schema<T>): Schema<T | undefined, true> {
  return { ...of, mayMiss: true } as Schema<T | undefined, true>;
}

export function nullable<T, M extends boolean>(of: Schema<T, M>): Schema<T | null, M> {
  return { ...of, mayBeNull: true } as Schema<T | null, M>;
}

export function nullish<T>(of: Schema<T>): Schema<T | null | undefined, true> {
  return optional(nullable(of));
}

/** The same fields, each of which may be left out. */
export function partial<F extends Fields>(fields: F): { [Name in keyof F]: Optional<F[Name]> } {
  const all = Object.entries(fields).map(([name, field]) => [name, optional(field)]);
  return Object.fromEntries(all);
}

type Optional<S> = Schema<Infer<S> | undefined, true>;

export function refine(is: (text: string) => boolean, error?: Words): Check {
  return { rule: 'refine', is, error };
}

export function regex(pattern: RegExp, error?: string): Check {
  return { rule: 'regex', is: (text: string) => pattern.test(text), pattern, error };
}

/** Of a list. */
export function minLength(bound: number): Check {
  return { rule: 'minLength', is: (list: readonly unknown[]) => list.length >= bound, bound };
}

export function gte(bound: number): Check {
  return { rule: 'gte', is: (value: number) => value >= bound, bound };
}

export function lte(bound: number): Check {
  return { rule: 'lte', is: (value: number) => value <= bound, bound };
}

export function int(): Check {
  return { rule: 'int', is: (value: number) => Number.isSafeInteger(value) };
}

export function positive(): Check {
  return { rule: 'positive', is: (value: number) => value > 0 };
}
