import { clean } from '../../rules/clean.ts';
import type { Forms } from '../forms.ts';
import type { Format } from '../output.ts';
import type { Writer } from './batch.ts';
import { writeLines } from './batch.ts';

export async function loadWriter(format: Format): Promise<<T>(forms: Forms<T>) => Writer<T>> {
  switch (format) {
    case 'table':
    case 'json':
      return (await import('./json.ts')).jsonWriter;
    case 'jsonl':
      return (await import('./json.ts')).jsonLinesWriter;
    case 'yaml':
      return (await import('./yaml.ts')).loadYamlWriter();
    case 'csv':
      return (await import('./separated.ts')).csvWriter;
    case 'tsv':
      return (await import('./separated.ts')).tsvWriter;
    case 'id':
      return idWriter;
  }
}

/** Leaves out a row without an id. */
function idWriter<T>({ id }: Forms<T>): Writer<T> {
  const item = (row: T) => {
    const text = id(row);
    return text === null ? '' : `${clean(text)}\n`;
  };
  return { item, list: (rows, sink, coming) => writeLines(rows, item, sink, { coming }) };
}
