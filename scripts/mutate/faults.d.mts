export interface Edit {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}
export interface Lines {
  readonly rule: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}
export function faultsOf(source: string): Edit[];
export function asLines(source: string, fault: Edit): Lines;
